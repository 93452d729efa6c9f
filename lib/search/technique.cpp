// SPDX-License-Identifier: Apache-2.0
#include "search/technique.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace cudal1::search {

namespace {

bool any_in(std::string_view text, const std::vector<std::string_view>& parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace

bool Technique::used_by(const Variant& variant) const {
  if (!marks.empty()) return any_in(variant.source, marks);
  return std::any_of(variant.techniques.begin(), variant.techniques.end(),
                     [&](const std::string& label) { return any_in(lower(label), words); });
}

const std::vector<Technique>& techniques() {
  static const std::vector<Technique> list = {
      {outcome::Technique::algebra, {}, {"algebra"}},
      {outcome::Technique::fusion, {}, {"fusion", "fused"}},
      {outcome::Technique::coalesced_access, {}, {"coalesc"}},
      {outcome::Technique::vectorised_access, {"float4", "float2", "int4", "int2", ".v4.", ".v2.", "half2", "bfloat162"}, {}},
      {outcome::Technique::shared_memory_tiling, {"__shared__"}, {}},
      {outcome::Technique::register_tiling, {}, {"register tiling", "register tile", "register block"}},
      {outcome::Technique::warp_reduction, {"__shfl", "__reduce_"}, {}},
      {outcome::Technique::tensor_cores, {"mma.sync", "wgmma", "wmma::"}, {}},
      {outcome::Technique::asynchronous_copy, {"cp.async", "memcpy_async"}, {}},
      {outcome::Technique::launch_configuration, {}, {"launch config", "occupancy", "persistent", "block size", "work balanc"}},
  };
  return list;
}

}  // namespace cudal1::search
