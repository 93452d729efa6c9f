// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/element_type.hpp"
#include "tensor/dtype.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace cudal1::record {

// What the elements behind a pointer are made of: of `float4*` float32, of a structure the type of its members where they
// are all alike. Empty where nothing is known.
std::optional<tensor::Dtype> element_type(std::string_view type, const kernel::TypeNames& names, std::string_view source);

// The same for the pointer that lies so many bytes into a structure.
std::optional<tensor::Dtype> member_element_type(std::string_view structure, std::size_t offset, const kernel::TypeNames& names, std::string_view source);

// What bytes of which nothing else is known look like: float32, or int32.
tensor::Dtype likely_type(std::span<const std::byte> bytes);

}  // namespace cudal1::record
