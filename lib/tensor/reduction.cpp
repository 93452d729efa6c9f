// SPDX-License-Identifier: Apache-2.0
#include "tensor/dense.hpp"
#include "tensor/function.hpp"

#include <algorithm>
#include <cmath>

namespace cudal1::tensor {
namespace {

Shape reduced(const Call& call) {
  const Shape& shape = call.type(0).shape;
  const std::vector<int> axes = call.axes("dim", static_cast<int>(shape.size()));
  Shape result;
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    if (!std::binary_search(axes.begin(), axes.end(), i)) result.push_back(shape[static_cast<std::size_t>(i)]);
    else if (call.truth("keepdim")) result.push_back(call.constant(1).extent());
  }
  return result;
}

Dtype summed(Dtype dtype) { return is_floating(dtype) ? dtype : Dtype::int64; }
Type sum_type(const Call& call) {
  const auto asked = parse_dtype(call.word("dtype"));
  return {asked.value_or(summed(call.type(0).dtype)), reduced(call)};
}
Type mean_type(const Call& call) {
  const auto asked = parse_dtype(call.word("dtype"));
  if (!asked && !is_floating(call.type(0).dtype)) throw Refusal("the mean of integers needs a dtype");
  return {asked.value_or(call.type(0).dtype), reduced(call)};
}
Type same_type(const Call& call) { return {call.type(0).dtype, reduced(call)}; }
Type real_type(const Call& call) { return {floating(call.type(0).dtype), reduced(call)}; }
Type truth_type(const Call& call) { return {Dtype::bool_, reduced(call)}; }
Type index_type(const Call& call) { return {Dtype::int64, reduced(call)}; }
void need_elements(const Call& call) {
  // Only the reduced axes must not be empty.
  const Shape& shape = call.type(0).shape;
  for (const int axis : call.axes("dim", rank(call.type(0))))
    for (const std::int64_t value : shape[static_cast<std::size_t>(axis)].values)
      if (value == 0) throw Refusal("the reduced dimension is empty");
}
Type extreme_type(const Call& call) { return need_elements(call), same_type(call); }
Type extreme_index_type(const Call& call) { return need_elements(call), index_type(call); }
Type norm_type(const Call& call) {
  const std::string word = call.word("p");
  if (!word.empty() && word != "fro") throw Refusal("p is a number or 'fro'");
  return real_type(call);
}
Type variance_type(const Call& call) {
  if (!is_floating(call.type(0).dtype)) throw Refusal("var and std need a floating input");
  return real_type(call);
}

// Gives each result the elements it is made of, gathered side by side: body(elements, count) -> result.
template <typename Body>
void reduce(const Evaluation& e, Body body) {
  const Array& in = *e.in[0];
  const int rank = static_cast<int>(in.shape.size());
  const std::vector<int> axes = e.call.axes("dim", rank);
  Extents kept, kept_steps, inner, inner_steps;
  const Extents own = strides(in.shape);
  for (int i = 0; i < rank; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool reduces = std::binary_search(axes.begin(), axes.end(), i);
    (reduces ? inner : kept).push_back(in.shape[at]);
    (reduces ? inner_steps : kept_steps).push_back(own[at]);
  }
  const std::int64_t count = elements(inner), results = elements(kept);
  // Trailing axes are already side by side.
  const bool dense = inner_steps == strides(inner) || count == 1;
  parallel(e.threads, results, std::max<std::int64_t>(1, 65536 / std::max<std::int64_t>(count, 1)), [&](std::int64_t first, std::int64_t last) {
    std::vector<double> gathered(dense ? 0 : static_cast<std::size_t>(count));
    for (std::int64_t result = first; result < last; ++result) {
      std::int64_t offset = 0, rest = result;
      for (std::size_t axis = kept.size(); axis-- > 0;) {
        offset += rest % kept[axis] * kept_steps[axis];
        rest /= kept[axis];
      }
      static constexpr double nothing = 0;
      const double* from = count == 0 ? &nothing : in.values.data() + offset;
      if (!dense && count > 0) {
        for_rows(inner, {inner_steps}, 1, [&](std::int64_t row, const std::int64_t* at) {
          for (std::int64_t i = 0; i < inner.back(); ++i) gathered[static_cast<std::size_t>(row + i)] = from[at[0] + i * inner_steps.back()];
        });
        from = gathered.data();
      }
      e.out.values[static_cast<std::size_t>(result)] = body(from, count);
    }
  });
}

double largest(const double* x, std::int64_t n) {
  double best = -INFINITY;
  for (std::int64_t i = 0; i < n; ++i)
    if (x[i] > best || std::isnan(x[i])) best = x[i];
  for (std::int64_t i = 0; i < n; ++i)
    if (std::isnan(x[i])) return x[i];
  return best;
}

double variance(const double* x, std::int64_t n, double correction) {
  const double mean = sum(x, n) / static_cast<double>(n);
  double squares = 0, rest = 0;
  for (std::int64_t i = 0; i < n; ++i) squares += (x[i] - mean) * (x[i] - mean), rest += x[i] - mean;
  const double divisor = static_cast<double>(n) - correction;
  return divisor > 0 ? std::max(0.0, squares - rest * rest / static_cast<double>(n)) / divisor : n == 0 ? NAN : squares / std::max(0.0, divisor);
}

void evaluate_sum(const Evaluation& e) { reduce(e, [](const double* x, std::int64_t n) { return sum(x, n); }); }
void evaluate_mean(const Evaluation& e) { reduce(e, [](const double* x, std::int64_t n) { return sum(x, n) / static_cast<double>(n); }); }
void evaluate_prod(const Evaluation& e) {
  reduce(e, [](const double* x, std::int64_t n) {
    double product = 1;
    for (std::int64_t i = 0; i < n; ++i) product *= x[i];
    return product;
  });
}
void evaluate_amax(const Evaluation& e) { reduce(e, largest); }
void evaluate_amin(const Evaluation& e) {
  reduce(e, [](const double* x, std::int64_t n) {
    double best = INFINITY;
    for (std::int64_t i = 0; i < n; ++i) {
      if (std::isnan(x[i])) return x[i];
      best = std::min(best, x[i]);
    }
    return best;
  });
}
template <int sign>
void evaluate_arg(const Evaluation& e) {
  reduce(e, [](const double* x, std::int64_t n) {
    std::int64_t best = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      if (std::isnan(x[i])) return static_cast<double>(i);
      if (sign * x[i] > sign * x[best]) best = i;
    }
    return static_cast<double>(best);
  });
}
void evaluate_var(const Evaluation& e) {
  reduce(e, [correction = e.call.number("correction")](const double* x, std::int64_t n) { return variance(x, n, correction); });
}
void evaluate_std(const Evaluation& e) {
  reduce(e, [correction = e.call.number("correction")](const double* x, std::int64_t n) { return std::sqrt(variance(x, n, correction)); });
}
void evaluate_logsumexp(const Evaluation& e) {
  reduce(e, [](const double* x, std::int64_t n) {
    const double top = largest(x, n), shift = std::isinf(top) ? 0 : top;
    double total = 0;
    for (std::int64_t i = 0; i < n; ++i) total += std::exp(x[i] - shift);
    return std::log(total) + shift;
  });
}
void evaluate_any(const Evaluation& e) {
  reduce(e, [](const double* x, std::int64_t n) { return std::any_of(x, x + n, [](double v) { return v != 0; }) ? 1.0 : 0.0; });
}
void evaluate_all(const Evaluation& e) {
  reduce(e, [](const double* x, std::int64_t n) { return std::all_of(x, x + n, [](double v) { return v != 0; }) ? 1.0 : 0.0; });
}
void evaluate_norm(const Evaluation& e) {
  const double p = e.call.word("p").empty() ? e.call.has("p") ? e.call.number("p") : 2 : 2;
  reduce(e, [p](const double* x, std::int64_t n) {
    double total = p == -INFINITY ? INFINITY : 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double a = std::abs(x[i]);
      if (std::isinf(p)) total = std::isnan(a) || (p > 0 ? a > total : a < total) ? a : total;
      else total += p == 0 ? (a != 0 ? 1 : 0) : p == 1 ? a : p == 2 ? a * a : std::pow(a, p);
    }
    return std::isinf(p) || p == 0 || p == 1 ? total : p == 2 ? std::sqrt(total) : std::pow(total, 1 / p);
  });
}

double input_elements(const Call& call, const Type&) {
  double count = 1;
  for (const Extent& extent : call.type(0).shape) count *= static_cast<double>(extent.values.front());
  return count;
}
double thrice(const Call& call, const Type& type) { return 3 * input_elements(call, type); }

}  // namespace

std::vector<Row> reduction_rows() {
  return {
      {"sum(input, dim: ints = None, keepdim: truth = False, dtype: dtype = None)", "torch .", sum_type, evaluate_sum, input_elements},
      {"mean(input, dim: ints = None, keepdim: truth = False, dtype: dtype = None)", "torch .", mean_type, evaluate_mean, input_elements},
      {"prod(input, dim: ints = None, keepdim: truth = False, dtype: dtype = None)", "torch .", sum_type, evaluate_prod, input_elements},
      {"amax(input, dim: ints = None, keepdim: truth = False)", "torch .", extreme_type, evaluate_amax, input_elements},
      {"amin(input, dim: ints = None, keepdim: truth = False)", "torch .", extreme_type, evaluate_amin, input_elements},
      {"argmax(input, dim: ints = None, keepdim: truth = False)", "torch .", extreme_index_type, evaluate_arg<1>, input_elements},
      {"argmin(input, dim: ints = None, keepdim: truth = False)", "torch .", extreme_index_type, evaluate_arg<-1>, input_elements},
      {"var(input, dim: ints = None, correction: number = 1, keepdim: truth = False)", "", variance_type, evaluate_var, thrice},
      {"std(input, dim: ints = None, correction: number = 1, keepdim: truth = False)", "", variance_type, evaluate_std, thrice},
      {"logsumexp(input, dim: ints, keepdim: truth = False)", "torch .", real_type, evaluate_logsumexp, thrice},
      {"any(input, dim: ints = None, keepdim: truth = False)", "torch .", truth_type, evaluate_any, input_elements},
      {"all(input, dim: ints = None, keepdim: truth = False)", "torch .", truth_type, evaluate_all, input_elements},
      {"norm(input, p: number = 2, dim: ints = None, keepdim: truth = False)",
       "torch . torch.linalg.vector_norm torch.linalg.norm torch.linalg.matrix_norm", norm_type, evaluate_norm, thrice},
  };
}

}  // namespace cudal1::tensor
