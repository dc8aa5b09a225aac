#!/usr/bin/env bash
# The source tarball has every file that git has, and configures where there is no git; with
# PHOTONRAIL_TEST_CASES its command is built and run too, some minutes.
# usage: source_tarball_test.sh SOURCE BUILD CPACK CMAKE
set -euo pipefail
source=$1 build=$2 cpack=$3 cmake=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$build"
"$cpack" -G TGZ --config CPackSourceConfig.cmake -B "$work/tgz" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
mkdir "$work/unpacked"
tar -xzf "$work"/tgz/photonrail-*.tar.gz -C "$work/unpacked"
tree=$(echo "$work"/unpacked/*)
test ! -e "$tree/.git" && test ! -e "$tree/build"
if git -C "$source" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  # Files of git that are there (a checkout may have some that are deleted and not committed).
  missing=$(cd "$source" && git ls-files | while IFS= read -r file; do [[ ! -e $file || -e $tree/$file ]] || echo "$file"; done | grep -vx .ready || true)  # a marker of the machine that builds
  [[ -z $missing ]] || { echo "not in the tarball:"; echo "$missing"; exit 1; }
fi
# git is hidden: what configures must not ask it. Only the library and the command; no compiler runs but CMake's own probes.
mkdir "$work/bin"
printf '#!/bin/sh\necho "git is not there" >&2\nexit 127\n' >"$work/bin/git"
chmod +x "$work/bin/git"
PATH=$work/bin:$PATH "$cmake" -S "$tree" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPHOTONRAIL_BUILD_TESTS=OFF \
  -DPHOTONRAIL_PYTHON=OFF >"$work/log" 2>&1 || { tail -20 "$work/log"; exit 1; }
if [[ -n ${PHOTONRAIL_TEST_CASES:-} ]]; then
  PATH=$work/bin:$PATH ninja -C "$work/build" photonrail_command >"$work/log" 2>&1 || { tail -5 "$work/log"; exit 1; }
  "$work/build/tools/photonrail/photonrail" list controllers | grep -q '^opus '
  echo "built from the tarball without git"
else
  echo "NOT BUILT, NOT CHECKED: the whole build from the tarball; PHOTONRAIL_TEST_CASES=1 asks for it (preset nightly)"
fi
echo "the tarball configures without git: $(basename "$tree")"
