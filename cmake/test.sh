#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds cudal1 with warnings as errors and runs every test that can run on this machine; the others say why not.
# Does all of its own set-up on Debian 12 with the CUDA Toolkit. Arguments go to ctest: `sh cmake/test.sh -R unit`.
set -eu
cd "$(dirname "$0")/.."

sh cmake/install_dependencies.sh g++ cmake ninja-build pkg-config ccache scdoc libcli11-dev nlohmann-json3-dev \
  libfmt-dev libcurl4-openssl-dev libtomlplusplus-dev libexpected-dev libssl-dev libseccomp-dev libcpp-httplib-dev catch2 python3 openssl \
  bash-completion python3-torch python3-venv openssh-client openssh-server
sh cmake/install_python_packages.sh

cmake --preset gate -Wno-dev "-DCUDAL1_WARNINGS_AS_ERRORS=${WARNINGS_AS_ERRORS:-ON}"
cmake --build --preset gate
# One more than there are cores: some tests wait for servers and clocks most of their time. PyTorch has one thread, as tests run
# beside each other; nproc reads that variable too.
jobs=$(($(nproc) + 1))
OMP_NUM_THREADS=1 exec ctest --test-dir build/gate --output-on-failure -j "$jobs" "$@"
