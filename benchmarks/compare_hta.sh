#!/usr/bin/env bash
# compare_hta.sh [MB]: HTA (PyPI HolisticTraceAnalysis) and Stepscope on the same file: processor time and peak memory of both, and the two ratios.
# HTA loads the trace and computes its temporal breakdown and its overlap; Stepscope does all of `analyze`. Goals: 100 times less CPU, an eighth of the memory.
# At 1000 MB, HTA takes minutes and 5 GB; the default is 200.
set -euo pipefail
cd "$(dirname "$0")/.."
source benchmarks/tiled_trace.sh
size=${1:-200}
tiled_trace "$size"
environment=build/hta-environment
if [ ! -x "$environment/bin/python" ] || ! "$environment/bin/python" -c 'import hta' 2>/dev/null; then
  python3 -m venv "$environment"
  "$environment/bin/pip" install --quiet HolisticTraceAnalysis
fi
echo "HTA $("$environment/bin/pip" show HolisticTraceAnalysis | sed -n 's/^Version: //p'), $("$environment/bin/python" --version); $(build/src/stepscope --version)"
python3 benchmarks/measure.py --runs 5 --name "stepscope analyze" --json build/tiles/ours.json -- build/src/stepscope analyze "$tile" --format json --quiet -o /dev/null
python3 benchmarks/measure.py --runs 1 --name "HTA load, temporal breakdown, overlap" --json build/tiles/hta.json -- "$environment/bin/python" benchmarks/hta_breakdown.py "$tile"
python3 - "$size" <<'P'
import json, sys
ours, hta = (json.load(open(f"build/tiles/{name}.json")) for name in ("ours", "hta"))
cpu, memory = hta["cpu_s"] / ours["cpu_s"], hta["memory_mb"] / ours["memory_mb"]
print(f"{sys.argv[1]} MB: HTA takes {cpu:.0f} times the CPU time (goal at 1000 MB: 100) and {memory:.1f} times the memory (goal: 8)")
P
