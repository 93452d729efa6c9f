// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/call.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudal1::tensor {

struct Parameter {
  enum class Kind { tensor, optional_tensor, tensors, integer, integers, number, truth, word, dtype };
  std::string name;
  Kind kind = Kind::tensor;
  bool required = true;
  Attribute value;        // the default
};

// Reads operands and writes out.values; out.shape and out.dtype are set, out.values has its size and is zero.
struct Evaluation {
  const Call& call;
  const std::vector<const Array*>& in;
  Array& out;
  int threads;

  const Array* operand(std::string_view parameter) const;  // nullptr when absent
};

// A row of the table of functions.
struct Row {
  std::string_view signature;  // "softmax(input, dim: int, dtype: dtype = None)"
  std::string_view spellings;  // "torch" torch.NAME, "F" F.NAME, "." method NAME; other words are spellings themselves
  Type (*infer)(const Call&);
  void (*evaluate)(const Evaluation&);
  double (*work)(const Call&, const Type& result) = nullptr;  // operations; nullptr: one per element of the result
};

// A function that is written in terms of others: `body` is an expression of its parameters.
struct Composite {
  std::string_view signature;
  std::string_view spellings;
  std::string_view body;
};

struct Function {
  std::string name;
  std::vector<Parameter> parameters;
  std::string signature;
  const Row* row = nullptr;              // one of these two
  const Composite* composite = nullptr;
};

// The operand that holds a parameter; -1 when it is absent or no tensor.
int operand_index(const Function& function, const Node& node, std::string_view parameter);

const Function* find_function(std::string_view canonical_name);
// "torch.softmax", "F.softmax", ".softmax"; nullptr when unknown.
const Function* find_spelling(const std::string& spelling);
std::vector<std::string> all_spellings();

// The families, each in a file of its own.
std::vector<Row> pointwise_rows();
std::vector<Row> reduction_rows();
std::vector<Row> scan_rows();
std::vector<Row> shape_rows();
std::vector<Row> indexing_rows();
std::vector<Row> creation_rows();
std::vector<Row> linear_algebra_rows();
std::vector<Row> attention_rows();
std::vector<Row> convolution_rows();
std::vector<Row> pooling_rows();
std::vector<Row> normalization_rows();
std::vector<Row> loss_rows();
std::vector<Row> resampling_rows();
std::vector<Row> recurrence_rows();
std::vector<Composite> composites();

}  // namespace cudal1::tensor
