// SPDX-License-Identifier: Apache-2.0
#include "sim/shadow.ipp"

namespace cudal1::sim {
ShadowHandlers shadow_handlers_avx2() { return shadow_handlers(); }
}  // namespace cudal1::sim
