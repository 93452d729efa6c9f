// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/rule.hpp"
#include "reference/truth.hpp"
#include "verify/compare.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::verify {

// Of some elements.
struct Norms {
  double error = 0, sigma = 0, truth = 0;   // sums of squares
  double sigma_fourth = 0;                  // sum of fourth powers
  double signed_error = 0, sigmas = 0;      // sums
  double max_error = 0;
  bool within_bounds = true;

  void add(const Norms& part) {
    error += part.error;
    sigma += part.sigma;
    sigma_fourth += part.sigma_fourth;
    truth += part.truth;
    signed_error += part.signed_error;
    sigmas += part.sigmas;
    max_error = std::max(max_error, part.max_error);
    within_bounds = within_bounds && part.within_bounds;
  }
};

// How far outputs are from what is expected of them, measured in the sigma of sound errors. All elements have to be finite where the
// expected ones are.
class Deviations {
 public:
  // `declared` are the task's own bounds, if it has any.
  Deviations(const reference::Expected& expected, const std::vector<double>& got, const std::optional<Bounds>& declared, double leniency);

  const reference::Deviation& deviation() const { return deviation_; }
  const Norms& whole() const { return whole_; }
  std::size_t worst() const { return worst_; }  // the element that is off most
  Norms of(std::size_t element) const;

 private:
  struct Part;

  void lay_out_variances();
  void raise_sampled();
  void measure();
  void measure_row(std::size_t at, Part& part) const;
  void add(const std::vector<Part>& parts, std::vector<std::size_t>& strays);
  void compare_slices(const std::vector<Part>& parts, const std::vector<std::size_t>& strays, std::vector<double>& near);
  double alike() const;
  double rounded(double value) const;
  void limit_count(double variances, double ratios, double squares, double slices);
  double slice_ratio(double error, const Norms& slice) const;
  void note_slice(double off, std::size_t count, std::string name);
  std::size_t row_length() const { return expected_.shape.empty() ? 1 : std::max<std::size_t>(1, static_cast<std::size_t>(expected_.shape.back())); }

  const reference::Expected& expected_;
  const std::vector<double>& got_;
  const std::optional<Bounds>& declared_;
  double leniency_, most_off_;
  std::size_t most_strays_;
  std::vector<double> variance_;   // what each element's error² is held to
  reference::Deviation deviation_;
  Norms whole_;
  std::size_t worst_ = 0;
  double usual_ = 0;
};

// Elements that one thread looks at. Parts are added up in order, so that the result does not depend on the machine.
constexpr std::size_t part_length = std::size_t{1} << 18;

// Calls work(from, to) for the parts of [0, count): on several threads where there are several parts.
void for_parts(std::size_t count, std::size_t length, const std::function<void(std::size_t, std::size_t)>& work);

}  // namespace cudal1::verify
