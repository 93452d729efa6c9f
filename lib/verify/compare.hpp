// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/judgement.hpp"
#include "reference/part.hpp"
#include "reference/rule.hpp"
#include "verify/bounds.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudal1::verify {

// How one output compares with what is right.
struct Comparison {
  bool right = true;
  std::string why;                                 // one line when not right
  std::optional<outcome::WrongElement> first, worst;
  reference::Deviation deviation;
  double relative_l2 = 0, max_absolute = 0;        // errors against the truth
  double reference_relative_l2 = 0, reference_max_absolute = 0;
  // The least tolerance at which KernelBench's own comparison passes (allclose against PyTorch's output, atol = rtol);
  // negative where PyTorch is not the reference.
  double kernelbench_tolerance = -1;
};

// Judges the values of one output by the rule of right (rule.hpp). The pattern of NaN and infinities must be the truth's,
// and integers must be equal (for the index of a largest or smallest element: the elements at the indices). `declared`
// bounds, when the task has them, decide alone. `leniency` multiplies the rule's bounds.
Comparison compare(const reference::Expected& expected, const std::vector<double>& got,
                   const std::optional<Bounds>& declared, double leniency = 1);

// Wrong elements of a part, by their indices in the whole output.
void name_in_whole(Comparison& comparison, const reference::Part& part);

}  // namespace cudal1::verify
