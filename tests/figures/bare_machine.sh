#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Times the README's commands on a bare Debian 12: a fresh debootstrap tree with this commit and the CUDA Toolkit in it.
#   bare_machine.sh FOLDER [MIRROR]     # as root; FOLDER is made anew
set -eu
root=$1
mirror=${2:-http://deb.debian.org/debian}
source=$(cd "$(dirname "$0")/../.." && pwd)
cuda=$(readlink -f "${CUDA_PATH:-/usr/local/cuda}")

[ ! -e "$root" ] || { echo "$root exists; give a folder that does not" >&2; exit 2; }
debootstrap --variant=minbase bookworm "$root" "$mirror" >/dev/null
mkdir -p "$root/usr/local/cuda" "$root/w"
mount --bind "$cuda" "$root/usr/local/cuda"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount --bind /dev/pts "$root/dev/pts"
trap 'umount "$root/usr/local/cuda" "$root/proc" "$root/dev/pts" "$root/dev"' EXIT
cp /etc/resolv.conf "$root/etc/"
git -C "$source" archive HEAD | tar -x -C "$root/w"

run() {
  begin=$(date +%s)
  status=0
  chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    sh -c "cd /w && $1" >"$root.log" 2>&1 || status=$?
  echo "$1: exit $status after $(($(date +%s) - begin)) s"
  [ "$status" -eq 0 ] || tail -20 "$root.log"
}
run 'sh cmake/try.sh'
run 'sh cmake/try.sh'
run 'sh cmake/test.sh'
