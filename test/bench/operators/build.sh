#!/usr/bin/env bash
# build.sh LINE OUT: builds the operator of one line of operators.lock from its repository's own vendor folder. MIRROR names a
# folder with copies of the repositories (bare or not, as NAME, NAME.git or openshift+NAME/repo); without it the public one is
# cloned. The sources are removed again: what is kept is the program, under its commit.
set -euo pipefail
read -r name repository commit package tags <<<"$1"
out=$2
[[ $commit =~ ^[0-9a-f]{40}$ ]] || { echo "$name: \"$commit\" is not a full commit" >&2; exit 1; }
work=$(mktemp -d "$(dirname "$out")/.$name.XXXXXX")
trap 'rm -rf "$work"' EXIT

git=
for folder in ${MIRROR:+"$MIRROR/$repository" "$MIRROR/$repository.git" "$MIRROR/openshift+$repository/repo"}; do
  git=$(git -C "$folder" rev-parse --absolute-git-dir 2>/dev/null) && break
done
if [ -z "$git" ]; then
  [ -z "${MIRROR:-}" ] || { echo "$name: $MIRROR has no repository $repository" >&2; exit 1; }
  git=$work/git
  git init -q --bare "$git"
  git --git-dir "$git" fetch -q --depth 1 "https://github.com/openshift/$repository" "$commit" ||
    { echo "$name: cannot clone openshift/$repository; MIRROR=folder takes a copy from this machine" >&2; exit 1; }
fi
git --git-dir "$git" cat-file -e "$commit^{commit}" 2>/dev/null || { echo "$name: $git lacks the commit $commit" >&2; exit 1; }

src=$work/src
mkdir "$src"
export GIT_INDEX_FILE=$work/index GIT_NO_LAZY_FETCH=1
git --git-dir "$git" read-tree "$commit"
git --git-dir "$git" ls-tree -r --format='%(objectname) %(path)' "$commit" | LC_ALL=C sort >"$work/files"
cut -d' ' -f1 "$work/files" | git --git-dir "$git" cat-file --batch-check | sed -n 's/ missing$//p' | LC_ALL=C sort -u >"$work/missing"
git --git-dir "$git" show "$commit:vendor/modules.txt" >"$work/modules"
# A copy may lack its largest files. Those of a vendor folder are in the module that they come from: the hash tells that
# they are the same.
while read -r hash path; do
  rest=${path#vendor/}
  module=$rest version=
  while [[ $module == */* && -z $version ]]; do
    module=${module%/*}
    version=$(awk -v m="$module" '$1 == "#" && $2 == m {print $3}' "$work/modules")
  done
  [ -n "$version" ] || { echo "$name: $git lacks $path" >&2; exit 1; }
  from=$(cd "$work" && GOFLAGS= go mod download -json "$module@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')/${rest#"$module"/}
  [ "$(git hash-object --no-filters "$from")" = "$hash" ] || { echo "$name: $path is not the one of $module@$version" >&2; exit 1; }
  install -D -m 644 "$from" "$src/$path"
  git --git-dir "$git" --work-tree "$src" update-index --force-remove "$path"
done < <(LC_ALL=C join "$work/missing" "$work/files")
git --git-dir "$git" --work-tree "$src" checkout-index -a

cd "$src"
# One of them embeds files of another folder, which its Makefile copies first.
if grep -qs '^//go:generate cp ' pkg/manifests/manifests.go; then GOFLAGS=-mod=vendor go generate ./pkg/manifests; fi
# Two of them speak protobuf with the API of routes and of OAuth clients. On a cluster openshift-apiserver understands that; the
# bench serves these kinds by definitions, which know JSON only.
find pkg -name '*.go' -exec sed -i -E 's/\b(routes?|oauth|auth)client\.NewForConfig\(controllerContext\.ProtoKubeConfig\)/\1client.NewForConfig(controllerContext.KubeConfig)/' {} +
GOFLAGS="-mod=vendor -trimpath -buildvcs=false" GOWORK=off CGO_ENABLED=0 \
  nice -n 10 go build ${tags:+-tags "$tags"} -ldflags "-s -w" -o "$work/program" "$package"
# The router writes haproxy's configuration from a template.
if [ -d images/router/haproxy/conf ]; then rm -rf "$out.conf" && cp -r images/router/haproxy/conf "$out.conf"; fi
mv "$work/program" "$out"
