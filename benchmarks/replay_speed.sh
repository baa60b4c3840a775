#!/usr/bin/env bash
# replay_speed.sh [RUNS]: operations per second of a replay with changed durations and of eight what-ifs in one pass, beside a copy of as many bytes
# (replay_speed.cpp says how). Exit code 1 where a goal is missed.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake -S . -B build -G Ninja -DSTEPSCOPE_BENCHMARKS=ON >/dev/null
ninja -C build replay_speed >/dev/null
lscpu | sed -n 's/^Model name: */machine: /p'
build/benchmarks/replay_speed "${1:-21}"
