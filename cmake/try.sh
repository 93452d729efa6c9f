#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds cudal1 and makes a bundled example faster, on the simulator and with the built-in model: no GPU, no key.
# Does all of its own set-up on Debian 12 with the CUDA Toolkit.
set -eu
cd "$(dirname "$0")/.."

sh cmake/install_dependencies.sh g++ cmake ninja-build pkg-config ccache scdoc libcli11-dev nlohmann-json3-dev \
  libfmt-dev libcurl4-openssl-dev libtomlplusplus-dev libexpected-dev libssl-dev libseccomp-dev libcpp-httplib-dev catch2

# A compiler newer than Debian 12's may have new warnings: WARNINGS_AS_ERRORS=OFF sh cmake/try.sh builds in spite of them.
# In the folder of cmake/test.sh, which then has only the tests left to build. `program` is what `cmake --install build/gate` needs.
cmake --preset gate -Wno-dev "-DCUDAL1_WARNINGS_AS_ERRORS=${WARNINGS_AS_ERRORS:-ON}"
cmake --build --preset gate --target program

mkdir -p build/try
exec build/gate/cli/cudal1 optimize examples/diag_matmul.cu --device sim --model builtin \
  --out build/try/diag_matmul -o build/try/best.cu "$@"
