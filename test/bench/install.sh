#!/usr/bin/env bash
# install.sh PACKAGE...: installs Debian packages, with what they need and nothing that they only recommend. It waits for another one that installs.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get -o DPkg::Lock::Timeout=300 install -qy --no-install-recommends "$@"
