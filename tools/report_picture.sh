#!/usr/bin/env bash
# report_picture.sh: takes docs/report.png anew, the picture in the README, from a report of the bundled trace (Chromium, light theme, a laptop's width).
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
build/src/stepscope analyze examples/gpt_training_step.generated.json.gz --quiet -o "$folder/report.html"
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --force-color-profile=srgb --blink-settings=preferredColorScheme=1 --window-size=1440,1200 \
  --virtual-time-budget=5000 --screenshot="$PWD/docs/report.png" "file://$folder/report.html" 2>/dev/null
echo "docs/report.png: $(stat -c %s docs/report.png) bytes"
