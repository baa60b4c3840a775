#!/usr/bin/env bash
# analyze_speed.sh [RUNS]: the whole of `stepscope analyze` (reading, facts, every question, the JSON report) on traces of 200 MB and 1 GB.
# Limits: 1.6 s of CPU and 600 MB at 1 GB (3.6 million events); at 200 MB a fifth of the CPU time.
set -euo pipefail
cd "$(dirname "$0")/.."
source benchmarks/tiled_trace.sh
runs=${1:-7} status=0
for size in 200 1000; do
  tiled_trace "$size"
  limit=$(python3 -c "print(1.6 * $size / 1000)")
  memory=$((size < 1000 ? 250 : 600))
  for format in json html text; do
    python3 benchmarks/measure.py --runs "$runs" --name "analyze --format $format, $size MB" --cpu-limit "$limit" --memory-limit "$memory" -- \
      build/src/stepscope analyze "$tile" --format "$format" --quiet -o /dev/null || status=1
  done
done
exit "$status"
