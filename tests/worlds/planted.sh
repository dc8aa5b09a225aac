#!/usr/bin/env bash
# Takes mends out again, one at a time (planted/*.patch), and counts the worlds until the generator finds the fault: shows that
# the class of fault cannot come back unseen (docs/reliability.md, "Planted faults"). Not part of the gate: minutes of building.
#
#     tests/worlds/planted.sh [--tree DIR] [--cases N] [--seed N] [PATCH ...]
#
# --tree: a checkout to build in, with build/release configured; it is changed while this runs, and put back. Without it a
# worktree in a temporary folder is made of HEAD. Exit status: 0 each fault was found, and nothing was without one; 1 otherwise.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tree=
cases=20000
seed=1
patches=()
while (($#)); do
  case $1 in
    --tree) tree=$2; shift 2 ;;
    --cases) cases=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    *) patches+=("$1"); shift ;;
  esac
done
((${#patches[@]})) || patches=("$here"/planted/*.patch)

if [[ -z $tree ]]; then
  tree=$(mktemp -d)/photonrail
  git -C "$here" worktree add --detach "$tree" HEAD >/dev/null
  trap 'git -C "$here" worktree remove --force "$tree"' EXIT
  (cd "$tree" && cmake --preset release >/dev/null)
fi
worlds=$tree/build/release/tests/worlds/photonrail_worlds

build() { ninja -C "$tree/build/release" photonrail_worlds >"$tree/build/planted.log" 2>&1 || { cat "$tree/build/planted.log"; exit 1; }; }
search() { nice -n 19 "$worlds" --seed "$seed" --cases "$cases" --until-found; }

failed=0
for patch in "${patches[@]}"; do
  name=$(basename "$patch" .patch)
  git -C "$tree" apply "$patch"
  build
  if found=$(search); then
    echo "$name: NOT FOUND in $cases worlds"
    failed=1
  else
    echo "$name: $(grep -m 1 ', after ' <<<"$found")"
  fi
  git -C "$tree" apply --reverse "$patch"
done
build
if found=$(search); then
  echo "nothing planted: nothing found in $cases worlds"
else
  echo "nothing planted: $(grep -m 1 ', after ' <<<"$found")"
  failed=1
fi
exit $failed
