// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/parameter_type.hpp"
#include "record/device_source.hpp"
#include "record/recording.hpp"

#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::record {

// The source with what its `__constant__` and `__device__` variables held written as their initialisers. The error says
// in one sentence which cannot be written so.
tl::expected<std::string, std::string> with_constants(const DeviceSource& source, const std::vector<Variable>& variables, const kernel::TypeNames& names);

}  // namespace cudal1::record
