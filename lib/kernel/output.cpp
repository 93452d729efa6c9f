// SPDX-License-Identifier: Apache-2.0
#include "kernel/output.hpp"

#include "kernel/host_launcher.hpp"
#include "kernel/substitute.hpp"

#include <fmt/format.h>

namespace cudal1::kernel {

std::string output_file(const File& task, const File& answer, const Environment& tunables) {
  File whole = answer;
  whole.task = task.task;
  whole.torch = task.torch;
  whole.sizes = task.sizes;
  whole.checks = task.checks;
  whole.scalars = task.scalars;
  whole.buffers = task.buffers;
  whole.tolerances = task.tolerances;
  whole.includes = task.includes;
  whole.options = task.options;
  whole = with_tunables_fixed(std::move(whole), tunables);

  std::string constants = tunable_prelude(tunables);
  if (!constants.empty()) constants += "\n";
  return fmt::format("{}\n{}{}\n#ifndef __CUDACC_RTC__\n{}#endif  // __CUDACC_RTC__\n", print(whole), constants, code(answer), host_launcher(whole));
}

}  // namespace cudal1::kernel
