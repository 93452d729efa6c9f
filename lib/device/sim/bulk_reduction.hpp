// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/element.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cudal1::sim {

// What cp.reduce.async.bulk does with the elements of its target.
enum class BulkReduction : std::uint8_t { add, min, max, inc, dec, bit_and, bit_or, bit_xor };

std::optional<BulkReduction> parse_bulk_reduction(std::string_view name);   // "add"
bool has_bulk_reduction(BulkReduction operation, Element element);
// Of a pair that has_bulk_reduction() knows; element by element, in order.
void bulk_reduce(BulkReduction operation, Element element, std::byte* into, const std::byte* from, std::size_t bytes);

}  // namespace cudal1::sim
