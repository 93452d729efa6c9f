// SPDX-License-Identifier: Apache-2.0
#include "families/row_writer.hpp"

#include <fmt/format.h>

namespace cudal1::families {

std::string RowWriter::meeting_place() const { return fmt::format("{} + line * {}", parts_, team_); }

// How many elements of a row a block of the team has.
void RowWriter::shares() {
  if (meeting_.centre < 0) return;
  line(fmt::format("const {0} share = {1} * VEC, full = {2} / share;", index_, threads_, columns_));
  line("const auto elements_of = [&](int block) {");
  line(fmt::format("  return float((full / {0} + (block < full % {0})) * share + (block == full % {0} ? {1} % share : 0));", team_, columns_));
  line("};");
}

// What stands for the first reduction while a block is on its own.
void RowWriter::stand_in() {
  const int first = meeting_.first;
  const std::string own = fmt::format("own{}", first);
  if (meeting_.powers >= 0) {
    // Where all is -inf any number will do: the powers are 0.
    line(fmt::format("const float near{0} = {1} == {2} ? 0 : {1};", first, own, neutral(node(first))));
    names_[static_cast<std::size_t>(first)] = fmt::format("near{}", first);
  } else {
    line(fmt::format("const float near{0} = elements_of(rank) > 0 ? {1} / elements_of(rank) : 0;", meeting_.centre, own));
    names_[static_cast<std::size_t>(meeting_.centre)] = fmt::format("near{}", meeting_.centre);
  }
}

void RowWriter::give() {
  line(fmt::format("give(own{}, own{}, {}, rank);", meeting_.first, meeting_.second, meeting_place()));
}

void RowWriter::take() {
  const int first = meeting_.first, second = meeting_.second;
  names_[static_cast<std::size_t>(first)] = fmt::format("v{}", first);
  names_[static_cast<std::size_t>(second)] = fmt::format("v{}", second);
  std::string call = fmt::format("take_powers<{}>({})", team_, meeting_place());
  if (meeting_.centre >= 0) {
    names_[static_cast<std::size_t>(meeting_.centre)] = fmt::format("v{}", meeting_.centre);
    const auto text = [&](int operand) { return names_[static_cast<std::size_t>(operand)]; };
    call = fmt::format("take_moments<{}>({}, elements_of, [&](float v{}) {{ {} return v{}; }})", team_, meeting_place(), first,
                       statement(meeting_.centre, text), meeting_.centre);
  }
  line(fmt::format("const float2 both = {};", call));
  line(fmt::format("const float v{} = both.x, v{} = both.y;", first, second));
  line_values(1);
  if (meeting_.powers >= 0 && kept_later_.count(meeting_.powers) != 0)
    line(fmt::format("const float again = near{0} > v{0} ? 1 : expf(near{0} - v{0});  // kept powers were about the block's own", first));
}

// A block goes on to the next row when it has given its part of one, and comes back to that one afterwards: by then the
// others have given theirs, and the row is still in the L2 cache.
void RowWriter::come_back() {
  indent_ -= 2;
  line("}");
  line("if (step >= teams) {");
  indent_ += 2;
  line(fmt::format("const {} line = step - teams;", line_index_));
  line_coordinates();
  for (std::size_t i = 0; i < region_.instances.size(); ++i) bind(static_cast<int>(i));
  line_values(0);
  early_.clear();
  for (const auto& [id, phase] : passes_.first) early_.insert(id);
  passes_.first.clear();
  kept_later_.clear();
  last_use_ = true;
}

}  // namespace cudal1::families
