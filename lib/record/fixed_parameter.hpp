// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "record/recording.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::record {

// A pointer in such a parameter, so many bytes into it.
struct PassedPointer {
  std::size_t offset = 0;
  std::string name;
};

// A parameter passed by value that a launch line cannot write, a structure or an enumeration: it leaves the kernel's list
// and becomes a variable in its body that holds the recorded bytes. What of it points to device memory is passed by itself,
// as parameters at the list's end. `count` parameters tell overloads apart. The error
// says in one sentence why the source could not be changed so.
tl::expected<std::string, std::string> with_fixed_parameter(const std::string& source, const std::string& kernel, std::size_t count,
                                                            std::size_t index, const Bytes& value, const std::vector<PassedPointer>& pointers = {});

}  // namespace cudal1::record
