// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "record/recording.hpp"

#include <cstddef>
#include <string>

#include <tl/expected.hpp>

namespace cudal1::record {

// A parameter passed by value that a launch line cannot write, a structure or an enumeration: it leaves the kernel's list
// and becomes a variable in its body that holds the recorded bytes. `count` parameters tell overloads apart. The error
// says in one sentence why the source could not be changed so.
tl::expected<std::string, std::string> with_fixed_parameter(const std::string& source, const std::string& kernel, std::size_t count,
                                                            std::size_t index, const Bytes& value);

}  // namespace cudal1::record
