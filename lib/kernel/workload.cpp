// SPDX-License-Identifier: Apache-2.0
#include "kernel/workload.hpp"

#include "base/text.hpp"
#include "kernel/complaint.hpp"
#include "kernel/expression_node.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

bool assigns(const Assignment& assignment, const std::string& name) {
  return std::any_of(assignment.values.begin(), assignment.values.end(), [&](const auto& pair) { return pair.first == name; });
}

Assignment with(Assignment base, const SizeLine& line) {
  for (const auto& [name, value] : line.values) {
    const auto found = std::find_if(base.values.begin(), base.values.end(), [&, &wanted = name](const auto& pair) { return pair.first == wanted; });
    if (found == base.values.end())
      base.values.emplace_back(name, value);
    else
      found->second = value;
  }
  base.weight = line.weight;
  base.place = line.place;
  return base;
}

// Evaluates names on demand, so that the order of declarations does not matter.
class Evaluator {
 public:
  Evaluator(const File& file, const Assignment& assignment, const Environment& overrides) : file_(file), overrides_(overrides) {
    for (const auto& [name, value] : assignment.values) sizes_[name] = &value;
    for (const Scalar& scalar : file.scalars) scalars_[scalar.name] = &scalar;
  }

  Environment run() {
    for (const auto& [name, value] : overrides_)
      if (!sizes_.contains(name) && !scalars_.contains(name)) fail_unknown(name);
    for (const auto& [name, value] : sizes_) evaluate(name);
    for (const auto& [name, value] : scalars_) evaluate(name);
    return std::move(done_);
  }

 private:
  [[noreturn]] void fail_unknown(const std::string& name) const {
    std::vector<std::string> known;
    for (const auto& [other, value] : sizes_) known.push_back(other);
    for (const auto& [other, value] : scalars_) known.push_back(other);
    const auto near = base::nearest(name, known);
    complain(file_.name, 0, 0, fmt::format("there is no size or scalar {}", name), near ? fmt::format("did you mean `{}`?", *near) : "");
  }

  void evaluate(const std::string& name) {
    if (done_.contains(name)) return;
    const auto scalar = scalars_.find(name);
    const Expression& expression = scalar != scalars_.end() ? scalar->second->value : *sizes_.at(name);
    const auto* const at = expression.root();
    if (std::find(open_.begin(), open_.end(), name) != open_.end())
      complain(*at->file, at->line, at->column, fmt::format("{} depends on itself: {} → {}", name, fmt::join(open_, " → "), name));
    Value value;
    if (const auto found = overrides_.find(name); found != overrides_.end()) {
      value = found->second;
    } else {
      // A long chain of sizes would otherwise be as deep a recursion.
      if (open_.size() >= 200) complain(*at->file, at->line, at->column, "sizes depend on each other too deeply");
      open_.push_back(name);
      for (const std::string& needed : expression.names())
        if (sizes_.contains(needed) || scalars_.contains(needed)) evaluate(needed);
      open_.pop_back();
      value = evaluate_node(*at, done_);
    }
    done_[name] = scalar != scalars_.end() ? rounded(*scalar->second, value) : checked_size(name, value, expression);
  }

  Value checked_size(const std::string& name, const Value& value, const Expression& expression) const {
    const auto* const at = expression.root();
    const auto* integer = std::get_if<std::int64_t>(&value);
    if (integer == nullptr) complain(*at->file, at->line, at->column, fmt::format("size {} is not an integer: `{}`", name, expression.text()));
    if (*integer < 0) complain(*at->file, at->line, at->column, fmt::format("size {} is negative: `{}` is {}", name, expression.text(), *integer));
    return value;
  }

  Value rounded(const Scalar& scalar, const Value& value) const {
    const auto* const at = scalar.value.root();
    const double real = std::visit([](auto v) { return static_cast<double>(v); }, value);
    if (scalar.dtype == tensor::Dtype::int64 && !std::holds_alternative<double>(value)) return value;
    std::byte element[8] = {};
    if (tensor::is_floating(scalar.dtype)) {
      tensor::store(scalar.dtype, real, element);
      const double held = tensor::load(scalar.dtype, element);
      if (std::isfinite(held)) return held;
    } else if (!std::holds_alternative<double>(value)) {
      const std::int64_t integer = std::holds_alternative<bool>(value) ? std::get<bool>(value) : std::get<std::int64_t>(value);
      if (scalar.dtype == tensor::Dtype::bool_ && (integer == 0 || integer == 1)) return integer != 0;
      const bool is_signed = scalar.dtype != tensor::Dtype::uint8;
      const auto bits = static_cast<int>(8 * tensor::size_of(scalar.dtype)) - (is_signed ? 1 : 0);
      const std::int64_t high = (std::int64_t{1} << bits) - 1, low = is_signed ? -high - 1 : 0;
      if (scalar.dtype != tensor::Dtype::bool_ && integer >= low && integer <= high) return integer;
    }
    complain(*at->file, at->line, at->column,
             fmt::format("scalar {}: {} is not a value of {}", scalar.name, real, tensor::name(scalar.dtype)));
  }

  const File& file_;
  const Environment& overrides_;
  std::map<std::string, const Expression*> sizes_;
  std::map<std::string, const Scalar*> scalars_;
  std::vector<std::string> open_;
  Environment done_;
};

}  // namespace

std::vector<Assignment> workloads(const File& file) {
  Assignment first;
  std::vector<const SizeLine*> further;
  for (const SizeLine& line : file.sizes) {
    const bool again = std::any_of(line.values.begin(), line.values.end(), [&](const auto& pair) { return assigns(first, pair.first); });
    if (again) {
      further.push_back(&line);
      continue;
    }
    if (first.place.line == 0) first.place = line.place;
    if (line.weight != 1) first.weight = line.weight;
    first.values.insert(first.values.end(), line.values.begin(), line.values.end());
  }
  std::vector<Assignment> all = {first};
  for (const SizeLine* line : further) all.push_back(with(first, *line));
  return all;
}

std::vector<Assignment> checks(const File& file) {
  const Assignment first = workloads(file).front();
  std::vector<Assignment> all;
  for (const SizeLine& line : file.checks) all.push_back(with(first, line));
  return all;
}

tl::expected<Environment, base::Diagnostic> environment(const File& file, const Assignment& assignment, const Environment& overrides) {
  try {
    return Evaluator(file, assignment, overrides).run();
  } catch (Complaint& complaint) {
    if (complaint.diagnostic.file == file.name) complaint.diagnostic.line_text = base::line_of(file.source, complaint.diagnostic.line);
    return tl::unexpected(std::move(complaint.diagnostic));
  }
}

}  // namespace cudal1::kernel
