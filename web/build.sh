#!/usr/bin/env bash
# web/build.sh: installs the npm packages that package-lock.json names (once) and builds web/dist/report.html, the page of the HTML report.
set -euo pipefail
cd "$(dirname "$0")"
if [ ! -f node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
  # Browsers are the system's; playwright-core is only their driver.
  PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-fund --no-audit --loglevel=error
  touch node_modules/.package-lock.json
fi
node build.mjs
