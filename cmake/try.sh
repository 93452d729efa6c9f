#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds cudal1 and makes a bundled example faster, on the simulator and with the built-in model: no GPU, no key.
# Does all of its own set-up on Debian 12 with the CUDA Toolkit.
set -eu
cd "$(dirname "$0")/.."

sh cmake/install_dependencies.sh g++ cmake ninja-build pkg-config ccache scdoc libcli11-dev nlohmann-json3-dev \
  libfmt-dev libcurl4-openssl-dev libtomlplusplus-dev libexpected-dev libssl-dev libseccomp-dev libcpp-httplib-dev

cmake --preset release -Wno-dev
cmake --build --preset release

mkdir -p build/try
exec build/release/cli/cudal1 optimize examples/diag_matmul.cu --device sim --model builtin \
  --out build/try/diag_matmul -o build/try/best.cu "$@"
