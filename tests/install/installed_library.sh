#!/usr/bin/env bash
# installed_library.sh SOURCE BUILD: installs to an empty prefix, compiles a program against what is there, and runs it and the installed stepscope.
set -euo pipefail
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trace=$source/examples/gpt_training_step.generated.json.gz

DESTDIR='' cmake --install "$build" --prefix "$work/prefix" >/dev/null
for file in bin/stepscope include/stepscope/verbs/stepscope.h include/stepscope/timeline/timeline.h share/stepscope/machines/h100-sxm.yaml; do
  [ -f "$work/prefix/$file" ] || { echo "not installed: $file"; exit 1; }
done
for header in $(cd "$work/prefix/include/stepscope" && find . -name '*.h'); do  # each stands by itself
  printf '#include "%s"\n' "${header#./}" | g++ -std=c++23 -fsyntax-only -I "$work/prefix/include/stepscope" -x c++ - || { echo "$header does not compile by itself"; exit 1; }
done
if grep -rlE "$source|$build" "$work/prefix/lib" --include='*.cmake'; then
  echo "the installed CMake package names the build's folders"
  exit 1
fi

cmake -S "$source/tests/install/consumer" -B "$work/consumer" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/consumer" >"$work/consumer.log" || { cat "$work/consumer.log"; exit 1; }
"$work/consumer/consumer" "$trace" | tee "$work/said"
grep -Eq '^stepscope [0-9.]+: [1-9][0-9]+ slices, 1 ranks$' "$work/said"

cd "$work"  # nothing of the source tree is at hand
"$work/prefix/bin/stepscope" --version
"$work/prefix/bin/stepscope" analyze "$trace" --format json --quiet >report.json
grep -q '"schema": *"stepscope.analysis/1"' report.json
