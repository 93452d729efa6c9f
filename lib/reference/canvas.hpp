// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/trial.hpp"
#include "tensor/distribution.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

namespace cudal1::reference {

using Words = std::array<std::uint32_t, 4>;

// One input's bytes while a pattern is laid into them. Everything drawn depends on seed, stream and position alone.
class Canvas {
 public:
  Canvas(tensor::Dtype dtype, std::vector<std::int64_t> extents, tensor::Distribution declared, std::uint64_t seed, std::uint64_t stream,
         const std::filesystem::path& folder, Bytes& bytes);

  std::size_t count() const { return count_; }
  const std::vector<std::int64_t>& extents() const { return extents_; }
  double at(std::size_t element) const;
  void set(std::size_t element, double value);
  // The index of an element along an axis.
  std::int64_t index(std::size_t element, std::size_t axis) const;
  // Random words of a number that another `tag` draws otherwise.
  Words words(std::size_t number, std::uint64_t tag) const;
  // Elements at both ends that keep what they are declared where patterns are mixed.
  std::size_t edge() const;

  void fill();                                          // as declared
  void fill(const tensor::Distribution& distribution);
  void fill_inside(std::uint64_t seed);                 // as declared with another seed, but at the ends
  void fill_by(const std::function<double(const Words&)>& value);
  double far_value(const Words& drawn) const;           // 2^18 … 2^20 (float16: 2^13 … 2^15): nothing near 0 for a maximum, or a clamp, to begin at
  void move_one();                                      // one element half as large again
  void move_all();                                      // every element, by up to a half of itself or of 1
  void outliers(bool special);
  // About one element in 24, away from the ends, and at least one.
  void stray(const std::function<double(const Words&)>& value);
  void one(double value);                               // a single element, away from the ends
  void few(double value, std::size_t count);            // or at most so many
  void bands(std::size_t axis, bool small, bool far);   // `small`: also bands 2^-20 as large; `far`: also bands far away from 0
  void magnitudes(std::size_t axis);
  void tiny();
  void only(std::size_t axis, std::int64_t index);      // 0 elsewhere
  // Integers or truth values of the declared range that repeat along an axis: arange shuffled, others all least, all largest, or one of three.
  void repeats(std::size_t turn);
  void full_width(double limit, bool below);            // `below`: all far below 0, where the declared ones have both signs

 private:
  double banded(std::size_t element, std::uint32_t regime) const;

  tensor::Dtype dtype_;
  std::vector<std::int64_t> extents_;
  tensor::Distribution declared_;
  std::uint64_t seed_, stream_;
  std::filesystem::path folder_;
  Bytes& bytes_;
  std::size_t count_ = 1;
};

// Values that stray from what is declared: 0, about 1, of wide magnitude, too large for a plain exp, hundreds.
double stray_value(const Words& words);
double wide_value(const Words& words);   // signs and magnitudes 2^-10 … 2^10
double unit(std::uint32_t word);         // in [0, 1)

}  // namespace cudal1::reference
