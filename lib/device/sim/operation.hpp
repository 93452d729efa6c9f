// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/program.hpp"

#include <string>
#include <unordered_map>

namespace cudal1::sim {

// One instruction the interpreter knows: how its operands look and who runs it. The shape has one letter per operand in
// PTX's order: the bytes of an element ('1' '2' '4' '8' 'q' for 16), or 'p' for a predicate; the first is the destination.
struct Operation {
  std::string shape;
  Handler full = nullptr, partial = nullptr;
};

// Names are PTX opcodes in their shortest form (see canonical.hpp); names that begin with '_' are the decoder's own.
using Operations = std::unordered_map<std::string, Operation>;

// The same operations compiled for this processor: AVX2 with FMA where it has them, else the baseline.
const Operations& operations();

}  // namespace cudal1::sim
