// SPDX-License-Identifier: Apache-2.0
#include "tensor/matrix.hpp"

#include "tensor/function.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace cudal1::tensor {

void multiply(const double* a, const double* b, double* c, std::int64_t m, std::int64_t n, std::int64_t k, int threads) {
  constexpr std::int64_t rows = 4, depth = 256, width = 512;
  parallel(threads, (m + rows - 1) / rows, std::max<std::int64_t>(1, 65536 / std::max<std::int64_t>(n * k, 1)), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t p = 0; p < k; p += depth)
      for (std::int64_t j = 0; j < n; j += width) {
        const std::int64_t p_end = std::min(k, p + depth), j_end = std::min(n, j + width);
        for (std::int64_t i = first * rows; i < std::min(m, last * rows); i += rows) {
          const std::int64_t height = std::min(rows, m - i);
          if (height == rows) {
            double *c0 = c + i * n, *c1 = c0 + n, *c2 = c1 + n, *c3 = c2 + n;
            for (std::int64_t q = p; q < p_end; ++q) {
              const double* row = b + q * n;
              const double a0 = a[i * k + q], a1 = a[(i + 1) * k + q], a2 = a[(i + 2) * k + q], a3 = a[(i + 3) * k + q];
              for (std::int64_t x = j; x < j_end; ++x) {
                const double v = row[x];
                c0[x] += a0 * v;
                c1[x] += a1 * v;
                c2[x] += a2 * v;
                c3[x] += a3 * v;
              }
            }
            continue;
          }
          for (std::int64_t y = i; y < i + height; ++y)
            for (std::int64_t q = p; q < p_end; ++q) {
              const double *row = b + q * n, v = a[y * k + q];
              for (std::int64_t x = j; x < j_end; ++x) c[y * n + x] += v * row[x];
            }
        }
      }
  });
}

namespace {

double count(const Shape& shape) {
  double result = 1;
  for (const Extent& extent : shape) result *= static_cast<double>(extent.values.front());
  return result;
}

Type matmul_type(const Call& call) {
  const Shape &a = call.type(0).shape, &b = call.type(1).shape;
  if (a.empty() || b.empty()) throw Refusal("both factors need a dimension");
  const Extent &inner_a = a.back(), &inner_b = b.size() == 1 ? b[0] : b[b.size() - 2];
  if (!(inner_a == inner_b)) throw Refusal(fmt::format("the shapes {} and {} do not fit: {} against {}", to_string(a), to_string(b), inner_a.text, inner_b.text));
  const Shape batch_a(a.begin(), a.end() - std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(a.size())));
  const Shape batch_b(b.begin(), b.end() - std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(b.size())));
  Type type{promoted(call, {0, 1}), broadcast({&batch_a, &batch_b})};
  if (a.size() > 1) type.shape.push_back(a[a.size() - 2]);
  if (b.size() > 1) type.shape.push_back(b.back());
  return type;
}
void matmul(const Evaluation& e) {
  const Array &a = *e.in[0], &b = *e.in[1];
  const std::size_t ra = a.shape.size(), rb = b.shape.size();
  const std::int64_t m = ra > 1 ? a.shape[ra - 2] : 1, k = a.shape.back(), n = rb > 1 ? b.shape.back() : 1;
  if (e.out.values.empty() || k == 0) return;
  Extents batch(e.out.shape.begin(), e.out.shape.end() - (ra > 1 ? 1 : 0) - (rb > 1 ? 1 : 0));
  const Extents batch_a(a.shape.begin(), a.shape.end() - std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(ra)));
  const Extents batch_b(b.shape.begin(), b.shape.end() - std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(rb)));
  // A weight shared by all batches is one larger product.
  if (batch_b.empty() && ra > 1) {
    multiply(a.values.data(), b.values.data(), e.out.values.data(), elements(batch) * m, n, k, e.threads);
    return;
  }
  const Extents sa = broadcast_strides(batch_a, batch), sb = broadcast_strides(batch_b, batch);
  const std::int64_t products = elements(batch);
  const int inner_threads = products >= e.threads ? 1 : e.threads;
  parallel(inner_threads == 1 ? e.threads : 1, products, std::max<std::int64_t>(1, 262144 / std::max<std::int64_t>(1, m * n * k)), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t p = first; p < last; ++p) {
      std::int64_t rest = p, at_a = 0, at_b = 0;
      for (std::size_t axis = batch.size(); axis-- > 0; rest /= batch[axis]) {
        at_a += rest % batch[axis] * sa[axis];
        at_b += rest % batch[axis] * sb[axis];
      }
      multiply(a.values.data() + at_a * m * k, b.values.data() + at_b * k * n, e.out.values.data() + p * m * n, m, n, k, inner_threads);
    }
  });
}
double matmul_work(const Call& call, const Type& result) {
  return 2 * count(result.shape) * static_cast<double>(call.type(0).shape.back().values.front());
}

Type square_part(const Call& call) {
  if (rank(call.type(0)) < 2) throw Refusal("the input needs two dimensions");
  call.integer("diagonal");
  return call.type(0);
}
template <bool lower>
void triangle(const Evaluation& e) {
  const std::int64_t diagonal = e.call.integer("diagonal"), n = e.out.shape.back(), m = e.out.shape[e.out.shape.size() - 2];
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(e.out.values.size()); ++i) {
    const std::int64_t column = i % n, row = i / n % m;
    if (lower ? column - row <= diagonal : column - row >= diagonal) e.out.values[static_cast<std::size_t>(i)] = e.in[0]->values[static_cast<std::size_t>(i)];
  }
}
// The number of elements on a diagonal of an m by n matrix, in sizes.
Quantity diagonal_length(const Call& call, const Quantity& m, const Quantity& n, std::int64_t offset) {
  const Quantity zero = call.constant(0);
  const Quantity rows = offset < 0 ? m + call.constant(offset) : m, columns = offset > 0 ? n - call.constant(offset) : n;
  const Quantity shorter = rows.text == columns.text ? rows : minimum(rows, columns);
  for (const Number& each : shorter.values)
    if (each.integer < 0) return maximum(shorter, zero);
  return shorter;
}
Type diag_type(const Call& call) {
  const Shape& in = call.type(0).shape;
  const std::int64_t offset = call.integer("diagonal");
  if (std::abs(static_cast<double>(offset)) > 0x1p30) throw Refusal("diagonal is too large");
  if (in.size() == 1) {
    const Extent side = (Quantity::of(in[0]) + call.constant(std::abs(offset))).extent();
    return {call.type(0).dtype, {side, side}};
  }
  if (in.size() != 2) throw Refusal("the input needs one dimension or two");
  return {call.type(0).dtype, {diagonal_length(call, Quantity::of(in[0]), Quantity::of(in[1]), offset).extent()}};
}
void diag(const Evaluation& e) {
  const std::int64_t offset = e.call.integer("diagonal");
  const Array& in = *e.in[0];
  const std::int64_t row = std::max<std::int64_t>(0, -offset), column = std::max<std::int64_t>(0, offset);
  if (in.shape.size() == 1) {
    for (std::int64_t i = 0; i < in.shape[0]; ++i) e.out.values[static_cast<std::size_t>((row + i) * e.out.shape[1] + column + i)] = in.values[static_cast<std::size_t>(i)];
    return;
  }
  for (std::int64_t i = 0; i < e.out.shape[0]; ++i) e.out.values[static_cast<std::size_t>(i)] = in.values[static_cast<std::size_t>((row + i) * in.shape[1] + column + i)];
}
Type diagonal_type(const Call& call) {
  const Shape& in = call.type(0).shape;
  const int a = call.axis("dim1", rank(call.type(0))), b = call.axis("dim2", rank(call.type(0)));
  if (in.size() < 2 || a == b) throw Refusal("dim1 and dim2 must be two dimensions");
  if (std::abs(static_cast<double>(call.integer("offset"))) > 0x1p30) throw Refusal("offset is too large");
  Type type{call.type(0).dtype, {}};
  for (int i = 0; i < rank(call.type(0)); ++i)
    if (i != a && i != b) type.shape.push_back(in[static_cast<std::size_t>(i)]);
  type.shape.push_back(diagonal_length(call, call.extent(0, a), call.extent(0, b), call.integer("offset")).extent());
  return type;
}
void diagonal(const Evaluation& e) {
  const int rank = static_cast<int>(e.in[0]->shape.size()), a = e.call.axis("dim1", rank), b = e.call.axis("dim2", rank);
  std::vector<int> order;
  for (int i = 0; i < rank; ++i)
    if (i != a && i != b) order.push_back(i);
  order.push_back(a);
  order.push_back(b);
  const Array in = permuted(*e.in[0], order);
  const std::int64_t offset = e.call.integer("offset"), length = e.out.shape.back();
  const std::int64_t m = in.shape[in.shape.size() - 2], n = in.shape.back();
  const std::int64_t row = std::max<std::int64_t>(0, -offset), column = std::max<std::int64_t>(0, offset);
  for (std::size_t i = 0; i < e.out.values.size(); ++i) {
    const std::int64_t matrix = static_cast<std::int64_t>(i) / length, at = static_cast<std::int64_t>(i) % length;
    e.out.values[i] = in.values[static_cast<std::size_t>(matrix * m * n + (row + at) * n + column + at)];
  }
}

// "bij,bjk->bik": the letters of each operand and of the result.
struct Equation {
  std::vector<std::string> operands;
  std::string result, summed;
};
Equation read_equation(const Call& call) {
  std::string text;
  for (const char c : call.word("equation"))
    if (c != ' ') text += c;
  Equation equation;
  const auto arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  std::map<char, int> seen;
  equation.operands.emplace_back();
  for (const char c : left) {
    if (c == ',') equation.operands.emplace_back();
    else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) equation.operands.back() += c, ++seen[c];
    else throw Refusal(fmt::format("the equation \"{}\" holds more than letters, commas and ->", text.substr(0, 80)));
  }
  if (arrow != std::string::npos) equation.result = text.substr(arrow + 2);
  else
    for (const auto& [letter, times] : seen)
      if (times == 1) equation.result += letter;
  for (const char c : equation.result)
    if (seen.count(c) == 0 || std::count(equation.result.begin(), equation.result.end(), c) != 1)
      throw Refusal(fmt::format("the result of \"{}\" names a letter that is not there, or twice", text.substr(0, 80)));
  for (const auto& each : seen)
    if (equation.result.find(each.first) == std::string::npos) equation.summed += each.first;
  if (static_cast<int>(equation.operands.size()) != call.operands())
    throw Refusal(fmt::format("the equation has {} operands, but {} are given", equation.operands.size(), call.operands()));
  return equation;
}
std::map<char, Extent> letters(const Call& call, const Equation& equation) {
  std::map<char, Extent> extents;
  for (int i = 0; i < call.operands(); ++i) {
    const std::string& names = equation.operands[static_cast<std::size_t>(i)];
    const Shape& shape = call.type(i).shape;
    if (names.size() != shape.size()) throw Refusal(fmt::format("operand {} has {} dimensions, not {}", i, shape.size(), names.size()));
    for (std::size_t k = 0; k < names.size(); ++k) {
      const auto [at, fresh] = extents.try_emplace(names[k], shape[k]);
      if (!fresh && !(at->second == shape[k])) throw Refusal(fmt::format("the letter {} is {} and {}", names[k], at->second.text, shape[k].text));
    }
  }
  return extents;
}
Type einsum_type(const Call& call) {
  const Equation equation = read_equation(call);
  const std::map<char, Extent> extents = letters(call, equation);
  std::vector<int> all;
  for (int i = 0; i < call.operands(); ++i) all.push_back(i);
  Type type{promoted(call, all), {}};
  for (const char c : equation.result) type.shape.push_back(extents.at(c));
  return type;
}

// One operand with repeated letters taken along their diagonal and its letters in the order asked for.
Array arranged(const Array& in, const std::string& names, const std::string& wanted, const std::map<char, std::int64_t>& extents) {
  const Extents own = strides(in.shape);
  Array out{in.dtype, {}, {}};
  Extents steps;
  for (const char c : wanted) {
    std::int64_t step = 0;
    for (std::size_t k = 0; k < names.size(); ++k)
      if (names[k] == c) step += own[k];
    steps.push_back(step);
    out.shape.push_back(extents.at(c));
  }
  out.values.resize(static_cast<std::size_t>(elements(out.shape)));
  const std::int64_t length = out.shape.empty() ? 1 : out.shape.back(), step = steps.empty() ? 0 : steps.back();
  for_rows(out.shape, {steps}, 1, [&](std::int64_t row, const std::int64_t* at) {
    for (std::int64_t i = 0; i < length; ++i) out.values[static_cast<std::size_t>(row + i)] = in.values[static_cast<std::size_t>(at[0] + i * step)];
  });
  return out;
}
std::string unique(const std::string& names) {
  std::string result;
  for (const char c : names)
    if (result.find(c) == std::string::npos) result += c;
  return result;
}
// Sums out the letters that neither the result nor a later operand needs.
Array summed(const Array& in, std::string& names, const std::string& needed, const std::map<char, std::int64_t>& extents) {
  std::string kept, gone;
  for (const char c : unique(names)) (needed.find(c) != std::string::npos ? kept : gone) += c;
  Array out = arranged(in, names, kept + gone, extents);
  names = kept;
  if (gone.empty()) return out;
  std::int64_t inner = 1;
  for (const char c : gone) inner *= extents.at(c);
  Array result{in.dtype, {}, {}};
  for (const char c : kept) result.shape.push_back(extents.at(c));
  result.values.resize(static_cast<std::size_t>(elements(result.shape)));
  for (std::size_t i = 0; i < result.values.size(); ++i) result.values[i] = sum(out.values.data() + static_cast<std::int64_t>(i) * inner, inner);
  return result;
}
void einsum(const Evaluation& e) {
  const Equation equation = read_equation(e.call);
  std::map<char, std::int64_t> extents;
  for (const auto& [letter, extent] : letters(e.call, equation)) extents[letter] = extent.values.front();
  const auto needed_after = [&](std::size_t operand) {
    std::string needed = equation.result;
    for (std::size_t i = operand + 1; i < equation.operands.size(); ++i) needed += equation.operands[i];
    return needed;
  };
  std::string names = equation.operands[0];
  Array left = summed(*e.in[0], names, needed_after(0), extents);
  for (std::size_t i = 1; i < e.in.size(); ++i) {
    std::string other = equation.operands[i];
    const std::string needed = needed_after(i);
    Array right = summed(*e.in[i], other, needed + names, extents);
    std::string batch, rows, columns, inner;
    for (const char c : names)
      if (other.find(c) == std::string::npos) rows += c;
      else (needed.find(c) != std::string::npos ? batch : inner) += c;
    for (const char c : other)
      if (names.find(c) == std::string::npos) columns += c;
    const auto volume = [&](const std::string& all) {
      std::int64_t product = 1;
      for (const char c : all) product *= extents.at(c);
      return product;
    };
    left = arranged(left, names, batch + rows + inner, extents);
    right = arranged(right, other, batch + inner + columns, extents);
    names = batch + rows + columns;
    Array product{left.dtype, {}, {}};
    for (const char c : names) product.shape.push_back(extents.at(c));
    const std::int64_t m = volume(rows), k = volume(inner), n = volume(columns);
    if (static_cast<double>(volume(batch)) * static_cast<double>(m) * static_cast<double>(n) > 0x1p31) throw Refusal("an intermediate product is too large to evaluate");
    product.values.resize(static_cast<std::size_t>(volume(batch) * m * n));
    for (std::int64_t b = 0; b < volume(batch); ++b)
      multiply(left.values.data() + b * m * k, right.values.data() + b * k * n, product.values.data() + b * m * n, m, n, k, e.threads);
    left = std::move(product);
  }
  left = summed(left, names, equation.result, extents);
  e.out.values = arranged(left, names, equation.result, extents).values;
}
double einsum_work(const Call& call, const Type&) {
  double product = 2;
  for (const auto& [letter, extent] : letters(call, read_equation(call))) product *= static_cast<double>(extent.values.front());
  return product;
}

double nothing(const Call&, const Type&) { return 0; }

}  // namespace

std::vector<Row> linear_algebra_rows() {
  return {
      {"matmul(input, other)", "torch . torch.mm .mm torch.bmm .bmm torch.mv .mv torch.dot .dot torch.linalg.matmul", matmul_type, matmul, matmul_work},
      {"einsum(equation: word, operands: tensors)", "torch", einsum_type, einsum, einsum_work},
      {"tril(input, diagonal: int = 0)", "torch .", square_part, triangle<true>, nothing},
      {"triu(input, diagonal: int = 0)", "torch .", square_part, triangle<false>, nothing},
      {"diag(input, diagonal: int = 0)", "torch .", diag_type, diag, nothing},
      {"diagonal(input, offset: int = 0, dim1: int = 0, dim2: int = 1)", "torch . torch.linalg.diagonal", diagonal_type, diagonal, nothing},
  };
}

}  // namespace cudal1::tensor
