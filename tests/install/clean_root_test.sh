#!/usr/bin/env bash
# The Debian packages, installed by apt into a root that has nothing but apt: what they need besides must be what they declare.
# The command runs there, and Python imports its module. Needs mmdebstrap, root, and a mirror; some minutes: with
# PHOTONRAIL_TEST_CASES alone. usage: clean_root_test.sh BUILD CPACK
set -euo pipefail
build=$1 cpack=$2
skip() { echo "SKIPPED, NOT CHECKED: $1"; exit 0; }
[[ -n ${PHOTONRAIL_TEST_CASES:-} ]] || skip "a clean root; PHOTONRAIL_TEST_CASES=1 asks for it (preset nightly)"
((EUID == 0)) || skip "a clean root needs root"
command -v mmdebstrap >/dev/null || skip "no mmdebstrap (bash tools/setup --docs)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
components=command
[[ -d $build/python/photonrail ]] && components="command;python"
cd "$build"
"$cpack" -G DEB -D "CPACK_COMPONENTS_ALL=$components" -B "$work/deb" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
mkdir "$work/packages"
cp "$work"/deb/*.deb "$work/packages"
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
root=$work/root
# The build needs packages of the mirror; without it nothing is said about the packages.
mmdebstrap --quiet --variant=apt "$codename" "$root" >"$work/log" 2>&1 || { tail -5 "$work/log"; skip "mmdebstrap could not make a root (no mirror?)"; }
mkdir "$root/packages"
cp "$work"/packages/*.deb "$root/packages"
inside() { chroot "$root" env PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
[[ -e $root/etc/resolv.conf ]] || cp /etc/resolv.conf "$root/etc/resolv.conf"
if inside photonrail --version 2>/dev/null; then echo "the root is not clean"; exit 1; fi
inside sh -c 'apt-get -qq -o Dpkg::Use-Pty=0 -o APT::Sandbox::User=root install -y --no-install-recommends /packages/*.deb' >"$work/log" 2>&1 ||
  { tail -20 "$work/log"; echo "the packages cannot be installed"; exit 1; }
inside photonrail list controllers | grep -q '^opus '
inside photonrail run /usr/share/photonrail/configs/quickstart.json --quiet --out /tmp/out >/dev/null
test -s "$root/tmp/out/result.json"
if [[ $components == *python* ]]; then
  step=$(inside python3 -c 'import photonrail; print(photonrail.simulate("/usr/share/photonrail/configs/quickstart.json").makespan_s)')
  grep -q "\"makespan_s\": $step" "$root/tmp/out/result.json" || { echo "Python says $step, the command something else"; exit 1; }
fi
inside dpkg --audit
echo "installed into a clean root: $(cd "$work/packages" && echo *.deb)"
