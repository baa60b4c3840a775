#!/usr/bin/env bash
# read_speed.sh [RUNS] [MB...]: reading speed on a real trace repeated to 200 MB and 1 GB, beside memcpy and simdjson On-Demand (read_speed.cpp says how).
set -euo pipefail
cd "$(dirname "$0")/.."
source benchmarks/tiled_trace.sh
runs=${1:-5}
cmake -S . -B build -G Ninja -DSTEPSCOPE_BENCHMARKS=ON >/dev/null
ninja -C build read_speed >/dev/null
for size in "${@:2}"; do sizes="${sizes:-} $size"; done
for size in ${sizes:-200 1000}; do
  tiled_trace "$size"
  [ -f "$tile.gz" ] || { gzip -6 -c "$tile" > "$tile.gz.part" && mv "$tile.gz.part" "$tile.gz"; }
  build/benchmarks/read_speed "$tile" "$tile.gz" "$runs"
done
