// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/file.hpp"
#include "kernel/parameter_type.hpp"
#include "kernel/source_lexer.hpp"
#include "tensor/dtype.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudal1::kernel {

// The element type that a task gives a buffer or a scalar of this C++ type; empty where it has none.
tensor::Dtype dtype_of(const ScalarType& type);
std::optional<tensor::Dtype> dtype_of(const std::string& type, const TypeNames& names);

// The tokens between the braces of `struct NAME { … }` or `typedef struct { … } NAME`.
std::optional<std::pair<std::size_t, std::size_t>> members_of(const std::vector<SourceToken>& tokens, std::string_view name);

// The layout of a structure whose members are plain, of several types; empty where a member is none of these.
std::optional<Structure> structure_of(std::string_view type, const TypeNames& names, std::string_view source);

// Element type and number of a vector type, or of a structure of the source whose members are all of one plain type and fill it.
std::optional<std::pair<tensor::Dtype, std::int64_t>> elements_of(const std::string& type, const TypeNames& names, std::string_view source);

}  // namespace cudal1::kernel
