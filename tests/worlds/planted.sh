#!/usr/bin/env bash
# Takes mends out again, one at a time (planted/*.patch), and counts the worlds until the generator finds the fault: shows that
# the class of fault cannot come back unseen (docs/reliability.md, "Planted faults"). Not part of the gate: minutes of building.
#
#     tests/worlds/planted.sh [--tree DIR] [--cases N] [--seed N] [--time SECONDS] [--quick] [PATCH ...]
#
# --tree: a checkout to build in, with build/release configured; it is changed while this runs, and put back. Without it a
# worktree in a temporary folder is made of HEAD, less optimised. --time: of wall clock at most, for the search of one patch.
# --quick: --tree is built; of each patch the units of the changed files alone are compiled, less optimised, and linked before the
# library, into build/planted: a third of the time, and nothing of the tree's build changes.
# Exit status: 0 each fault was found, and nothing was without one; 1 otherwise.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tree=
cases=20000
seed=1
seconds=0
quick=
patches=()
while (($#)); do
  case $1 in
    --tree) tree=$2; shift 2 ;;
    --cases) cases=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    --quick) quick=1; shift ;;
    --time) seconds=$2; shift 2 ;;
    *) patches+=("$(realpath "$1")"); shift ;;
  esac
done
((${#patches[@]})) || patches=("$here"/planted/*.patch)

if [[ -z $tree ]]; then
  tree=$(mktemp -d)/photonrail
  git -C "$here" worktree add --detach "$tree" HEAD >/dev/null
  trap 'git -C "$here" worktree remove --force "$tree"' EXIT
  (cd "$tree" && cmake --preset release -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" >/dev/null)
fi
release=$tree/build/release
worlds=$release/tests/worlds/photonrail_worlds

# The command of the build that makes an output, with its compiler, less what is for ninja's books and for speed.
command_of() {
  ninja -C "$release" -t commands "$1" | tail -1 |
    sed -E 's# -MD -MT [^ ]+ -MF [^ ]+##; s#^.*ccache[^ ]* ##; s# -O[2-3]( |$)# -O1\1#g'
}
quick_build() {  # FILES of the patch
  local planted=$tree/build/planted unit object objects=() command
  mkdir -p "$planted"
  for unit in $(cd "$release" && for file; do grep -l "/$file\"" src/CMakeFiles/*/Unity/*.cxx; done | sort -u); do
    grep -q "^build $unit.o:" "$release/build.ninja" || continue  # of an earlier way to divide the files
    object=$planted/${#objects[@]}.o
    command=$(command_of "$unit.o" | sed -E "s# -o [^ ]+ -c # -o $object -c #")
    (cd "$release" && eval "$command") || return 1
    objects+=("$object")
  done
  ((${#objects[@]})) || return 1  # headers, or files of no unit
  command=$(command_of tests/worlds/photonrail_worlds | sed "s# -o tests/worlds/photonrail_worlds # -o $planted/photonrail_worlds ${objects[*]} #")
  (cd "$release" && eval "$command") || return 1
  worlds=$planted/photonrail_worlds
}
build() {
  worlds=$release/tests/worlds/photonrail_worlds
  ninja -C "$release" photonrail_worlds
}
search() { "$worlds" --seed "$seed" --cases "$cases" --time "$seconds" --until-found; }
drawn() { grep -o -m 1 '^[0-9]* worlds' <<<"$found"; }

failed=0
log=$tree/build/planted.log
for patch in "${patches[@]}"; do
  name=$(basename "$patch" .patch)
  mapfile -t changed < <(sed -n 's#^+++ b/##p' "$patch")
  # Copies, since a patch that is taken back may find its lines in another place.
  kept=$(mktemp -d)
  (cd "$tree" && cp --parents -p "${changed[@]}" "$kept")
  git -C "$tree" apply "$patch" || { echo "$name: does not apply"; failed=1; continue; }
  if ! { [[ -n $quick ]] && quick_build "${changed[@]}"; } >"$log" 2>&1 && ! build >"$log" 2>&1; then
    echo "$name: does not build, see $log"
    failed=1
  elif found=$(search); then
    echo "$name: NOT FOUND in $(drawn)"
    failed=1
  else
    echo "$name: $(grep -m 1 ', after ' <<<"$found")"
  fi
  cp -r "$kept/." "$tree"  # newer than what was built of the patch
  rm -r "$kept"
done
build >"$log" 2>&1
if found=$(search); then
  echo "nothing planted: nothing found in $(drawn)"
else
  echo "nothing planted: $(grep -m 1 ', after ' <<<"$found")"
  failed=1
fi
exit $failed
