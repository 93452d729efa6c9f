// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "record/wire.hpp"

namespace cudal1::runtime {

// Where a `__device__` or `__constant__` variable lies, by the address that the host code knows; address 0: unknown.
record::wire::Place symbol_place(const void* host);

}  // namespace cudal1::runtime
