#!/usr/bin/env bash
# web/test.sh: checks the types, runs the unit tests, and opens real reports in Chromium (test/report.e2e.ts). Needs ../build/src/stepscope for the latter.
# Ends in a line "N passed, N failed, N skipped". Screenshots go to web/screenshots/.
set -euo pipefail
cd "$(dirname "$0")"
./build.sh
node_modules/.bin/tsc --noEmit
rm -rf dist/test
node_modules/.bin/esbuild test/*.test.ts test/*.e2e.ts --bundle --platform=node --format=esm --packages=external --outdir=dist/test --out-extension:.js=.mjs --log-level=warning
# One after the other: the tests in the browser measure times.
status=0
: >dist/test.log
for file in dist/test/*.test.mjs dist/test/*.e2e.mjs; do
  node --test --test-reporter=tap "$file" >>dist/test.log || status=$?
done
# The failures with their reasons, then one line per test, then the sums.
if [ "$status" -ne 0 ]; then cat dist/test.log; fi
grep -E '^ *(not )?ok [0-9]+ |^ *# .* (CPU|slices)' dist/test.log || true
sum() { sed -n "s/^# $1 \([0-9]*\)\$/\1/p" dist/test.log | awk '{ all += $1 } END { print all + 0 }'; }
passed=$(sum pass) failed=$(sum fail) skipped=$(sum skipped)
if [ "$passed" -eq 0 ]; then echo "no test ran; see web/dist/test.log"; status=1; fi
echo "$passed passed, $failed failed, $skipped skipped"
exit "$status"
