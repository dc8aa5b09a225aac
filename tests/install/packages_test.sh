#!/usr/bin/env bash
# The Debian package of the command: made by cpack, unpacked into an empty folder, and run from there. Its declared dependencies
# must name a package for every library that the program loads. usage: packages_test.sh BUILD CPACK
set -euo pipefail
build=$1 cpack=$2
command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null || { echo "SKIPPED, NOT CHECKED: no dpkg-deb and dpkg-shlibdeps"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$build"
"$cpack" -G DEB -D CPACK_COMPONENTS_ALL=command -B "$work/deb" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
package=$(echo "$work"/deb/photonrail_*.deb)
dpkg-deb -x "$package" "$work/root"
program="$work/root/usr/bin/photonrail"
"$program" list controllers | grep -q '^opus ' || { echo "the unpacked command does not list controllers"; exit 1; }
"$program" run "$work/root/usr/share/photonrail/configs/quickstart.json" --quiet --out "$work/out" >/dev/null
test -s "$work/out/result.json"
depends=$(dpkg-deb -f "$package" Depends)
for library in $(ldd "$program" | awk '$3 ~ "^/" {print $3}'); do
  owner=$(dpkg -S "$(readlink -f "$library")" 2>/dev/null | head -1 | cut -d: -f1 || true)
  [[ -z $owner || ", $depends" == *", $owner"* ]] || needed="${needed:-} $owner"
done
# What a declared dependency brings along need not be declared.
for owner in ${needed:-}; do
  apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
    $(sed 's/([^)]*)//g; s/,/ /g' <<<"$depends") 2>/dev/null | grep -q "^$owner$" || { echo "the package does not declare $owner: $depends"; exit 1; }
done
echo "installed: $(dpkg-deb -f "$package" Package Version | tr '\n' ' ')depends: $depends"
