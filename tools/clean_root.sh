#!/usr/bin/env bash
# clean_root.sh demo|test [FOLDER]: ./demo or ./test of a fresh clone in a fresh Debian 12, as a newcomer meets them. Needs root and debootstrap.
# The system is made by debootstrap in FOLDER (default: a temporary one, removed at the end) from the mirror in STEPSCOPE_MIRROR or of this machine.
# Of this machine it only takes what networks need: name servers, additional certificates, proxy settings. The state of the working copy that is tested
# is the last commit.
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:-demo}
case $what in demo | test) ;; *) echo "usage: clean_root.sh demo|test [FOLDER]"; exit 2 ;; esac
[ "$(id -u)" -eq 0 ] || { echo "clean_root.sh needs root: debootstrap and chroot do"; exit 2; }
command -v debootstrap >/dev/null || { echo "debootstrap is missing: apt-get install debootstrap"; exit 2; }

# Mounts are made in a namespace of their own: they end with this script, however it ends.
if [ -z "${STEPSCOPE_OWN_MOUNTS:-}" ]; then
  exec env STEPSCOPE_OWN_MOUNTS=1 unshare --mount --propagation private "$0" "$@"
fi

root=${2:-}
if [ -z "$root" ]; then
  root=$(mktemp -d /var/tmp/stepscope-root.XXXXXX)
  mount -t tmpfs -o mode=755,size=12G stepscope-root "$root" 2>/dev/null || true
  remove=$root
fi
finish() {
  umount -R "$root" 2>/dev/null || umount -l "$root"/{proc,sys,dev} 2>/dev/null || true
  umount "$root" 2>/dev/null || true
  [ -z "${remove:-}" ] || rm -rf --one-file-system "$remove"
}
trap finish EXIT

mirror=${STEPSCOPE_MIRROR:-http://deb.debian.org/debian}
SECONDS=0
if [ ! -x "$root/usr/bin/apt-get" ]; then
  debootstrap --variant=minbase --include=git,ca-certificates bookworm "$root" "$mirror" >"$root.log" 2>&1 || { tail "$root.log"; exit 1; }
  rm -f "$root.log"
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
if [ -n "$(ls /usr/local/share/ca-certificates/*.crt 2>/dev/null)" ]; then
  cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/"
  chroot "$root" update-ca-certificates >/dev/null 2>&1
fi
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
echo "Debian $(cat "$root/etc/debian_version") in $root after ${SECONDS} s"

rm -rf "$root/root/stepscope"
git clone --quiet --no-hardlinks . "$root/root/stepscope"
echo "clone of $(git rev-parse --short HEAD); nothing else of this machine is in it"
settings=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8)
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
  [ -z "${!name:-}" ] || settings+=("$name=${!name}")
done
# Node brings its own certificates unless it is told where the system's are.
[ -z "$(ls /usr/local/share/ca-certificates/*.crt 2>/dev/null)" ] || settings+=(NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt PIP_CERT=/etc/ssl/certs/ca-certificates.crt)

SECONDS=0
chroot "$root" env -i "${settings[@]}" bash -c "cd /root/stepscope && ./$what"
echo "./$what on a clean Debian 12: ${SECONDS} s on $(nproc) cores"
if [ "$what" = demo ]; then
  [ -s "$root/root/stepscope/demo-report.html" ] || { echo "demo-report.html was not written"; exit 1; }
  SECONDS=0
  chroot "$root" env -i "${settings[@]}" bash -c "cd /root/stepscope && ./demo" >/dev/null
  echo "the second time: ${SECONDS} s"
fi
