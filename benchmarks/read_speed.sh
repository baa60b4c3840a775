#!/usr/bin/env bash
# read_speed.sh [RUNS] [INPUT...]: reading speed beside memcpy and simdjson On-Demand (read_speed.cpp says how). An INPUT is a number, a real trace whose steps are
# repeated to that many MB, or the name of a real trace as it is. Default: 200 1000 and three traces as they are.
set -euo pipefail
cd "$(dirname "$0")/.."
source benchmarks/tiled_trace.sh
runs=${1:-5}
inputs=("${@:2}")
[ ${#inputs[@]} -gt 0 ] || inputs=(200 1000 tl_h100_owlv2 tl_xdit_sage_profile hta_trace_diff_control)
cmake -S . -B build -G Ninja -DSTEPSCOPE_BENCHMARKS=ON >/dev/null
ninja -C build read_speed >/dev/null
for input in "${inputs[@]}"; do
  if [[ $input =~ ^[0-9]+$ ]]; then
    tiled_trace "$input"
    [ -f "$tile.gz" ] || { gzip -6 -c "$tile" > "$tile.gz.part" && mv "$tile.gz.part" "$tile.gz"; }
  else
    zipped=$(ls "$shared/traces/$input"/*.gz | head -1)
    mkdir -p build/tiles
    tile=build/tiles/$input.json
    [ -f "$tile" ] || { gzip -dc "$zipped" > "$tile"; cp "$zipped" "$tile.gz"; }
    echo "input: $input as it is, $(stat -c %s "$tile") bytes"
  fi
  # Written anew: what read() costs depends on how the pages of a file came into memory (README.md).
  for file in "$tile" "$tile.gz"; do cp "$file" "$file.new" && mv "$file.new" "$file"; done
  build/benchmarks/read_speed "$tile" "$tile.gz" "$runs"
done
