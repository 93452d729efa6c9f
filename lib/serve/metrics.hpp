// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docket/docket.hpp"

#include <string>

namespace cudal1::serve {

// What Prometheus reads (text format 0.0.4).
std::string metrics(const docket::Counts& counts, const std::string& version);

}  // namespace cudal1::serve
