// SPDX-License-Identifier: Apache-2.0
#include "families/variant.hpp"

namespace cudal1::families {

std::string label(const Variant& variant) {
  using V = Variant;
  if (variant.simple) return "plain";
  if (!variant.fused) return "unfused";
  const std::string streamed = variant.streamed ? "streamed" : "";
  const auto both = [](const std::string& a, const std::string& b) { return a.empty() || b.empty() ? a + b : a + " " + b; };
  if (variant.wide) return both("wide", streamed);
  if (variant.warpgroups()) return "warpgroups";
  if (variant.products == V::Products::by_cost) return "by cost";
  if (variant.products == V::Products::tensor_cores) return variant.windows == V::Windows::gathered ? "tensor cores, gathered" : "tensor cores";
  switch (variant.rows) {
    case V::Rows::reread: return "reread";
    case V::Rows::prefetched: return "ahead";
    case V::Rows::team: return both(streamed, "teams");
    case V::Rows::team_meeting_once: return "teams that meet once";
    case V::Rows::team_trailing: return "trailing teams";
    case V::Rows::kept: break;
  }
  switch (variant.split) {
    case V::Split::never: return "unsplit";
    case V::Split::apart: return "reductions apart";
    case V::Split::totals: return "totals";
    case V::Split::when_few: break;
  }
  if (variant.windows == V::Windows::by_columns) return "columns";
  if (variant.windows == V::Windows::direct) return "direct";
  if (variant.columns == V::Columns::packed) return "packed columns";
  if (variant.attention == V::Attention::three_steps) return "three steps";
  return variant.streamed ? streamed : "fused";
}

}  // namespace cudal1::families
