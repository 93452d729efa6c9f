// SPDX-License-Identifier: Apache-2.0
#include "verify/deviations.hpp"

#include "base/parallel.hpp"
#include "tensor/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace cudal1::verify {

namespace {

double ratio(double error, double variance) { return variance > 0 ? std::sqrt(error / variance) : error > 0 ? HUGE_VAL : 0; }

}  // namespace

void for_parts(std::size_t count, std::size_t length, const std::function<void(std::size_t, std::size_t)>& work) {
  const std::size_t parts = (count + length - 1) / length;
  if (parts <= 1) return work(0, count);
  base::in_parallel(parts, [&](std::size_t part) { work(part * length, std::min(count, (part + 1) * length)); });
}

struct Deviations::Part {
  Norms norms;
  std::vector<std::vector<Norms>> slices;   // by axis and index
  double element = 0;
  std::size_t element_at = 0, row_at = 0;
  std::vector<std::size_t> strays;          // elements beyond their bound, at most one more than may be
  double usual = 0;                         // the largest ratio of the others
  double row = 0, row_variances = 0;        // the largest ratio; Σ of the rows' Σ sigma², squared
  double row_ratios = 0, row_squares = 0;   // Σ of the rows' ratios of error² to sigma², and of their squares
};

Deviations::Deviations(const reference::Expected& expected, const std::vector<double>& got, const std::optional<Bounds>& declared, double leniency)
    : expected_(expected), got_(got), declared_(declared), leniency_(leniency),
      most_off_(expected.sampled ? std::pow(reference::element_bound * leniency, 2) : HUGE_VAL),
      most_strays_(std::max<std::size_t>(1, static_cast<std::size_t>(reference::stray_share * static_cast<double>(got.size())))) {
  lay_out_variances();
  measure();
}

// One pass over the rows, runs along the last axis; slices of the other axes are gathered from them.
void Deviations::measure() {
  const std::size_t row = row_length(), rows = got_.size() / row;
  const std::size_t together = std::max({std::size_t{1}, part_length / row, rows / (4 * base::cores()) + 1});
  std::vector<Part> parts(rows / together + 1);
  for_parts(rows, together, [&](std::size_t from, std::size_t to) {
    Part& part = parts[from / together];
    for (const std::int64_t extent : expected_.shape) part.slices.emplace_back(static_cast<std::size_t>(extent));
    for (std::size_t at = from; at < to; ++at) measure_row(at, part);
  });
  std::vector<std::size_t> strays;
  add(parts, strays);
  std::vector<double> near(strays.size(), HUGE_VAL);   // the mean variance about each, along the axis where it is least
  compare_slices(parts, strays, near);
  const auto is_near = [&](std::size_t k) { return std::isfinite(near[k]) && of(strays[k]).error <= std::pow(reference::stray_bound * leniency_, 2) * near[k]; };
  bool all_near = !strays.empty() && strays.size() <= most_strays_;
  for (std::size_t k = 0; k < strays.size() && all_near; ++k) all_near = is_near(k);
  if (all_near) deviation_.element = std::sqrt(usual_);
}

void Deviations::measure_row(std::size_t at, Part& part) const {
  const std::vector<std::int64_t>& shape = expected_.shape;
  const std::size_t row = row_length();
  Norms norms;
  double kept = 0;   // of the errors, without strays: whether these are right is decided of each
  for (std::size_t k = 0; k < row; ++k) {
    const std::size_t i = at * row + k;
    const Norms one = of(i);
    norms.add(one);
    if (!shape.empty()) part.slices.back()[k].add(one);
    const double off = one.error / variance_[i];
    if (off > part.element) part.element = off, part.element_at = i;
    if (off > most_off_ && part.strays.size() <= most_strays_) part.strays.push_back(i);
    if (off <= most_off_) part.usual = std::max(part.usual, off), kept += one.error;
  }
  if (const double off = slice_ratio(kept, norms); off > part.row) part.row = off, part.row_at = at;
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

// The whole, and its rows.
void Deviations::add(const std::vector<Part>& parts, std::vector<std::size_t>& strays) {
  const Part* with_row = &parts.front();
  double row_variances = 0, row_ratios = 0, row_squares = 0;
  for (const Part& part : parts) {
    whole_.add(part.norms);
    row_variances += part.row_variances;
    row_ratios += part.row_ratios;
    row_squares += part.row_squares;
    if (part.element > std::pow(deviation_.element, 2)) deviation_.element = std::sqrt(part.element), worst_ = part.element_at;
    if (part.row > with_row->row) with_row = &part;
    strays.insert(strays.end(), part.strays.begin(), part.strays.end());
    usual_ = std::max(usual_, part.usual);
  }
  deviation_.whole = ratio(whole_.error, whole_.sigma);
  if (tensor::size_of(expected_.dtype) < 4) {
    deviation_.bias = std::fabs(whole_.signed_error) / whole_.sigmas;
    deviation_.alike = alike();
  }
  deviation_.count = static_cast<double>(got_.size());
  const std::size_t row = row_length();
  if (expected_.shape.size() <= 1) return;
  limit_count(row_variances, row_ratios, row_squares, static_cast<double>(got_.size() / row));
  if (row >= reference::shortest_slice) note_slice(with_row->row, row, "row " + std::to_string(with_row->row_at));
}

double Deviations::alike() const {
  std::map<double, double> times;
  const std::size_t step = got_.size() / reference::looked_at_alike | 1;   // odd, so that it meets all columns of rows whose length is a power of two
  for (std::size_t i = 0; i < got_.size(); i += step)
    if (const double value = rounded(expected_.truth[i]); std::isfinite(value) && value != 0) ++times[value];
  double squares = 0, sum = 0;
  for (const auto& [value, count] : times) squares += count * count, sum += count;
  return sum > 0 ? squares / sum / sum : 0;
}

// To the output's type.
double Deviations::rounded(double value) const {
  std::byte bytes[8];
  tensor::store(expected_.dtype, value, bytes);
  return tensor::load(expected_.dtype, bytes);
}

void Deviations::compare_slices(const std::vector<Part>& parts, const std::vector<std::size_t>& strays, std::vector<double>& near) {
  const std::vector<std::int64_t>& shape = expected_.shape;
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
      for (std::size_t k = 0; k < strays.size() && strays.size() <= most_strays_; ++k)
        if (strays[k] / inner % extent == index) near[k] = std::min(near[k], slice.sigma * static_cast<double>(extent) / static_cast<double>(got_.size()));
      if (got_.size() / extent < reference::shortest_slice) continue;
      const double off = slice_ratio(slice.error, slice);
      if (off > deviation_.slice) note_slice(off, got_.size() / extent, fmt::format("index {} of axis {}", index, axis));
    }
    limit_count(variances, ratios, squares, static_cast<double>(extent));
  }
}

// Errors that go together count as fewer.
void Deviations::limit_count(double variances, double ratios, double squares, double slices) {
  const double share = whole_.sigma > 0 ? variances / whole_.sigma / whole_.sigma : 0;
  deviation_.count = std::min(deviation_.count, reference::independent_errors({share, ratios, squares, slices}));
}

// What the square of each element's error is held to. Sigma is at least one rounding of the result. Where it was sampled it
// is 0 where a sound error would have to cross a threshold (a ReLU's) that no sample crossed, and of few runs may be too small anywhere: then it is taken to be at least
// a quarter of the root mean square along each axis, and of its neighbours.
void Deviations::lay_out_variances() {
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

void Deviations::raise_sampled() {
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

Norms Deviations::of(std::size_t i) const {
  Norms norms;
  if (!std::isfinite(got_[i]) || !std::isfinite(expected_.truth[i])) return norms;   // of the right pattern already
  norms.sigma = variance_[i];
  norms.sigma_fourth = variance_[i] * variance_[i];
  const double error = std::fabs(got_[i] - expected_.truth[i]);
  norms.error = error * error;
  norms.truth = std::pow(expected_.truth[i], 2);
  // What is rounded alike is off in one direction by chance: a sigmoid's numbers just below 1.
  if (tensor::size_of(expected_.dtype) < 4) norms.signed_error = (got_[i] - rounded(expected_.truth[i])) * (expected_.truth[i] < 0 ? -1 : 1);
  norms.sigmas = std::sqrt(variance_[i]);
  norms.max_error = error;
  if (declared_) norms.within_bounds = error <= declared_->absolute + declared_->relative * std::fabs(expected_.truth[i]);
  return norms;
}

// A slice whose variance is that of a few elements is held to what they are. So is one of few elements (shortest_slice).
double Deviations::slice_ratio(double error, const Norms& slice) const {
  const double off = ratio(error, slice.sigma);
  if (!expected_.sampled || slice.sigma_fourth <= 0) return off;
  const double elements = slice.sigma * slice.sigma / slice.sigma_fourth;   // that count
  return off * std::sqrt(std::min(1.0, elements / static_cast<double>(reference::shortest_slice)));
}

void Deviations::note_slice(double off, std::size_t count, std::string name) {
  if (off <= deviation_.slice) return;
  deviation_.slice = off;
  deviation_.slice_count = count;
  deviation_.slice_name = std::move(name);
}

}  // namespace cudal1::verify
