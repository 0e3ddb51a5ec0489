#!/usr/bin/env bash
# part.sh NAME "WHAT" COMMAND...: runs one part of the build, says when it begins and ends, and writes what it took, wall and
# CPU seconds of all its processes, to build.json in the cache; and what the dearest build took, which is one from nothing unless Go's
# cache was there before. What a part prints is shown if it fails, its warnings always. DOING and DID
# are other words for what it does.
set -euo pipefail
name=$1 what=$2 doing=${DOING:-building} did=${DID:-built}
shift 2
dir=${CACHE:-.cache}/bench/build
mkdir -p "$dir"
echo "$doing $what"
TIMEFORMAT='%R %U %S'
if ! { time "$@" >"$dir/$name.log" 2>&1; } 2>"$dir/$name.time"; then
  cat "$dir/$name.log" >&2
  echo "$doing $what: failed" >&2
  exit 1
fi
read -r wall user system < <(tail -n 1 "$dir/$name.time")
cpu=$(awk "BEGIN {print $user + $system}")
most="$wall $cpu"
if was=$(sed -n 's/.*"mostSeconds": \([0-9.]*\), "mostCPUSeconds": \([0-9.]*\)}.*/\1 \2/p' "$dir/$name.json" 2>/dev/null) && [ -n "$was" ]; then
  most=$(printf '%s\n' "$most" "$was" | sort -k2,2n | tail -n 1)
fi
printf '{"part": "%s", "seconds": %s, "cpuSeconds": %s, "mostSeconds": %s, "mostCPUSeconds": %s}\n' "$name" "$wall" "$cpu" $most >"$dir/$name.json"
grep '^warning: ' "$dir/$name.log" >&2 || :
printf '%-8s %s in %.0f s (%.0f CPU seconds)\n' "$did" "$what" "$wall" "$cpu"
{ echo "["; cat "$dir"/*.json | paste -sd,; echo "]"; } >"$dir.new.$$"
mv "$dir.new.$$" "$dir.json"
