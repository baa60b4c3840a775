#!/usr/bin/env bash
# analyze_speed.sh [RUNS]: the whole of `stepscope analyze` (reading, facts, every question, the JSON report) on traces of 200 MB and 1 GB.
# The limits are those of 1 GB (3.6 million events): 1.6 s of CPU and 600 MB.
set -euo pipefail
cd "$(dirname "$0")/.."
source benchmarks/tiled_trace.sh
runs=${1:-7} status=0
for size in 200 1000; do
  tiled_trace "$size"
  limits=()
  [ "$size" -lt 1000 ] || limits=(--cpu-limit 1.6 --memory-limit 600)
  for format in json html text; do
    python3 benchmarks/measure.py --runs "$runs" --name "analyze --format $format, $size MB" "${limits[@]}" -- \
      build/src/stepscope analyze "$tile" --format "$format" --quiet -o /dev/null || status=1
  done
done
exit "$status"
