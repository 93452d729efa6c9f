// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace cudal1::verify {

// The least t with |got − reference| ≤ t + t·|reference| for every element, as torch.allclose compares; infinite if one is NaN.
double allclose_tolerance(const std::vector<double>& reference, const std::vector<double>& got);

}  // namespace cudal1::verify
