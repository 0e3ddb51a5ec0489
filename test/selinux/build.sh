#!/bin/bash
# build.sh MIRROR WORK POLICY CONTAINER CONFIG: compiles the targeted policy of RHEL 9 as its packages are built, into WORK.
#
# MIRROR holds clones: OWNER+NAME/repo. POLICY is a commit of fedora-selinux/selinux-policy, CONTAINER one of
# containers/container-selinux, from which RHEL packages the module of containers, and CONFIG one of
# openela-main/selinux-policy, which has the list of modules, the booleans and the substitutions of RHEL's package.
# WORK/policy, WORK/file_contexts and WORK/substitutions are what facts.py needs.
set -euo pipefail
mirror=$1 work=$2 policy=$3 container=$4 config=$5
source=$work/source root=$work/root
rm -rf "$work" && mkdir -p "$source" "$root/var/lib/selinux/targeted" "$root/etc/selinux/targeted/contexts/files"
show() { git -C "$mirror/$1/repo" show "$2:$3"; }

git -C "$mirror/fedora-selinux+selinux-policy/repo" archive "$policy" | tar x -C "$source"
for end in te if fc; do
	show containers+container-selinux "$container" "container.$end" >"$source/policy/modules/contrib/container.$end"
done
# As container-selinux.spec does for RHEL 9, which has neither the class nor file contexts below /run.
sed -i /user_namespace/d "$source/policy/modules/contrib/container.te"
sed -i 's|^/run/|/var/run/|' "$source/policy/modules/contrib/container.fc"

cd "$source"
unset MAKEFLAGS # of the make that runs this
# The parameters of selinux-policy.spec.
make="make AWK=gawk DISTRO=redhat UBAC=n DIRECT_INITRC=n MONOLITHIC=n MLS_CATS=1024 MCS_CATS=1024 UNK_PERMS=allow NAME=targeted TYPE=mcs"
$make bare >/dev/null
$make conf >"$work/build.log" 2>&1
show openela-main+selinux-policy "$config" SOURCES/booleans-targeted.conf >policy/booleans.conf
show openela-main+selinux-policy "$config" SOURCES/users-targeted >policy/users
show openela-main+selinux-policy "$config" SOURCES/file_contexts.subs_dist >"$work/substitutions"
{
	show openela-main+selinux-policy "$config" SOURCES/modules-targeted-base.conf
	show openela-main+selinux-policy "$config" SOURCES/modules-targeted-contrib.conf
	echo "container = module"
} | while read -r name is kind; do
	[ "$is" = = ] && find policy/modules -name "$name.te" | grep -q . && echo "$name = $kind"
done | sort -u >policy/modules.conf
modules=$(wc -l <policy/modules.conf)
$make base.pp >>"$work/build.log" 2>&1
$make -j"$(nproc)" modules >>"$work/build.log" 2>&1
printf 'module-store = direct\npolicy-version = 33\nexpand-check = 0\nusepasswd = False\n' >"$root/etc/selinux/semanage.conf"
semodule -p "$root" -X 100 -s targeted -n -i base.pp $(ls ./*.pp | grep -v /base.pp)
cp "$root/etc/selinux/targeted/policy/policy.33" "$work/policy"
cp "$root/etc/selinux/targeted/contexts/files/file_contexts" "$work/file_contexts"
echo "selinux-policy ${policy:0:12}, container-selinux $container, configuration ${config:0:12}" >"$work/from"
rm -rf "$source" "$root" # 500 MB
echo "compiled $modules modules of $policy"
