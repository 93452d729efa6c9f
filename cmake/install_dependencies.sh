#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what the build needs from Debian 12, and only what is missing. Sourced by try.sh and test.sh with the list of
# packages; asks nothing, and says what it installs.
set -eu

missing=""
for package in "$@"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q "ok installed" || missing="$missing $package"
done

if [ -n "$missing" ]; then
  as_root=""
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "These packages are missing and only root can install them: apt-get install$missing" >&2
      exit 2
    fi
    as_root="sudo"
  fi
  echo "Installing from Debian:$missing"
  export DEBIAN_FRONTEND=noninteractive
  # The lists may be absent (a container) or too old for what the mirror still has.
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  # shellcheck disable=SC2086
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

cuda="${CUDA_PATH:-/usr/local/cuda}"
if [ ! -e "$cuda/include/cuda.h" ]; then
  cat >&2 <<EOF
The CUDA Toolkit (12.0 or newer) is not at $cuda. Debian does not have it; get it from
https://developer.nvidia.com/cuda-downloads, or set CUDA_PATH to where it lies. No GPU and no driver are needed.
EOF
  exit 2
fi
