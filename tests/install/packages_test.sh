#!/usr/bin/env bash
# The Debian packages of the command and of the library: made by cpack and unpacked into an empty folder. The command runs from
# there, and its declared dependencies must name a package for every library that it loads. What photonrail-dev has stays in
# DEVELOPMENT, where another test builds a user's project with it; each CMake package that it asks for must be of a package that it
# declares. usage: packages_test.sh BUILD CPACK DEVELOPMENT
set -euo pipefail
build=$1 cpack=$2 development=$3
command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null || { echo "SKIPPED, NOT CHECKED: no dpkg-deb and dpkg-shlibdeps"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$build"
"$cpack" -G DEB -D CPACK_DEBIAN_COMPRESSION_TYPE=none -D "CPACK_COMPONENTS_ALL=command;dev" -B "$work/deb" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
package=$(echo "$work"/deb/photonrail_*.deb)
dpkg-deb -x "$package" "$work/root"
program="$work/root/usr/bin/photonrail"
"$program" list controllers | grep "^opus " >/dev/null || { echo "the unpacked command does not list controllers"; exit 1; }
"$program" run "$work/root/usr/share/photonrail/configs/quickstart.json" --quiet --out "$work/out" >/dev/null
test -s "$work/out/result.json"
depends=$(dpkg-deb -f "$package" Depends)
for library in $(ldd "$program" | awk '$3 ~ "^/" {print $3}'); do
  owner=$(dpkg -S "$(readlink -f "$library")" 2>/dev/null | head -1 | cut -d: -f1 || true)
  [[ -z $owner || ", $depends" == *", $owner"* ]] || needed="${needed:-} $owner"
done
# What a declared dependency brings along need not be declared; one may be a name that an installed package provides.
declared=" $(sed 's/([^)]*)//g; s/[, ]\+/ /g' <<<"$depends") "
providers=$(dpkg-query -W -f '${Package} ${Provides}\n' | awk -v declared="$declared" '
  { gsub(/\([^)]*\)|,/, ""); for (i = 2; i <= NF; ++i) if (index(declared, " " $i " ")) { print $1; break } }')
for owner in ${needed:-}; do
  apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
    $declared $providers 2>/dev/null | grep "^$owner$" >/dev/null || { echo "the package does not declare $owner: $depends"; exit 1; }
done

rm -rf "$development"
dpkg-deb -x "$work"/deb/photonrail-dev_*.deb "$development"
declared=$(dpkg-deb -f "$work"/deb/photonrail-dev_*.deb Depends)
found=$(grep -ho 'find_dependency([A-Za-z0-9-]*)' "$development/usr/lib/cmake/photonrail/photonrailConfig.cmake" | sed 's/.*(//; s/)//; /^Threads$/d')
[[ -n $found ]] || { echo "the CMake package of photonrail-dev asks for no other"; exit 1; }
for name in $found; do
  file=$(find /usr/lib/*/cmake/"$name" /usr/lib/cmake/"$name" /usr/share/cmake/"$name" -iname "$name-config.cmake" -o -iname "${name}Config.cmake" 2>/dev/null | head -1 || true)
  [[ -n $file || $name != ZLIB ]] || file=/usr/include/zlib.h  # CMake's own module finds it
  owner=$(dpkg -S "$file" 2>/dev/null | head -1 | cut -d: -f1 || true)
  [[ -z $owner || ", $declared," == *", $owner,"* ]] || { echo "photonrail-dev does not declare $owner, which has $name: $declared"; exit 1; }
done
echo "installed: $(dpkg-deb -f "$package" Package Version | tr '\n' ' ')depends: $depends"
