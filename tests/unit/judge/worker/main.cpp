// SPDX-License-Identifier: Apache-2.0
#include "pytorch.hpp"

#include "compile/compiler.hpp"
#include "judge/judge.hpp"

#include <cstdio>
#include <string_view>

// The workers alone: `main compile` and `main device`; as a Python interpreter, `main -B -u PROGRAM`, a process of PyTorch.
int main(int argc, char** argv) {
  const std::string_view which = argc >= 2 ? argv[1] : "";
  if (which == "compile") return cudal1::compile::worker_main();
  if (which == "device") return cudal1::judge::worker_main();
  if (which == "-B") return pytorch_main();
  std::fprintf(stderr, "usage: %s compile|device\n", argv[0]);
  return 2;
}
