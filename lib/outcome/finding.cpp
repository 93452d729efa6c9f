// SPDX-License-Identifier: Apache-2.0
#include "outcome/finding.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace cudal1::outcome {

namespace {

std::string place(int line, const std::array<std::uint32_t, 3>& block, const std::array<std::uint32_t, 3>& thread) {
  const std::string where = line > 0 ? fmt::format("line {}, ", line) : "";
  return fmt::format("{}block ({}, {}, {}), thread ({}, {}, {})", where, block[0], block[1], block[2], thread[0], thread[1],
                     thread[2]);
}

bool is_race(Finding::Kind kind) {
  return kind == Finding::Kind::shared_race || kind == Finding::Kind::global_race;
}

}  // namespace

std::string kind_name(Finding::Kind kind) {
  using Kind = Finding::Kind;
  constexpr std::array<std::pair<Kind, std::string_view>, 12> names{{
      {Kind::out_of_bounds, "out_of_bounds"},
      {Kind::misaligned, "misaligned"},
      {Kind::uninitialised, "uninitialised"},
      {Kind::shared_race, "shared_race"},
      {Kind::global_race, "global_race"},
      {Kind::divergent_barrier, "divergent_barrier"},
      {Kind::bad_warp_mask, "bad_warp_mask"},
      {Kind::division_by_zero, "division_by_zero"},
      {Kind::trap, "trap"},
      {Kind::in_flight_read, "in_flight_read"},
      {Kind::stack_overflow, "stack_overflow"},
      {Kind::other, "other"},
  }};
  for (const auto& [key, text] : names)
    if (key == kind) return std::string(text);
  return "other";
}

std::string render(const Finding& finding) {
  std::string text = fmt::format("{}: {}\n", kind_name(finding.kind), finding.message);
  text += fmt::format("  in {} at {}\n", finding.kernel.empty() ? "the kernel" : finding.kernel,
                      place(finding.line, finding.block, finding.thread));
  if (!finding.buffer.empty())
    text += fmt::format("  {} at byte offset {} (address {:#x})\n", finding.buffer, finding.offset, finding.address);
  if (is_race(finding.kind))
    text += fmt::format("  against {}\n", place(finding.other_line, finding.other_block, finding.other_thread));
  return text;
}

}  // namespace cudal1::outcome
