// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cudal1::sim {

// What a PTX instruction becomes on the hardware, about: machine instructions of a warp by the pipe that runs them, and the
// cycles until its result can be used. The model of time works with these; nothing is executed by them.
struct InstructionCost {
  double slots = 1;      // machine instructions issued
  double fp32 = 0, integer = 0, special = 0, fp64 = 0, half = 0, memory = 0;  // of them, by pipe
  double latency = 4;
  // A warp's part of wgmma: operations of 16-bit elements that take as long on the tensor cores, and wavefronts of shared memory that
  // read its operands.
  double products = 0, operands = 0;
  double product_flops = 0;   // what the counters have of them, whatever the elements
};
InstructionCost cost_of(const std::string& opcode);

}  // namespace cudal1::sim
