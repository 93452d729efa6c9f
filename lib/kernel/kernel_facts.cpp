// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel_facts.hpp"

#include "kernel/body_reader.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

std::string_view unqualified(std::string_view name) {
  const std::size_t colon = name.rfind("::");
  return colon == std::string_view::npos ? name : name.substr(colon + 2);
}

}  // namespace

BodyReader::BodyReader(const KernelSource& source, std::string_view kernel, const std::map<std::string, P>& constants,
                       const std::optional<KnownLaunch>& launch, const std::optional<std::array<std::int64_t, 3>>& block)
    : code_(source),
      tokens_(code_.tokens()),
      constants_(constants),
      launch_(launch),
      given_block_(block),
      kernel_(code_.kernel(unqualified(kernel))),
      ranges_(!launch) {}

KernelFacts BodyReader::run() {
  if (!kernel_) return std::move(facts_);
  choose_block();
  for (const auto& [name, value] : constants_) scope_[name] = number(value);
  bind_parameters();
  at_ = kernel_->body_from;
  block(kernel_->body_to);
  facts_.grid = ranges_.blocks();
  for (const std::string& name : ranges_.indices()) facts_.pointers[name].index = true;
  return std::move(facts_);
}

void BodyReader::choose_block() {
  if (launch_) return;
  const auto used = [&](std::string_view name, std::string_view axis) { return code_.names(*kernel_, name, axis); };
  const bool y = used("threadIdx", "y") || used("blockDim", "y"), z = used("threadIdx", "z") || used("blockDim", "z");
  const bool x = used("threadIdx", "x") || used("blockDim", "x");
  facts_.dimensions = z ? 3 : y ? 2 : 1;
  if (z) facts_.block = {8, 8, 4};
  else if (y) facts_.block = {16, 16, 1};
  else facts_.block = {x ? 256 : 1, 1, 1};
  if (given_block_) {
    facts_.block = *given_block_;
    return;
  }
  std::vector<std::int64_t> extents;
  for (std::size_t i = kernel_->body_from; i < kernel_->body_to; ++i) {
    if (!tokens_[i].is("__shared__")) continue;
    std::size_t k = i;
    while (k < kernel_->body_to && !tokens_[k].is("[") && !tokens_[k].is(";")) ++k;
    std::vector<std::int64_t> here;
    for (; token(k).is("["); k = matching_bracket(tokens_, k) + 1) {
      const auto value = code_.literal(k + 1, matching_bracket(tokens_, k), constants_);
      here.push_back(value.value_or(0));
    }
    if (extents.empty()) extents = here;
  }
  const auto plain = [](std::int64_t n) { return n >= 4 && n <= 1024; };
  if (facts_.dimensions == 2 && extents.size() == 2 && plain(extents[0]) && extents[0] <= 32) {
    facts_.block = {extents[0], extents[0], 1};
  } else if (facts_.dimensions == 1 && x && extents.size() == 1 && plain(extents[0]) && extents[0] % 32 == 0) {
    facts_.block = {extents[0], 1, 1};
  }
  for (std::size_t i = 0; i + 2 < kernel_->body_from; ++i)  // __launch_bounds__ right in front of it
    if (tokens_[i].is("__launch_bounds__") && kernel_->body_from - i < 200 && facts_.dimensions == 1)
      if (const auto most = code_.literal(i + 2, std::min(matching_bracket(tokens_, i + 1), i + 3), constants_); most && *most > 0) facts_.block[0] = std::min(facts_.block[0], *most);
}

void BodyReader::bind_parameters() {
  for (const auto& [name, pointer] : kernel_->parameters) {
    if (pointer) {
      scope_[name] = {Value::Kind::pointer, P(), name, 1};
      facts_.pointers[name];
    } else if (!scope_.contains(name)) {
      scope_[name] = number(P::atom(name));
    }
  }
}

Polynomial BodyReader::thread_extent(std::string_view what, std::size_t axis) const {
  const bool block = what == "blockDim";
  if (launch_) return block ? launch_->block[axis] : launch_->grid[axis];
  if (block) return P::constant(facts_.block[axis]);
  return P::atom(fmt::format("@grid.{}", "xyz"[axis]));
}

BodyReader::Value BodyReader::thread_value(const std::string& what, const std::string& axis_name) {
  const auto axis = static_cast<std::size_t>(axis_name[0] - 'x');
  if (axis > 2) return {};
  if (what == "blockDim" || what == "gridDim") return number(thread_extent(what, axis));
  const std::string name = what + "." + axis_name;
  if (ranges_.find(name) == nullptr) {
    Variable variable;
    variable.high = thread_extent(what == "threadIdx" ? "blockDim" : "gridDim", axis) - P::constant(1);
    variable.low = P();
    ranges_.declare(name, variable);
  }
  return number(P::atom(name));
}

KernelFacts kernel_facts(const KernelSource& source, std::string_view kernel, const std::map<std::string, Polynomial>& constants,
                         const std::optional<KnownLaunch>& launch, const std::optional<std::array<std::int64_t, 3>>& block) {
  return BodyReader(source, kernel, constants, launch, block).run();
}

}  // namespace cudal1::kernel
