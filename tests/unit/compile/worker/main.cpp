// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "compile/compiler.hpp"

#include <cstdio>

int main() {
  try {
    return cudal1::compile::worker_main();
  } catch (const cudal1::base::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
