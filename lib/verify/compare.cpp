// SPDX-License-Identifier: Apache-2.0
#include "verify/compare.hpp"

#include "base/defence.hpp"
#include "tensor/rounding.hpp"
#include "verify/allclose.hpp"
#include "verify/deviations.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>

namespace cudal1::verify {

namespace {

using base::Defence;
using base::defended;
using reference::Expected;

void lower(std::atomic<std::size_t>& least, std::size_t value) {
  std::size_t known = least;
  while (value < known && !least.compare_exchange_weak(known, value)) continue;
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
  Comparer(const Expected& expected, const std::vector<double>& got, const std::optional<Bounds>& declared, double leniency)
      : expected_(expected), got_(got), declared_(declared), leniency_(leniency) {}

  Comparison run() {
    if (!defended(Defence::comparison)) return result_;
    if (defended(Defence::nan_pattern) && !same_pattern()) return result_;
    if (expected_.choice) return compare_choices();
    if (!tensor::is_floating(expected_.dtype)) return compare_exactly();
    if (got_.empty()) return result_;
    const Deviations deviations(expected_, got_, declared_, leniency_);
    result_.deviation = deviations.deviation();
    fill_figures(deviations.whole());
    if (!defended(Defence::error_rule)) return compare_loosely(deviations);
    if (declared_) {
      if (!deviations.whole().within_bounds) reject(deviations, "an element is outside the task's declared tolerance");
      return result_;
    }
    if (!defended(Defence::slices)) result_.deviation.slice = 0;
    if (const std::string why = reference::judge(result_.deviation, leniency_); !why.empty()) reject(deviations, why);
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
  Comparison compare_loosely(const Deviations& deviations) {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < got_.size(); ++i)
      wrong += std::fabs(got_[i] - expected_.truth[i]) > 1e-2 + 1e-2 * std::fabs(expected_.truth[i]) ? 1 : 0;
    if (wrong * 100 > got_.size()) reject(deviations, "more than 1 % of the elements are off by more than 1e-2");
    return result_;
  }

  Comparison compare_exactly() {
    for (std::size_t i = 0; i < got_.size(); ++i) {
      const bool sound = std::any_of(expected_.alternatives.begin(), expected_.alternatives.end(),
                                     [&](const std::vector<double>& run) { return run[i] == got_[i]; });
      if (!sound) note_wrong(i, std::fabs(got_[i] - rounded_to(expected_.dtype, expected_.truth[i])), 0);
    }
    if (!result_.right) result_.why = "integers must be equal";
    return result_;
  }

  Comparison compare_choices() {
    const Expected::Choice& choice = *expected_.choice;
    for (std::size_t i = 0; i < got_.size(); ++i) {
      if (got_[i] == expected_.truth[i]) continue;
      const auto line = static_cast<std::int64_t>(i);
      const std::int64_t start = line / choice.stride * choice.stride * choice.length + line % choice.stride;
      const auto at = [&](const std::vector<double>& values, double index) {
        return values[static_cast<std::size_t>(start + static_cast<std::int64_t>(index) * choice.stride)];
      };
      const bool exists = got_[i] >= 0 && got_[i] < static_cast<double>(choice.length) && got_[i] == std::floor(got_[i]);
      const auto doubt = [&](double index) { return choice.sigma.empty() ? 0 : reference::slice_bound * at(choice.sigma, index); };
      if (exists && std::fabs(at(choice.values, got_[i]) - at(choice.values, expected_.truth[i])) <= doubt(got_[i]) + doubt(expected_.truth[i])) continue;
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

  void fill_figures(const Norms& whole) {
    result_.max_absolute = whole.max_error;
    result_.relative_l2 = whole.truth > 0 ? std::sqrt(whole.error / whole.truth) : std::sqrt(whole.error);
    if (expected_.reference.empty()) return;
    double error = 0;
    for (std::size_t i = 0; i < got_.size(); ++i) {
      const double difference = std::fabs(expected_.reference[i] - expected_.truth[i]);
      if (!std::isfinite(difference)) continue;
      error += difference * difference;
      result_.reference_max_absolute = std::max(result_.reference_max_absolute, difference);
    }
    result_.reference_relative_l2 = whole.truth > 0 ? std::sqrt(error / whole.truth) : std::sqrt(error);
  }

  // Names the element that is off most, and the first that is off far more than its neighbours may be.
  void reject(const Deviations& deviations, const std::string& why) {
    const std::size_t worst = deviations.worst();
    result_.right = false;
    result_.why = why;
    result_.worst = element(expected_, worst, got_[worst]);
    const double much = std::min(std::pow(reference::element_bound * leniency_, 2), std::pow(result_.deviation.element, 2) / 4);
    for (std::size_t i = 0; i < got_.size() && !result_.first; ++i) {
      const Norms one = deviations.of(i);
      if (declared_ ? !one.within_bounds : one.error > much * one.sigma) result_.first = element(expected_, i, got_[i]);
    }
    if (!result_.first) result_.first = result_.worst;
  }

  const Expected& expected_;
  const std::vector<double>& got_;
  const std::optional<Bounds>& declared_;
  double leniency_;
  Comparison result_;
};

}  // namespace

Comparison compare(const Expected& expected, const std::vector<double>& got, const std::optional<Bounds>& declared, double leniency) {
  assert(expected.truth.size() == got.size());
  Comparison comparison = Comparer(expected, got, declared, leniency).run();
  if (expected.kernelbench) comparison.kernelbench_tolerance = allclose_tolerance(expected.reference, got);
  return comparison;
}

void name_in_whole(Comparison& comparison, const reference::Part& part) {
  for (auto* element : {&comparison.first, &comparison.worst}) {
    if (!*element) continue;
    std::int64_t& index = (*element)->index[static_cast<std::size_t>(part.axis)];
    index = part.indices[static_cast<std::size_t>(index)];
  }
}

}  // namespace cudal1::verify
