// SPDX-License-Identifier: Apache-2.0
#include "verify/compare.hpp"

#include "base/defence.hpp"
#include "base/parallel.hpp"
#include "tensor/rounding.hpp"
#include "verify/allclose.hpp"

#include <algorithm>
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

// Elements that one thread looks at. Parts are added up in order, so that the result does not depend on the machine.
constexpr std::size_t part_length = std::size_t{1} << 18;

struct Norms {
  double error = 0, sigma = 0, truth = 0;   // sums of squares
  double signed_error = 0, sigmas = 0;      // sums
  double max_error = 0;
  bool within_bounds = true;

  void add(const Norms& part) {
    error += part.error;
    sigma += part.sigma;
    truth += part.truth;
    signed_error += part.signed_error;
    sigmas += part.sigmas;
    max_error = std::max(max_error, part.max_error);
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
    lay_out_variances();
    measure();
    fill_figures();
    if (!defended(Defence::error_rule)) return compare_loosely();
    if (declared_) {
      if (!whole_.within_bounds) reject("an element is outside the task's declared tolerance");
      return result_;
    }
    if (!defended(Defence::slices)) result_.deviation.slice = 0;
    if (const std::string why = reference::judge(result_.deviation, leniency_); !why.empty()) reject(why);
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
    if (wrong * 100 > got_.size()) reject("more than 1 % of the elements are off by more than 1e-2");
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

  // What the square of each element's error is held to. Sigma is at least one rounding of the result. Where it was sampled it
  // is 0 where a sound error would have to cross a threshold (a ReLU's) that no sample crossed, and of few runs may be too small anywhere: then it is taken to be at least
  // a quarter of the root mean square along each axis, and of its neighbours.
  void lay_out_variances() {
    const double unit = tensor::rounding_rms * tensor::unit_roundoff(expected_.dtype);
    const double least = std::pow(reference::least_step(expected_.dtype), 2);
    variance_.resize(got_.size());
    for_parts(got_.size(), part_length, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        const double sigma = i < expected_.sigma.size() && std::isfinite(expected_.sigma[i]) ? expected_.sigma[i] : 0;
        const double rounding = std::isfinite(expected_.truth[i]) ? unit * expected_.truth[i] : 0;
        variance_[i] = std::max(sigma * sigma, rounding * rounding) + least;
      }
    });
    if (expected_.sampled && expected_.sigma.size() == got_.size()) raise_sampled();
  }

  void raise_sampled() {
    std::vector<double> floor(got_.size(), HUGE_VAL);
    const auto lower_to = [&](std::size_t count, std::size_t stride, std::size_t length, std::size_t start) {
      double sum = 0;
      for (std::size_t k = 0; k < length; ++k) sum += variance_[start + k * stride];
      const double mean = sum / static_cast<double>(count);
      for (std::size_t k = 0; k < length; ++k) floor[start + k * stride] = std::min(floor[start + k * stride], reference::floor_share * mean);
    };
    const std::size_t row = expected_.shape.empty() ? 1 : static_cast<std::size_t>(expected_.shape.back());
    for (std::size_t from = 0; row >= 2 * reference::neighbours && from < got_.size(); from += row)
      for (std::size_t k = 0; k < row; k += reference::neighbours) {
        const std::size_t length = std::min(reference::neighbours, row - k);
        lower_to(length, 1, length, from + k);
      }
    std::size_t inner = got_.size();
    for (const std::int64_t extent : expected_.shape) {
      const auto length = static_cast<std::size_t>(extent);
      inner /= std::max<std::size_t>(1, length);
      if (length < reference::shortest_slice) continue;
      for_parts(got_.size() / length, std::max<std::size_t>(1, part_length / length), [&](std::size_t from, std::size_t to) {
        for (std::size_t line = from; line < to; ++line) lower_to(length, inner, length, line / inner * inner * length + line % inner);
      });
    }
    for (std::size_t i = 0; i < got_.size(); ++i)
      if ((expected_.few_runs || expected_.sigma[i] == 0) && std::isfinite(floor[i])) variance_[i] = std::max(variance_[i], floor[i]);
  }

  double ratio(double error, double variance) const { return variance > 0 ? std::sqrt(error / variance) : error > 0 ? HUGE_VAL : 0; }

  // One pass over the rows, runs along the last axis; slices of the other axes are gathered from them.
  void measure() {
    const std::vector<std::int64_t>& shape = expected_.shape;
    const std::size_t row = shape.empty() ? 1 : std::max<std::size_t>(1, static_cast<std::size_t>(shape.back()));
    const std::size_t rows = got_.size() / row;
    struct Part {
      Norms norms;
      std::vector<std::vector<Norms>> slices;   // by axis and index
      double element = 0;
      std::size_t element_at = 0, row_at = 0;
      std::vector<std::size_t> strays;          // elements beyond their bound, at most one more than may be
      double usual = 0;                         // the largest ratio of the others
      double row = 0, row_variances = 0;        // the largest ratio; Σ of the rows' Σ sigma², squared
      double row_ratios = 0, row_squares = 0;   // Σ of the rows' ratios of error² to sigma², and of their squares
    };
    const double most_off = expected_.sampled ? std::pow(reference::element_bound * leniency_, 2) : HUGE_VAL;
    const std::size_t most_strays = std::max<std::size_t>(1, static_cast<std::size_t>(reference::stray_share * static_cast<double>(got_.size())));
    const std::size_t together = std::max({std::size_t{1}, part_length / row, rows / (4 * base::cores()) + 1});
    std::vector<Part> parts(rows / together + 1);
    for_parts(rows, together, [&](std::size_t from, std::size_t to) {
      Part& part = parts[from / together];
      for (const std::int64_t extent : shape) part.slices.emplace_back(static_cast<std::size_t>(extent));
      for (std::size_t at = from; at < to; ++at) {
        Norms norms;
        for (std::size_t k = 0; k < row; ++k) {
          const std::size_t i = at * row + k;
          const Norms one = element_norms(i);
          norms.add(one);
          if (!shape.empty()) part.slices.back()[k].add(one);
          const double off = one.error / variance_[i];
          if (off > part.element) part.element = off, part.element_at = i;
          if (off > most_off && part.strays.size() <= most_strays) part.strays.push_back(i);
          if (off <= most_off) part.usual = std::max(part.usual, off);
        }
        if (const double off = ratio(norms.error, norms.sigma); off > part.row) part.row = off, part.row_at = at;
        part.norms.add(norms);
        part.row_variances += norms.sigma * norms.sigma;
        if (norms.sigma > 0) {
          part.row_ratios += norms.error / norms.sigma;
          part.row_squares += std::pow(norms.error / norms.sigma, 2);
        }
        std::size_t rest = at;
        for (std::size_t axis = shape.size() - (shape.empty() ? 0 : 1); axis-- > 0;) {
          part.slices[axis][rest % static_cast<std::size_t>(shape[axis])].add(norms);
          rest /= static_cast<std::size_t>(shape[axis]);
        }
      }
    });
    reference::Deviation& deviation = result_.deviation;
    const Part* with_row = &parts.front();
    std::vector<std::size_t> strays;
    double usual = 0;
    double row_variances = 0, row_ratios = 0, row_squares = 0;
    for (const Part& part : parts) {
      whole_.add(part.norms);
      row_variances += part.row_variances;
      row_ratios += part.row_ratios;
      row_squares += part.row_squares;
      if (part.element > std::pow(deviation.element, 2)) deviation.element = std::sqrt(part.element), worst_ = part.element_at;
      if (part.row > with_row->row) with_row = &part;
      strays.insert(strays.end(), part.strays.begin(), part.strays.end());
      usual = std::max(usual, part.usual);
    }
    deviation.whole = ratio(whole_.error, whole_.sigma);
    if (tensor::size_of(expected_.dtype) < 4) deviation.bias = std::fabs(whole_.signed_error) / whole_.sigmas;
    deviation.count = static_cast<double>(got_.size());
    const auto independent = [&](double variances, double ratios, double squares, double slices) {
      const double share = whole_.sigma > 0 ? variances / whole_.sigma / whole_.sigma : 0;
      deviation.count = std::min(deviation.count, reference::independent_errors({share, ratios, squares, slices}));
    };
    if (shape.size() > 1) independent(row_variances, row_ratios, row_squares, static_cast<double>(rows));
    if (shape.size() > 1 && row >= reference::shortest_slice) note_slice(with_row->row, row, "row " + std::to_string(with_row->row_at));
    std::vector<double> near(strays.size(), HUGE_VAL);   // the mean variance about each, along the axis where it is least
    for (std::size_t axis = 0, inner = got_.size(); axis < shape.size(); ++axis) {
      const auto extent = static_cast<std::size_t>(shape[axis]);
      inner /= std::max<std::size_t>(1, extent);
      if (extent < 2) continue;
      double variances = 0, ratios = 0, squares = 0;
      for (std::size_t index = 0; index < extent; ++index) {
        Norms slice;
        for (const Part& part : parts)
          if (!part.slices.empty()) slice.add(part.slices[axis][index]);
        variances += slice.sigma * slice.sigma;
        const double own = slice.sigma > 0 ? slice.error / slice.sigma : 0;
        ratios += own;
        squares += own * own;
        for (std::size_t k = 0; k < strays.size() && strays.size() <= most_strays; ++k)
          if (strays[k] / inner % extent == index) near[k] = std::min(near[k], slice.sigma * static_cast<double>(extent) / static_cast<double>(got_.size()));
        if (got_.size() / extent < reference::shortest_slice) continue;
        const double off = ratio(slice.error, slice.sigma);
        if (off > deviation.slice) note_slice(off, got_.size() / extent, fmt::format("index {} of axis {}", index, axis));
      }
      independent(variances, ratios, squares, static_cast<double>(extent));
    }
    const auto is_near = [&](std::size_t k) { return std::isfinite(near[k]) && element_norms(strays[k]).error <= std::pow(reference::stray_bound * leniency_, 2) * near[k]; };
    bool all_near = !strays.empty() && strays.size() <= most_strays;
    for (std::size_t k = 0; k < strays.size() && all_near; ++k) all_near = is_near(k);
    if (all_near) deviation.element = std::sqrt(usual);
  }

  Norms element_norms(std::size_t i) const {
    Norms norms;
    if (!std::isfinite(got_[i]) || !std::isfinite(expected_.truth[i])) return norms;   // of the right pattern already
    norms.sigma = variance_[i];
    const double error = std::fabs(got_[i] - expected_.truth[i]);
    norms.error = error * error;
    norms.truth = std::pow(expected_.truth[i], 2);
    norms.signed_error = (got_[i] - expected_.truth[i]) * (expected_.truth[i] < 0 ? -1 : 1);
    norms.sigmas = std::sqrt(variance_[i]);
    norms.max_error = error;
    if (declared_) norms.within_bounds = error <= declared_->absolute + declared_->relative * std::fabs(expected_.truth[i]);
    return norms;
  }

  void note_slice(double off, std::size_t count, std::string name) {
    reference::Deviation& deviation = result_.deviation;
    if (off <= deviation.slice) return;
    deviation.slice = off;
    deviation.slice_count = count;
    deviation.slice_name = std::move(name);
  }

  void fill_figures() {
    result_.max_absolute = whole_.max_error;
    result_.relative_l2 = whole_.truth > 0 ? std::sqrt(whole_.error / whole_.truth) : std::sqrt(whole_.error);
    if (expected_.reference.empty()) return;
    double error = 0;
    for (std::size_t i = 0; i < got_.size(); ++i) {
      const double difference = std::fabs(expected_.reference[i] - expected_.truth[i]);
      if (!std::isfinite(difference)) continue;
      error += difference * difference;
      result_.reference_max_absolute = std::max(result_.reference_max_absolute, difference);
    }
    result_.reference_relative_l2 = whole_.truth > 0 ? std::sqrt(error / whole_.truth) : std::sqrt(error);
  }

  // Names the element that is off most, and the first that is off far more than its neighbours may be.
  void reject(const std::string& why) {
    result_.right = false;
    result_.why = why;
    result_.worst = element(expected_, worst_, got_[worst_]);
    const double much = std::min(std::pow(reference::element_bound * leniency_, 2), std::pow(result_.deviation.element, 2) / 4);
    for (std::size_t i = 0; i < got_.size() && !result_.first; ++i) {
      const Norms one = element_norms(i);
      if (declared_ ? !one.within_bounds : one.error > much * variance_[i]) result_.first = element(expected_, i, got_[i]);
    }
    if (!result_.first) result_.first = result_.worst;
  }

  const Expected& expected_;
  const std::vector<double>& got_;
  const std::optional<Bounds>& declared_;
  double leniency_;
  std::vector<double> variance_;   // what each element's error² is held to
  Norms whole_;
  std::size_t worst_ = 0;
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
