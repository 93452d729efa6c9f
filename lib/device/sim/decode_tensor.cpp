// SPDX-License-Identifier: Apache-2.0
#include "sim/decoder.hpp"

namespace cudal1::sim {

bool Decoder::tensor(const Opcode&) { return false; }

}  // namespace cudal1::sim
