// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algebra/dag.hpp"

#include <map>
#include <string>
#include <vector>

namespace cudal1::families {

using namespace algebra;

// Parameters of a kernel under construction, with what the launch passes for each. Names of parameters are given out
// marked (parameter_names.hpp); KernelFile::code spells them.
class Arguments {
 public:
  // `scalars` are the task's, with their types; every other name in a text is a size.
  explicit Arguments(const std::map<std::string, tensor::Dtype>& scalars = {}) : scalars_(scalars) {}

  std::string pointer(const std::string& buffer, tensor::Dtype dtype, bool written);
  // A tensor map by the expression that a launch passes.
  std::string tensor_map(const std::string& name, const std::string& expression);
  // A number that is written in sizes: its literal, or a parameter that holds it.
  std::string number(const tensor::Extent& extent);
  // A C expression of sizes and scalars, computed in the kernel in `dtype`'s registers.
  std::string number(const std::string& text, tensor::Dtype dtype);
  std::string number(const Node& number);  // a node of that kind

  std::string parameters() const;  // "const float* __restrict__ X, int M"
  std::string forwarded() const;   // "X, M"
  std::string passed() const;      // as the launch directive has it

 private:
  struct Parameter {
    std::string type, name, argument;
    std::vector<std::int64_t> values;
  };
  std::string add(Parameter parameter);
  std::string joined(std::string (*spelt)(const Parameter&)) const;
  std::map<std::string, tensor::Dtype> scalars_;
  std::vector<Parameter> parameters_;
};

// `text` as a value of `type`; the two-word types take no function-style cast.
std::string converted(const std::string& type, const std::string& text);
// What converts to `type` in front of parentheses: a type of two words is no function.
std::string conversion(const std::string& type);  // "int", "(long long)"
std::string compute_type(tensor::Dtype dtype);  // what registers hold: float for the 16-bit types
std::string index_type(std::int64_t largest);   // int, or long long where it might not do
std::string c_literal(const std::string& text, tensor::Dtype dtype);
bool is_literal(const std::string& text);

}  // namespace cudal1::families
