#!/usr/bin/env bash
# The Debian packages, installed by apt into roots that have nothing but apt: what they need besides must be what they declare.
# In one root the command runs and Python imports its module; in the other, with a compiler and CMake besides photonrail-dev, a
# user's project finds the library, the command and the switch on programmable photonics, is built, and runs. Needs mmdebstrap,
# root, and a mirror; 3 to 5 minutes: with PHOTONRAIL_TEST_CASES alone. usage: clean_root_test.sh BUILD CPACK CONSUMER EXAMPLES
set -euo pipefail
build=$1 cpack=$2 consumer=$3 examples=$4
skip() { echo "SKIPPED, NOT CHECKED: $1"; exit 0; }
[[ -n ${PHOTONRAIL_TEST_CASES:-} ]] || skip "a clean root; PHOTONRAIL_TEST_CASES=1 asks for it (preset nightly)"
((EUID == 0)) || skip "a clean root needs root"
command -v mmdebstrap >/dev/null || skip "no mmdebstrap (bash tools/setup --docs)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
components="command;dev"
[[ -d $build/python/photonrail ]] && components="command;dev;python"
cd "$build"
"$cpack" -G DEB -D "CPACK_COMPONENTS_ALL=$components" -B "$work/deb" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
# The build needs packages of the mirror; without it nothing is said about the packages. The lists of apt stay: it installs from them.
mmdebstrap --quiet --variant=apt --skip=cleanup/apt/lists "$codename" "$work/clean" >"$work/log" 2>&1 ||
  { tail -5 "$work/log"; skip "mmdebstrap could not make a root (no mirror?)"; }
mkdir "$work/clean/packages"
cp "$work"/deb/*.deb "$work/clean/packages"
[[ -e $work/clean/etc/resolv.conf ]] || cp /etc/resolv.conf "$work/clean/etc/resolv.conf"
inside() { chroot "$work/$1" env PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "${@:2}"; }
# install ROOT PACKAGE ...: by apt, with what they declare and nothing that they only recommend.
install() {
  inside "$1" apt-get -qq -o Dpkg::Use-Pty=0 -o APT::Sandbox::User=root install -y --no-install-recommends "${@:2}" >"$work/log" 2>&1 ||
    { tail -20 "$work/log"; echo "cannot be installed: ${*:2}"; exit 1; }
  [[ -z $(inside "$1" dpkg --audit) ]] || { inside "$1" dpkg --audit; exit 1; }
}
if inside clean photonrail --version 2>/dev/null; then echo "the root is not clean"; exit 1; fi
cp -a "$work/clean" "$work/develop"

programs=("$work"/deb/photonrail_*.deb)
[[ $components == *python* ]] && programs+=("$work"/deb/python3-photonrail_*.deb)
install clean "${programs[@]/#*\///packages/}"
inside clean photonrail list controllers | grep '^opus ' >/dev/null
inside clean photonrail run /usr/share/photonrail/configs/quickstart.json --quiet --out /tmp/out >/dev/null
test -s "$work/clean/tmp/out/result.json"
if [[ $components == *python* ]]; then
  step=$(inside clean python3 -c 'import photonrail; print(photonrail.simulate("/usr/share/photonrail/configs/quickstart.json").makespan_s)')
  grep -q "\"makespan_s\": $step" "$work/clean/tmp/out/result.json" || { echo "Python says $step, the command something else"; exit 1; }
fi
rm -rf "$work/clean"

development=("$work"/deb/photonrail-dev_*.deb)
install develop "${development[@]/#*\///packages/}" g++ cmake make
mkdir -p "$work/develop/projects/command"
cp -r "$consumer" "$work/develop/projects/consumer"
cp "$examples/my_command.cpp" "$examples/oldest_first.hpp" "$examples/my_policy.json" "$work/develop/projects/command"
cat >"$work/develop/projects/command/CMakeLists.txt" <<'PROJECT'
cmake_minimum_required(VERSION 3.25)
project(with_the_command LANGUAGES CXX)
find_package(photonrail REQUIRED COMPONENTS command)
add_executable(my_command my_command.cpp)
target_link_libraries(my_command PRIVATE photonrail::command)
PROJECT
for project in consumer command; do
  inside develop sh -c "cmake -S /projects/$project -B /build/$project && cmake --build /build/$project" >"$work/log" 2>&1 ||
    { tail -20 "$work/log"; echo "the project $project cannot be built with photonrail-dev and what it declares"; exit 1; }
done
inside develop /build/consumer/consumer
inside develop /build/command/my_command run /projects/command/my_policy.json >"$work/log"
grep -Eq 'step time +46.00 ms' "$work/log"
echo "installed into clean roots: $(cd "$work/deb" && echo *.deb)"
