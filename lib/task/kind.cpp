// SPDX-License-Identifier: Apache-2.0
#include "task/kind.hpp"

#include <algorithm>
#include <vector>

namespace cudal1::task {

namespace {

struct Kind {
  std::string_view name;
  std::vector<std::string_view> functions;  // any function that contains one of these
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"attention", {"attention"}},
      {"recurrent", {"lstm", "gru", "rnn"}},
      {"convolution", {"conv"}},
      {"product", {"matmul", "linear", "einsum", "bmm", "mm", "bilinear"}},
      {"scan", {"cumsum", "cumprod", "logcumsumexp", "cummax", "cummin"}},
      {"sort", {"sort", "topk"}},
      {"normalisation", {"_norm", "softmax", "normalize"}},
      {"pooling", {"pool"}},
      {"reduction", {"sum", "mean", "prod", "amax", "amin", "argmax", "argmin", "max", "min", "norm", "var", "std", "all", "any", "loss", "entropy"}},
  };
  return all;
}

}  // namespace

std::string_view kind(const Task& task) {
  if (!task.torch) return "kernel";
  const auto has = [&](const Kind& kind) {
    return std::any_of(task.torch->nodes.begin(), task.torch->nodes.end(), [&](const tensor::Node& node) {
      return node.function != "input" && std::any_of(kind.functions.begin(), kind.functions.end(), [&](std::string_view name) {
               return kind.name == "reduction" ? node.function == name || (name.size() > 3 && node.function.find(name) != std::string::npos)
                                               : node.function.find(name) != std::string::npos;
             });
    });
  };
  const auto found = std::find_if(kinds().begin(), kinds().end(), has);
  return found == kinds().end() ? "pointwise" : found->name;
}

}  // namespace cudal1::task
