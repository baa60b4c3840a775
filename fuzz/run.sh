#!/bin/bash
# fuzz/run.sh [SECONDS [TARGET...]]: builds the fuzzers with clang-19 and runs each for SECONDS (20), from the damaged inputs in ../shared/faults where they are.
# Fails on a finding, whose input it keeps in build-fuzz/findings. FUZZ_JOBS sets the compile jobs.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-20}
shift || true
build=build-fuzz
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=clang++-19 -DSTEPSCOPE_FUZZ=ON -DSTEPSCOPE_TESTS=OFF -DSTEPSCOPE_WERROR=OFF >/dev/null
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for source in fuzz/fuzz_*.cpp; do targets+=("$(basename "$source" .cpp)"); done
fi
ninja -C $build -j"${FUZZ_JOBS:-$(nproc)}" "${targets[@]}"
seeds=()
for folder in ../shared/faults ../shared/formats/chrome ../shared/formats/nccl ../shared/formats/perfetto; do
  [ -d "$folder" ] && seeds+=("$folder")
done
[ ${#seeds[@]} -ne 0 ] || echo "no ../shared/faults: fuzzing starts from nothing"
mkdir -p $build/findings
for target in "${targets[@]}"; do
  corpus=$build/corpus/$target
  mkdir -p "$corpus"
  echo "$target: $seconds s"
  # 24 KB hold every small seed whole; longer ones are cut, which is one more kind of damage.
  nice $build/fuzz/"$target" -max_total_time="$seconds" -max_len=24576 -timeout=20 -rss_limit_mb=3072 -dict=fuzz/json.dict -artifact_prefix=$build/findings/"$target"- \
    -print_final_stats=1 "$corpus" "${seeds[@]}" 2>$build/findings/"$target".log || { tail -50 $build/findings/"$target".log; echo "$target: FINDING (log: $build/findings/$target.log)"; exit 1; }
  grep -E "stat::number_of_executed_units|stat::peak_rss_mb|cov:" $build/findings/"$target".log | tail -3
done
echo "no findings"
