#!/usr/bin/env bash
# debian_package.sh SOURCE BUILD: builds the .deb, and looks at what is in it, what it depends on, and whether its program runs.
set -euo pipefail
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

(cd "$build" && cpack -G DEB -B "$work") >"$work/cpack.log" 2>&1 || { cat "$work/cpack.log"; exit 1; }
package=$(ls "$work"/stepscope_*.deb)
dpkg-deb -c "$package" >"$work/content"
for file in usr/bin/stepscope usr/share/stepscope/machines/h100-sxm.yaml usr/include/stepscope/verbs/stepscope.h usr/include/stepscope/timeline/timeline.h \
            libstepscope.a stepscope-config.cmake usr/share/doc/stepscope/LICENSE; do
  grep -q "$file" "$work/content" || { echo "not in the package: $file"; cat "$work/content"; exit 1; }
done
[ ! -f "$source/docs/stepscope.1" ] || grep -q 'usr/share/man/man1/stepscope.1' "$work/content" || { echo "no manual page in the package"; exit 1; }
if grep -vE '^[-dl][rwx-]{9} root/root' "$work/content"; then
  echo "files that root does not own"
  exit 1
fi
if grep -E '\./(home|root|tmp|work|usr/local)/' "$work/content"; then
  echo "files outside /usr"
  exit 1
fi
depends=$(dpkg-deb -f "$package" Depends)
echo "Depends: $depends"
for library in libc6 libstdc++6 libfmt9 libisal2 libyaml-cpp0.7 libzstd1 libsimdjson; do
  case $depends in *"$library"*) ;; *) echo "does not depend on $library"; exit 1 ;; esac
done
dpkg-deb -x "$package" "$work/root"
"$work/root/usr/bin/stepscope" --version
