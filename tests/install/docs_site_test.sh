#!/usr/bin/env bash
# The documentation site is made, no link in it is dead, and its search knows pages, headers and Python. Half a minute of one
# processor: with PHOTONRAIL_TEST_CASES alone. usage: docs_site_test.sh SOURCE PYTHON_MODULE_FOLDER
set -euo pipefail
source=$1 python=$2
[[ -n ${PHOTONRAIL_TEST_CASES:-} ]] || { echo "SKIPPED, NOT CHECKED: the site; PHOTONRAIL_TEST_CASES=1 asks for it (preset nightly)"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
bash "$source/tools/docs-site" "$work" "$python" || status=$?
[[ $status == 77 ]] && exit 0  # has said that it is skipped
((status == 0)) || exit 1
# The index has stems of words: "TaskGraphBuilder" is "taskgraphbuild" there, as it is in what a reader types.
words=$(tr -d '_' <"$work/html/searchindex.js" | tr '[:upper:]' '[:lower:]')
for word in straggler taskgraphbuild stepagainstdelay; do
  [[ $word != stepagainstdelay || -d $python ]] || continue
  [[ $words == *"$word"* ]] || { echo "the search does not know $word"; exit 1; }
done
# A link that leads nowhere is noticed: the check fails for a copy with one.
page=$work/html/models/network.html
sed -i 's|</body>|<a href="nowhere.html">x</a></body>|' "$page"
if /usr/bin/python3 "$source/docs/site/check_links.py" "$work/html" >"$work/log"; then echo "a dead link is not noticed"; exit 1; fi
grep -q 'network.html: nowhere.html' "$work/log"
