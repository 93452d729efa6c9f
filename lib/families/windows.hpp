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
    bool fixed = false;  // as many taps at all sizes: their text is a number
  };
  std::vector<Axis> axes;

  tensor::Extent taps() const;  // of one window
};

Windows windows_of(const Node& node, const Node& input);

// How many elements the mean pool `node` divides by, at the result that `at` names; what it needs goes to `before`.
std::string divisor(const Node& node, const Windows& windows, const std::vector<std::string>& at, std::size_t indent,
                    Arguments& arguments, std::string& before);

}  // namespace cudal1::families
