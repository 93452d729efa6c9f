// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/rule.hpp"

#include <string>

namespace cudal1::pytorch {

// Between the judge and comparison.py, which measures in the memory where outputs lie and decides nothing. Private to the part and its tests.

// The numbers of the rule that it measures with (reference/rule.hpp, tensor/rounding.hpp), as JSON.
std::string rule_numbers();

// What it measured of one output, as JSON.
reference::Deviation measured_deviation(const std::string& told);

}  // namespace cudal1::pytorch
