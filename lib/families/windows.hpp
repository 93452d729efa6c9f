// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algebra/dag.hpp"
#include "families/arguments.hpp"

#include <string>
#include <vector>

namespace cudal1::families {

// The windows of a pool or convolution over three axes; those it has not got come first, with extent 1.
struct Windows {
  struct Axis {
    tensor::Extent input;
    Window window;
    int dim = -1;        // of the result; -1: not there
    bool fixed = false;  // its taps are, and their text is a number
  };
  std::vector<Axis> axes;

  tensor::Extent taps() const;  // of one window
};

bool is_fixed(const tensor::Extent& taps);  // as many at all sizes
Windows windows_of(const Node& node, const Node& input);

// Of a transposed convolution with a stride, the results r, r + stride, … along an axis meet every tap_step-th tap, and from tap to tap
// inputs that are input_step apart; some residues meet none where the dilation has a divisor of the stride. taps_of_residue declares the
// `first_` of their taps, how many there are (`T`), and `add_`: what the first tap's input has more than the result's number.
std::int64_t tap_step(const Window& window);
std::int64_t input_step(const Window& window);
std::string taps_of_residue(const Window& window, const std::string& low, const std::string& up, const std::string& residue, const std::string& taps, const std::string& indent);

// How many elements the mean pool `node` divides by, at the result that `at` names; what it needs goes to `before`.
std::string divisor(const Node& node, const Windows& windows, const std::vector<std::string>& at, std::size_t indent,
                    Arguments& arguments, std::string& before);

}  // namespace cudal1::families
