#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The portable program in a file system that holds Debian 11's C library (glibc 2.31), NVRTC, and libstdc++ for NVRTC: a judged kernel.
#
#   old_glibc.sh PROGRAM FOLDER     as root; FOLDER is filled with three packages from deb.debian.org, and NVRTC is seen through it
set -e
program=$(realpath "$1") examples=$(realpath "$(dirname "$0")/../../examples")
mkdir -p "$2"; cd "$2"
for package in g/glibc/libc6_2.31-13+deb11u11_amd64.deb g/gcc-10/libstdc++6_10.2.1-6_amd64.deb g/gcc-10/libgcc-s1_10.2.1-6_amd64.deb; do
  [ -f "$(basename $package)" ] || curl -fsSO "http://deb.debian.org/debian/pool/main/$package"
  dpkg-deb -x "$(basename $package)" root
done
cuda=$(realpath "${CUDA_PATH:-/usr/local/cuda}")
mkdir -p root/proc root/dev root/tmp root/root root/work "root/$cuda/lib64" "root/$cuda/include"
cp "$cuda"/lib64/libnvrtc-builtins.so.* root/usr/lib/x86_64-linux-gnu/
cp "$program" "$examples/softmax.cu" root/work/
cuda=$cuda unshare -m -p -f sh -ec '
  mount -t proc none root/proc; mount --bind /dev root/dev
  mount --bind "$cuda/lib64" "root/$cuda/lib64"; mount --bind "$cuda/include" "root/$cuda/include"
  HOME=/root CUDA_PATH="$cuda" chroot root /work/cudal1 verify /work/softmax.cu /work/softmax.cu --device sim --set N=64 --set M=256'
