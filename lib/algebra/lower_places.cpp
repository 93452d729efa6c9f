// SPDX-License-Identifier: Apache-2.0
#include "algebra/lowering.hpp"

#include "algebra/not_covered.hpp"

#include <algorithm>

#include <fmt/format.h>

// Operations that put elements to other places, or to several: parts side by side, and shapes with repeated dimensions.
namespace cudal1::algebra {
namespace {

tensor::Extent minus(const tensor::Extent& a, const tensor::Extent& b) {
  tensor::Extent result{fmt::format("{} - {}", a.text, in_parentheses(b.text)), a.values};
  for (std::size_t i = 0; i < result.values.size(); ++i) result.values[i] -= b.values[i];
  return result;
}

bool is_zero_everywhere(const tensor::Extent& extent) {
  return std::all_of(extent.values.begin(), extent.values.end(), [](std::int64_t value) { return value == 0; });
}

// `dim` padded by `before` and `after` elements.
int padded(Lowering& l, int operand, std::size_t dim, const tensor::Extent& before, const tensor::Extent& after) {
  const tensor::Extent none = literal(0, l.assignments()), one = l.one(), extent = l.at(operand).shape[dim];
  const std::string mode = l.word("mode");
  const auto part = [&](const tensor::Extent& count, bool front) {
    tensor::Shape shape = l.at(operand).shape;
    shape[dim] = count;
    if (mode == "reflect") return l.slice(operand, dim, front ? count : minus(extent, literal(2, l.assignments())), count, -1);
    if (mode == "circular") return l.slice(operand, dim, front ? minus(extent, count) : none, count);
    if (mode == "replicate") return l.expand(l.slice(operand, dim, front ? none : minus(extent, one), one), shape);
    return l.expand(l.literal_number(l.given("value") ? l.number_of("value") : 0, l.at(operand).dtype), shape);
  };
  std::vector<int> parts;
  if (!is_zero_everywhere(before)) parts.push_back(part(before, true));
  parts.push_back(operand);
  if (!is_zero_everywhere(after)) parts.push_back(part(after, false));
  return l.cat(parts, dim);
}

int pad(Lowering& l) {
  int result = l.input();
  const std::size_t rank = l.type().shape.size();
  const auto pads = l.extents("pad");
  for (const tensor::Extent& each : pads)
    if (std::any_of(each.values.begin(), each.values.end(), [](std::int64_t value) { return value < 0; })) throw NotCovered{"padding that takes elements away"};
  for (std::size_t i = 0; i < pads.size() / 2; ++i) result = padded(l, result, rank - 1 - i, pads[2 * i], pads[2 * i + 1]);
  return result;
}

int roll(Lowering& l) {
  int result = l.input();
  const std::vector<int> dims = l.order("dims", l.type().shape.size());
  const auto shifts = l.extents("shifts", dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto dim = static_cast<std::size_t>(dims[i]);
    const tensor::Extent extent = l.at(result).shape[dim], none = literal(0, l.assignments());
    if (is_zero_everywhere(shifts[i])) continue;
    tensor::Extent shift = shifts[i];
    if (std::all_of(shift.values.begin(), shift.values.end(), [](std::int64_t value) { return value < 0; })) shift = plus(extent, shift);
    for (std::size_t k = 0; k < shift.values.size(); ++k)
      if (shift.values[k] < 0 || shift.values[k] >= extent.values[k]) throw NotCovered{"torch.roll by more than the dimension has"};
    const tensor::Extent kept = minus(extent, shift);
    result = l.cat({l.slice(result, dim, kept, shift), l.slice(result, dim, none, kept)}, dim);
  }
  return result;
}

// Every element of `dim`, `count` times side by side or, as a whole, one after the other.
int repeated(Lowering& l, int operand, std::size_t dim, const tensor::Extent& count, bool side_by_side) {
  if (is_one(count)) return operand;
  tensor::Shape shape = l.at(operand).shape;
  const auto at = static_cast<std::ptrdiff_t>(dim) + (side_by_side ? 1 : 0);
  shape.insert(shape.begin() + at, l.one());
  const int apart = l.reshape(operand, shape);
  shape[static_cast<std::size_t>(at)] = count;
  const int many = l.expand(apart, shape);
  shape.erase(shape.begin() + at);
  shape[dim] = times(shape[dim], count);
  return l.reshape(many, shape);
}

int repeat_interleave(Lowering& l) {
  return repeated(l, l.input(), l.axis(l.type().shape.size()), l.extent("repeats"), true);
}

int repeat(Lowering& l) {
  const std::size_t rank = l.type().shape.size(), own = l.at(l.input()).shape.size();
  const auto counts = l.extents("repeats", rank);
  tensor::Shape shape = l.at(l.input()).shape;
  shape.insert(shape.begin(), rank - own, l.one());
  int result = l.reshape(l.input(), shape);
  for (std::size_t i = 0; i < rank; ++i) result = repeated(l, result, i, counts[i], false);
  return result;
}

int interpolate(Lowering& l) {
  int result = l.input();
  const tensor::Shape in = l.at(result).shape, out = l.type().shape;
  for (std::size_t i = 2; i < out.size(); ++i) {
    if (in[i] == out[i]) continue;
    const std::int64_t factor = out[i].values[0] / in[i].values[0];
    const bool whole = !l.given("scale_factor") || l.number_of("scale_factor") == static_cast<double>(factor);
    for (std::size_t k = 0; k < out[i].values.size(); ++k)
      if (!whole || out[i].values[k] != in[i].values[k] * factor) throw NotCovered{"torch.interpolate by a factor that is not whole"};
    result = repeated(l, result, i, literal(factor, l.assignments()), true);
  }
  return result;
}

// [..., c * r * r, h, w] and [..., c, h * r, w * r].
int shuffle(Lowering& l, bool up) {
  const tensor::Extent r = l.extent(up ? "upscale_factor" : "downscale_factor");
  const tensor::Shape coarse = up ? l.at(l.input()).shape : l.type().shape, fine = up ? l.type().shape : l.at(l.input()).shape;
  const std::size_t c = fine.size() - 3;
  tensor::Shape shape(fine.begin(), fine.begin() + static_cast<std::ptrdiff_t>(c));
  std::vector<int> dims;
  for (std::size_t i = 0; i < c; ++i) dims.push_back(static_cast<int>(i));
  const int at = static_cast<int>(c);
  if (up) {
    shape.insert(shape.end(), {fine[c], r, r, coarse[c + 1], coarse[c + 2]});
    dims.insert(dims.end(), {at, at + 3, at + 1, at + 4, at + 2});
  } else {
    shape.insert(shape.end(), {fine[c], coarse[c + 1], r, coarse[c + 2], r});
    dims.insert(dims.end(), {at, at + 2, at + 4, at + 1, at + 3});
  }
  return l.reshape(l.permute(l.reshape(l.input(), shape), dims), l.type().shape);
}

}  // namespace

std::vector<LoweringRow> place_lowerings() {
  return {{"pad", pad}, {"roll", roll}, {"repeat", repeat}, {"repeat_interleave", repeat_interleave}, {"interpolate", interpolate},
          {"pixel_shuffle", [](Lowering& l) { return shuffle(l, true); }}, {"pixel_unshuffle", [](Lowering& l) { return shuffle(l, false); }}};
}

}  // namespace cudal1::algebra
