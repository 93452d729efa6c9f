// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/evaluate.hpp"

namespace cudal1::tensor {

// How likely it is that two elements are the same number, or no further apart than this relative difference: then the same
// rounding happens to both. 0: all are different; 1: all are the same. Zeros do not count, adding them is exact.
double sameness(const Array& array, double apart = 0);

// What rounding elements to the steps between floats as large as `total`, or as parts of it, comes to on average, squared and in
// units of that of a single element; 0 if no more than of random numbers.
double drift(const Array& array, double total, double roundoff);
// The same of the products of elements of both, with their signs.
double drift_of_products(const Array& left, const Array& right, double total, double roundoff);

}  // namespace cudal1::tensor
