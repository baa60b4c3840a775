# Sourced by the benchmarks: tiled_trace MB makes build/tiles/MB.json (a real training trace with its steps repeated to that size) once, sets $tile, and
# prints what it is made of. Needs ../shared beside the repository; without it the benchmark is skipped, visibly.
shared=${STEPSCOPE_SHARED:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/shared}

tiled_trace() {
  local base=$shared/traces/hta_trace_diff_control/rank003.json.gz
  if [ ! -f "$base" ]; then
    echo "skipped: $base is not here (STEPSCOPE_SHARED names another place)"
    exit 0
  fi
  mkdir -p build/tiles
  tile=build/tiles/$1.json
  [ -f "$tile" ] || { python3 "$shared/accept/tile_trace.py" "$base" "$tile.part" --mb "$1" --rank 3 && mv "$tile.part" "$tile"; }
  echo "input: $tile, $(stat -c %s "$tile") bytes, hta_trace_diff_control with its steps repeated; machine: $(nproc) cores, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), $(. /etc/os-release && echo "$PRETTY_NAME")"
}
