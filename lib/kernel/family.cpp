// SPDX-License-Identifier: Apache-2.0
#include "kernel/complaint.hpp"
#include "kernel/plan.hpp"

#include <limits>
#include <utility>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

constexpr std::size_t member_limit = 4096;
constexpr std::size_t combination_limit = 1'000'000;

bool holds(const File& file, const Environment& member) {
  for (const Tunable& tunable : file.tunables) {
    if (tunable.condition.empty()) continue;
    auto value = tunable.condition.evaluate(member);
    if (!value) throw Complaint{std::move(value.error())};
    if (!std::visit([](auto v) { return v != decltype(v){}; }, *value)) return false;
  }
  return true;
}

std::vector<Environment> members(const File& file) {
  std::size_t combinations = 1;
  for (const Tunable& tunable : file.tunables) {
    combinations *= tunable.values.size();
    if (combinations > combination_limit)
      complain(file.name, tunable.place.line, tunable.place.column,
               fmt::format("the tunables have more than {} combinations", combination_limit), "give them fewer values");
  }
  std::vector<Environment> found;
  for (std::size_t index = 0; index < combinations; ++index) {
    Environment member;
    std::size_t rest = index;
    for (auto tunable = file.tunables.rbegin(); tunable != file.tunables.rend(); ++tunable) {
      member[tunable->name] = tunable->values[rest % tunable->values.size()];
      rest /= tunable->values.size();
    }
    if (!holds(file, member)) continue;
    if (found.size() == member_limit)
      complain(file.name, file.tunables[0].place.line, file.tunables[0].place.column,
               fmt::format("the family has more than {} members", member_limit), "prune it with `if`, or give fewer values");
    found.push_back(std::move(member));
  }
  if (found.empty())
    complain(file.name, file.tunables[0].place.line, file.tunables[0].place.column,
             "no combination of the tunables passes its `if` conditions");
  return found;
}

}  // namespace

tl::expected<std::vector<Environment>, base::Diagnostic> family(const File& file) {
  try {
    return members(file);
  } catch (Complaint& complaint) {
    complaint.diagnostic.line_text = base::line_of(file.source, complaint.diagnostic.line);
    return tl::unexpected(std::move(complaint.diagnostic));
  }
}

std::string tunable_prelude(const Environment& tunables) {
  std::string text;
  for (const auto& [name, value] : tunables) {
    const auto* integer = std::get_if<std::int64_t>(&value);
    if (integer == nullptr) continue;
    const bool narrow = *integer >= std::numeric_limits<int>::min() && *integer <= std::numeric_limits<int>::max();
    text += fmt::format("constexpr {} {} = {};\n", narrow ? "int" : "long long", name, *integer);
  }
  return text;
}

}  // namespace cudal1::kernel
