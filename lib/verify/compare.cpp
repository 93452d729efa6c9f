// SPDX-License-Identifier: Apache-2.0
#include "verify/compare.hpp"

#include "base/defence.hpp"
#include "base/parallel.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cmath>
#include <functional>

#include <fmt/format.h>

namespace cudal1::verify {

namespace {

using base::Defence;
using base::defended;
using reference::Expected;

// Rows shorter than this are too noisy for a norm of their own; the largest error still covers their elements.
constexpr std::size_t shortest_slice = 32;

// Elements that one thread looks at. Parts are added up in order, so that the result does not depend on the machine.
constexpr std::size_t part_length = std::size_t{1} << 18;

struct Norms {
  double error = 0, reference_error = 0, truth = 0;        // sums of squares
  double max_error = 0, max_reference_error = 0, max_truth = 0;
  std::size_t count = 0;
  bool within_bounds = true;

  void add(const Norms& part) {
    error += part.error;
    reference_error += part.reference_error;
    truth += part.truth;
    max_error = std::max(max_error, part.max_error);
    max_reference_error = std::max(max_reference_error, part.max_reference_error);
    max_truth = std::max(max_truth, part.max_truth);
    count += part.count;
    within_bounds = within_bounds && part.within_bounds;
  }
};

// Calls work(from, to) for the parts of [0, count): on several threads where there are several parts.
void for_parts(std::size_t count, std::size_t length, const std::function<void(std::size_t, std::size_t)>& work) {
  const std::size_t parts = (count + length - 1) / length;
  if (parts <= 1) return work(0, count);
  base::in_parallel(parts, [&](std::size_t part) { work(part * length, std::min(count, (part + 1) * length)); });
}

void lower(std::atomic<std::size_t>& least, std::size_t value) {
  std::size_t known = least;
  while (value < known && !least.compare_exchange_weak(known, value)) continue;
}

double root_mean_square(const std::vector<double>& values) {
  double squares = 0;
  std::size_t finite = 0;
  for (const double value : values)
    if (std::isfinite(value)) squares += value * value, ++finite;
  return finite == 0 ? 0 : std::sqrt(squares / static_cast<double>(finite));
}

bool same_class(double truth, double got) {
  if (std::isnan(truth)) return std::isnan(got);
  if (std::isinf(truth)) return got == truth;
  return std::isfinite(got);
}

double rounded_to(tensor::Dtype dtype, double value) {
  std::byte element[8];
  tensor::store(dtype, value, element);
  return tensor::load(dtype, element);
}

outcome::WrongElement element(const Expected& expected, std::size_t index, double got) {
  outcome::WrongElement wrong;
  wrong.output = expected.output;
  wrong.expected = rounded_to(expected.dtype, expected.truth[index]);
  wrong.got = got;
  wrong.index.resize(expected.shape.size());
  auto rest = static_cast<std::int64_t>(index);
  for (std::size_t axis = expected.shape.size(); axis-- > 0;) {
    wrong.index[axis] = rest % expected.shape[axis];
    rest /= expected.shape[axis];
  }
  return wrong;
}

class Comparer {
 public:
  Comparer(const Expected& expected, const std::vector<double>& got, const std::optional<Bounds>& declared)
      : expected_(expected), got_(got), declared_(declared) {
    bounds_ = declared ? *declared : dtype_bounds(expected.dtype, root_mean_square(expected.truth));
    unit_ = tensor::unit_roundoff(expected.dtype);
  }

  Comparison run() {
    if (!defended(Defence::comparison)) return result_;
    if (defended(Defence::nan_pattern) && !same_pattern()) return result_;
    if (expected_.choice) return compare_choices();
    if (!tensor::is_floating(expected_.dtype)) return compare_exactly();
    whole_ = norms(0, got_.size(), bounds_.absolute);
    fill_figures();
    if (!defended(Defence::error_rule)) return compare_loosely();
    if (declared_) {
      if (!whole_.within_bounds) reject("an element outside the task's declared tolerance", 0, got_.size());
      return result_;
    }
    if (!acceptable(whole_, whole_)) {
      reject("the error is larger than rounding explains", 0, got_.size());
      return result_;
    }
    if (defended(Defence::slices)) check_slices();
    return result_;
  }

 private:
  bool same_pattern() {
    std::atomic<std::size_t> first = got_.size();
    for_parts(got_.size(), part_length, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        if (same_class(rounded_to(expected_.dtype, expected_.truth[i]), got_[i])) continue;
        return lower(first, i);
      }
    });
    if (const std::size_t i = first; i < got_.size()) {
      result_.right = false;
      result_.why = std::isnan(got_[i])   ? "NaN where a number was expected"
                    : std::isinf(got_[i]) ? "an infinity where a number was expected"
                                          : "a number where NaN or an infinity was expected";
      result_.first = result_.worst = element(expected_, i, got_[i]);
      result_.relative_l2 = result_.max_absolute = HUGE_VAL;
      return false;
    }
    return true;
  }

  // What flat tolerances let pass.
  Comparison compare_loosely() {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < got_.size(); ++i)
      wrong += std::fabs(got_[i] - expected_.truth[i]) > 1e-2 + 1e-2 * std::fabs(expected_.truth[i]) ? 1 : 0;
    if (wrong * 100 > got_.size()) reject("more than 1 % of the elements are off by more than 1e-2", 0, got_.size());
    return result_;
  }

  Comparison compare_exactly() {
    for (std::size_t i = 0; i < got_.size(); ++i)
      note_wrong(i, std::fabs(got_[i] - rounded_to(expected_.dtype, expected_.truth[i])), 0);
    if (!result_.right) result_.why = "integers must be equal";
    return result_;
  }

  Comparison compare_choices() {
    const Expected::Choice& choice = *expected_.choice;
    for (std::size_t i = 0; i < got_.size(); ++i) {
      if (got_[i] == expected_.truth[i]) continue;
      const auto line = static_cast<std::int64_t>(i);
      const std::int64_t start = line / choice.stride * choice.stride * choice.length + line % choice.stride;
      const auto at = [&](double index) {
        return choice.values[static_cast<std::size_t>(start + static_cast<std::int64_t>(index) * choice.stride)];
      };
      const bool exists = got_[i] >= 0 && got_[i] < static_cast<double>(choice.length);
      const double best = at(expected_.truth[i]);
      if (exists && std::fabs(at(got_[i]) - best) <= choice.slack * std::fabs(best)) continue;
      note_wrong(i, std::fabs(got_[i] - expected_.truth[i]), 0);
    }
    if (!result_.right) result_.why = "the index does not name the right element";
    return result_;
  }

  void note_wrong(std::size_t index, double error, double allowed) {
    if (error <= allowed) return;
    result_.right = false;
    if (!result_.first) result_.first = element(expected_, index, got_[index]);
    if (!result_.worst || error > result_.max_absolute) {
      result_.worst = element(expected_, index, got_[index]);
      result_.max_absolute = error;
    }
  }

  // The error that a sound computation may make in one element: the reference's, or in a sum that of one rounding of the inputs.
  double noise(std::size_t index) const {
    const double truth = expected_.truth[index];
    double result = 0;
    if (!expected_.reference.empty()) result = std::fabs(expected_.reference[index] - truth);
    if (expected_.summed && !expected_.perturbed.empty()) result = std::max(result, std::fabs(expected_.perturbed[index] - truth));
    return std::isfinite(result) ? result : 0;
  }

  Norms norms(std::size_t from, std::size_t to, double absolute) const {
    std::vector<Norms> parts((to - from) / part_length + 1);
    for_parts(to - from, part_length, [&](std::size_t begin, std::size_t end) {
      parts[begin / part_length] = sums(from + begin, from + end, absolute);
    });
    Norms result;
    for (const Norms& part : parts) result.add(part);
    result.error = std::sqrt(result.error);
    result.reference_error = std::sqrt(result.reference_error);
    result.truth = std::sqrt(result.truth);
    return result;
  }

  Norms sums(std::size_t from, std::size_t to, double absolute) const {
    Norms sums;
    sums.count = to - from;
    for (std::size_t i = from; i < to; ++i) {
      const double truth = expected_.truth[i];
      if (!std::isfinite(got_[i])) continue;  // of the right pattern already
      const double error = std::fabs(got_[i] - truth);
      const double reference_error = noise(i);
      sums.error += error * error;
      sums.reference_error += reference_error * reference_error;
      sums.truth += truth * truth;
      sums.max_error = std::max(sums.max_error, error);
      sums.max_reference_error = std::max(sums.max_reference_error, reference_error);
      sums.max_truth = std::max(sums.max_truth, std::fabs(truth));
      if (error > absolute + bounds_.relative * std::fabs(truth)) sums.within_bounds = false;
    }
    return sums;
  }

  // How many times the reference's error is still no worse: few elements, and those of few bits, scatter more, and a sum
  // of products split in three rounds √3 times as much as one of whole products.
  double factor_of(std::size_t count) const {
    return count < 1000 || expected_.summed || tensor::size_of(expected_.dtype) < 4 ? 3 : 2;
  }

  // Rule A or rule B for a slice; the whole tensor's relative noise counts where the slice's own is smaller.
  bool acceptable(const Norms& slice, const Norms& whole) const {
    if (slice.within_bounds) return true;
    const double factor = factor_of(slice.count);
    const double relative = std::max(whole.truth > 0 ? whole.reference_error / whole.truth : 0, expected_.relative_noise);
    // Errors along a row of running sums move together, so a row of the reference may be right by luck where its values
    // are small: such a row may err as an average one does, as long as that is little of the row itself.
    const double average = whole.reference_error * std::sqrt(static_cast<double>(slice.count) / static_cast<double>(whole.count));
    const double usual = std::max({slice.reference_error, relative * slice.truth, std::min(average, 4 * relative * slice.truth)});
    const double allowed = factor * usual + unit_ * slice.truth;
    // With a bound instead of a reference of its own, one element may carry several times the root mean square.
    const double peak = std::max(whole.max_reference_error, 8 * expected_.relative_noise * whole.max_truth);
    return slice.error <= allowed && slice.max_error <= factor * peak + 2 * unit_ * whole.max_truth;
  }

  // A row of small numbers is held to its own size, as far as the whole's rounding can tell.
  double absolute_bound(std::size_t from, std::size_t to) const {
    double squares = 0;
    for (std::size_t i = from; i < to; ++i) squares += std::isfinite(expected_.truth[i]) ? std::pow(expected_.truth[i], 2) : 0;
    const double rms = std::sqrt(squares / static_cast<double>(to - from));
    return std::min(bounds_.absolute,
                    std::max(dtype_bounds(expected_.dtype, rms).absolute, 2 * unit_ * whole_.max_truth));
  }

  bool acceptable_slice(std::size_t from, std::size_t to) const {
    return acceptable(norms(from, to, absolute_bound(from, to)), whole_);
  }

  void check_slices() {
    if (expected_.shape.size() < 2) return;
    const auto row = static_cast<std::size_t>(expected_.shape.back());
    const std::size_t batch = got_.size() / static_cast<std::size_t>(std::max<std::int64_t>(1, expected_.shape.front()));
    for (const std::size_t length : {row, batch}) {
      if (length < shortest_slice) continue;
      const std::size_t slices = got_.size() / length;
      std::atomic<std::size_t> wrong = slices;
      const std::size_t together = length < part_length ? part_length / length : slices;  // long ones are divided themselves
      for_parts(slices, together, [&](std::size_t begin, std::size_t end) {
        for (std::size_t slice = begin; slice < end; ++slice)
          if (!acceptable_slice(slice * length, (slice + 1) * length)) return lower(wrong, slice);
      });
      if (wrong < slices)
        return reject("a row is wrong although the whole looks right", wrong * length, (wrong + 1) * length);
    }
  }

  void fill_figures() {
    result_.max_absolute = whole_.max_error;
    result_.relative_l2 = whole_.truth > 0 ? whole_.error / whole_.truth : whole_.error;
    if (expected_.reference.empty()) return;
    double error = 0;
    for (std::size_t i = 0; i < got_.size(); ++i) {
      const double difference = std::fabs(expected_.reference[i] - expected_.truth[i]);
      if (!std::isfinite(difference)) continue;
      error += difference * difference;
      result_.reference_max_absolute = std::max(result_.reference_max_absolute, difference);
    }
    result_.reference_relative_l2 = whole_.truth > 0 ? std::sqrt(error) / whole_.truth : std::sqrt(error);
  }

  // Names the first and the worst element beyond what any rule allows; the worst of all when each alone would pass.
  void reject(const std::string& why, std::size_t from, std::size_t to) {
    result_.right = false;
    result_.why = why;
    const double peak = declared_ ? 0 : factor_of(to - from) * whole_.max_reference_error + 2 * unit_ * whole_.max_truth;
    std::size_t worst = from;
    double worst_error = -1;
    for (std::size_t i = from; i < to; ++i) {
      if (!std::isfinite(got_[i])) continue;
      const double error = std::fabs(got_[i] - expected_.truth[i]);
      if (error > worst_error) worst_error = error, worst = i;
      const double allowed = std::max(peak, bounds_.absolute + bounds_.relative * std::fabs(expected_.truth[i]));
      if (!result_.first && error > allowed) result_.first = element(expected_, i, got_[i]);
    }
    result_.worst = element(expected_, worst, got_[worst]);
    if (!result_.first) result_.first = result_.worst;
  }

  const Expected& expected_;
  const std::vector<double>& got_;
  const std::optional<Bounds>& declared_;
  Bounds bounds_;
  double unit_ = 0;
  Norms whole_;
  Comparison result_;
};

}  // namespace

Bounds dtype_bounds(tensor::Dtype dtype, double root_mean_square) {
  const double scale = std::min(1.0, root_mean_square);
  switch (dtype) {
    case tensor::Dtype::float64: return {1e-7, 1e-7 * scale};
    case tensor::Dtype::float32: return {1.3e-6, 1e-5 * scale};
    case tensor::Dtype::float16: return {1e-3, 1e-5 * scale};
    case tensor::Dtype::bfloat16: return {1.6e-2, 1e-5 * scale};
    default: return {};
  }
}

Comparison compare(const Expected& expected, const std::vector<double>& got, const std::optional<Bounds>& declared) {
  assert(expected.truth.size() == got.size());
  Comparison comparison = Comparer(expected, got, declared).run();
  if (!expected.kernelbench) return comparison;
  // |got − reference| ≤ t + t·|reference| for every element, as torch.allclose has it.
  comparison.kernelbench_tolerance = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double needed = std::fabs(got[i] - expected.reference[i]) / (1 + std::fabs(expected.reference[i]));
    comparison.kernelbench_tolerance = std::isnan(needed) ? HUGE_VAL : std::max(comparison.kernelbench_tolerance, needed);
  }
  return comparison;
}

std::optional<Bounds> declared_bounds(const kernel::File& task, const std::string& output) {
  std::optional<Bounds> bounds;
  for (const kernel::Tolerance& tolerance : task.tolerances)
    if (tolerance.output == output || (tolerance.output.empty() && !bounds))
      bounds = Bounds{tolerance.relative, tolerance.absolute};
  return bounds;
}

Bounds bounds_of(const kernel::File& task, const std::string& output, tensor::Dtype dtype,
                 const std::vector<double>& values) {
  if (const auto declared = declared_bounds(task, output)) return *declared;
  return dtype_bounds(dtype, root_mean_square(values));
}

}  // namespace cudal1::verify
