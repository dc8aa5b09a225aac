#!/usr/bin/env bash
# Every patch of planted/ still applies: a mend that moved has to move its patch. usage: planted_apply.sh SOURCE_DIR
set -euo pipefail
cd "$1"
if ! command -v patch >/dev/null; then
  echo "SKIPPED, NOT CHECKED: patch is not installed"
  exit 0
fi
failed=0
for file in tests/worlds/planted/*.patch; do
  patch --dry-run --force --silent --strip=1 --fuzz=0 <"$file" >/dev/null || { echo "$file does not apply"; failed=1; }
done
exit $failed
