// SPDX-License-Identifier: Apache-2.0
#include "sim/shadow.ipp"

namespace cudal1::sim {
ShadowHandlers shadow_handlers_baseline() { return shadow_handlers(); }
}  // namespace cudal1::sim
