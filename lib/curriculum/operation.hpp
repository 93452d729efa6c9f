// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace cudal1::curriculum {

// How an operation goes about its matrix of R rows and C columns.
enum class Form {
  pointwise,   // an expression of v
  with_matrix, // of v and an element w of another matrix of the same shape
  with_row,    // of v and an element w of a vector of C
  row,         // a thread for each row, which writes as many elements: `code` is its body
  row_total,   // a thread for each row, one result
  column_total,// a thread for each column, one result
  transposed,  // [C, R]
  product,     // with another matrix of C rows
};

// One function that lines are sampled from. In `torch` stand {v} for the value and {w} for the further operand; in `code`
// v and w, or row(i), C, the results out_ and the row's `start` in them.
struct Operation {
  std::string_view name, torch, code;
  Form form;
  std::string_view spoils;   // names, with spaces around, of operations that make no sense directly behind it
};

std::span<const Operation> operations();

}  // namespace cudal1::curriculum
