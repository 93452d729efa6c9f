// SPDX-License-Identifier: Apache-2.0
#include "families/line_writer.hpp"

#include <fmt/format.h>

namespace cudal1::families {

// Two reductions, the second of which reads elements less what the first found: blocks make both about what they found
// themselves, and what they found is put together afterwards.
void LineWriter::choose_meeting() {
  int reductions = 0;
  const auto of = [&](int id, const char* function) { return !at(id).leaf && node(id).function == function; };
  for (std::size_t i = 0; i < region_.instances.size(); ++i) {
    const int id = static_cast<int>(i);
    if (at(id).leaf || node(id).kind != Kind::reduce) continue;
    ++reductions;
    (at(id).phase == 1 ? meeting_.first : meeting_.second) = id;
  }
  const auto [first, second] = std::pair(meeting_.first, meeting_.second);
  meeting_.powers = meeting_.centre = -1;
  if (reductions == 2 && first >= 0 && second >= 0 && node(second).function == "sum") {
    const int element = at(first).operands[0], summed = at(second).operands[0];
    const int away = of(summed, "exp") || of(summed, "square") ? at(summed).operands[0] : -1;
    if (away >= 0 && of(away, "sub") && at(away).operands[0] == element) {
      const int centre = at(away).operands[1];
      if (of(summed, "exp") && node(first).function == "max" && centre == first) meeting_.powers = summed;
      const bool scaled = (of(centre, "div") || of(centre, "mul")) && at(centre).operands[0] == first &&
                          node(at(centre).operands[1]).kind == Kind::number;
      if (of(summed, "square") && node(first).function == "sum" && scaled) meeting_.centre = centre;
    }
  }
  if (meeting_.powers < 0 && meeting_.centre < 0) meeting_.first = -1;
}

std::string LineWriter::meeting_place() const { return fmt::format("{} + line * {}", parts_, team_); }

// How many elements of a line a block of the team has.
void LineWriter::shares() {
  if (meeting_.centre < 0) return;
  line(fmt::format("const {0} share = {1} * VEC, full = {2} / share;", index_, threads_, columns_));
  line("const auto elements_of = [&](int block) {");
  line(fmt::format("  return float((full / {0} + (block < full % {0})) * share + (block == full % {0} ? {1} % share : 0));", team_, columns_));
  line("};");
}

// What stands for the first reduction while a block is on its own.
void LineWriter::stand_in() {
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

void LineWriter::give() {
  line(fmt::format("give(own{}, own{}, {}, rank);", meeting_.first, meeting_.second, meeting_place()));
}

void LineWriter::take() {
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

// A block goes on to the next line when it has given its part of one, and comes back to that one afterwards: by then the
// others have given theirs, and the line is still in the L2 cache.
void LineWriter::come_back() {
  indent_ -= 2;
  line("}");
  line("if (step >= teams) {");
  indent_ += 2;
  line(fmt::format("const {} line = step - teams;", line_index_));
  line_coordinates();
  for (std::size_t i = 0; i < region_.instances.size(); ++i) bind(static_cast<int>(i));
  line_values(0);
  early_.clear();
  for (const auto& [id, phase] : first_pass_) early_.insert(id);
  first_pass_.clear();
  kept_later_.clear();
  last_use_ = true;
}

}  // namespace cudal1::families
