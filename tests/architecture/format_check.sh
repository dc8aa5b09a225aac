#!/usr/bin/env bash
# Tests .ci/format in a repository of its own: it refuses a changed line that clang-format would change, says nothing about
# older lines, and accepts the line once it is formatted; all on a branch. Prints SKIPPED, NOT CHECKED where clang-format-14 is missing.
#
# usage: format_check.sh SOURCE_DIR
set -euo pipefail
source_dir=$1
for program in clang-format-14 git-clang-format-14 git; do
  if ! command -v "$program" >/dev/null; then
    echo "SKIPPED, NOT CHECKED: $program is not installed (bash tools/setup --test)"
    exit 0
  fi
done

repository=$(mktemp -d "${TMPDIR:-/tmp}/photonrail-format.XXXXXX")
trap 'rm -rf "$repository"' EXIT
cd "$repository"
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t
unset PHOTONRAIL_FORMAT_BASE GIT_DIR GIT_WORK_TREE
mkdir -p .ci include src tests tools docs/examples
cp "$source_dir/.ci/format" .ci/
cp "$source_dir/.clang-format" .
git init --quiet --initial-branch=main
printf 'int  old = 1;\nint between = 0;\nint one = 1;\n' >src/a.cpp
git add . && git commit --quiet -m "first"

git checkout --quiet -b change
fail() { echo "format_check: $1" >&2; exit 1; }
sed -i 's/int one = 1;/int  two=2;/' src/a.cpp
git commit --quiet -am "second"
if said=$(.ci/format 2>&1); then fail "a line with two spaces was accepted: $said"; fi
[[ $said == *"+int two = 2;"* ]] || fail "the patch does not say what would do: $said"
[[ $said != *"+int old = 1;"* ]] || fail "a line of an older commit was checked: $said"
sed -i 's/int  two=2;/int two = 2;/' src/a.cpp
said=$(.ci/format 2>&1) || fail "a line as clang-format makes it was refused: $said"
[[ $said != *"NOT CHECKED"* ]] || fail "it was not checked: $said"
echo "format_check: what is wrong is refused, what is right accepted"
