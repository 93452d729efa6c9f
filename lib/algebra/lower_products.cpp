// SPDX-License-Identifier: Apache-2.0
#include "algebra/lowering.hpp"

#include "algebra/dag.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace cudal1::algebra {
namespace {

int with_unit(Lowering& l, int node, bool front) {
  tensor::Shape shape = l.at(node).shape;
  if (shape.size() > 1) return node;
  shape.insert(front ? shape.begin() : shape.end(), l.one());
  return l.reshape(node, shape);
}

int matmul(Lowering& l) {
  const int a = with_unit(l, l.input(), true), b = with_unit(l, l.operand("other"), false);
  const int attention = spelt_attention(l, a, l.as(b, wide(l.at(b).dtype)));
  return attention >= 0 ? attention : l.reshape(l.product(a, b), l.type().shape);
}

int convolution(Lowering& l, std::size_t spatial, bool transposed) {
  const tensor::Dtype computed = wide(l.type().dtype);
  const int input = l.as(l.input(), computed), weight = l.as(l.operand("weight"), computed), bias = l.operand("bias");
  if (l.at(input).shape.size() != spatial + 2) throw NotCovered{"a convolution without a batch"};
  const auto strides = l.integers("stride", spatial), dilations = l.integers("dilation", spatial);
  std::vector<std::int64_t> paddings(spatial, 0);
  if (l.word("padding").empty()) {
    paddings = l.integers("padding", spatial);
  } else if (l.word("padding") == "same") {
    for (std::size_t i = 0; i < spatial; ++i) {
      const tensor::Extent& taps = l.at(weight).shape[i + 2];
      if (taps != literal(taps.values[0], taps.values.size())) throw NotCovered{"a convolution whose window changes with the sizes"};
      paddings[i] = (taps.values[0] - 1) * dilations[i] / 2;
    }
  }
  Convolution how{transposed, l.given("groups") ? l.integer("groups") : std::int64_t{1}, {}};
  for (std::size_t i = 0; i < spatial; ++i)
    how.windows.push_back({strides[i], paddings[i], dilations[i], l.type().shape[i + 2], l.at(weight).shape[i + 2]});
  const int result = l.add({std::move(how), {input, weight}, computed, l.type().shape});
  return bias < 0 ? result : l.pointwise("add", {result, l.behind(l.as(bias, computed), 1 + spatial)});
}

// A tensor whose dimensions have letters, as in an einsum.
struct Lettered {
  int node;
  std::string letters;
};

bool has(const std::string& letters, char letter) { return letters.find(letter) != std::string::npos; }

Lettered arranged(Lowering& l, const Lettered& from, const std::string& letters) {
  std::vector<int> dims;
  for (const char letter : letters) dims.push_back(static_cast<int>(from.letters.find(letter)));
  return {l.permute(from.node, dims), letters};
}

// Without the letters that nothing after it needs.
Lettered summed(Lowering& l, const Lettered& from, const std::string& needed) {
  std::vector<int> dims;
  std::string kept;
  for (std::size_t i = 0; i < from.letters.size(); ++i)
    if (has(needed, from.letters[i])) kept += from.letters[i];
    else dims.push_back(static_cast<int>(i));
  return dims.empty() ? from : Lettered{l.squeeze(l.sum(from.node, dims), dims, false), kept};
}

// With dimensions of extent 1 where it has no letter of `letters`.
int spread(Lowering& l, const Lettered& from, const std::string& letters) {
  std::string own;
  for (const char letter : letters)
    if (has(from.letters, letter)) own += letter;
  const int node = arranged(l, from, own).node;
  tensor::Shape shape;
  for (std::size_t i = 0, next = 0; i < letters.size(); ++i)
    shape.push_back(has(own, letters[i]) ? l.at(node).shape[next++] : l.one());
  return l.reshape(node, shape);
}

// [batch, rows, columns], as one dimension each; turned where the tensor lies that way already.
int matrices(Lowering& l, const Lettered& from, const std::string& batch, const std::string& rows, const std::string& columns) {
  const bool turned = from.letters == batch + columns + rows && rows.size() * columns.size() > 0;
  const int node = arranged(l, from, turned ? from.letters : batch + rows + columns).node;
  const tensor::Shape shape = l.at(node).shape;
  const std::size_t one = batch.size(), two = one + (turned ? columns : rows).size();
  tensor::Shape grouped{product_of(shape, one, two, l.assignments()), product_of(shape, two, shape.size(), l.assignments())};
  if (!batch.empty()) grouped.insert(grouped.begin(), product_of(shape, 0, one, l.assignments()));
  const int result = l.reshape(node, grouped);
  return turned ? l.swap_last(result) : result;
}

Lettered contracted(Lowering& l, const Lettered& left, const Lettered& right, const std::string& needed) {
  std::string batch, rows, columns, inner;
  for (const char letter : left.letters)
    if (!has(right.letters, letter)) rows += letter;
    else (has(needed, letter) ? batch : inner) += letter;
  for (const char letter : right.letters)
    if (!has(left.letters, letter)) columns += letter;
  const std::string all = batch + rows + columns;
  if (inner.empty()) return {l.pointwise("mul", {spread(l, left, all), spread(l, right, all)}), all};
  tensor::Shape shape;
  for (const char letter : all) {
    const Lettered& from = has(left.letters, letter) ? left : right;
    shape.push_back(l.at(from.node).shape[from.letters.find(letter)]);
  }
  const int product = l.product(matrices(l, left, batch, rows, inner), matrices(l, right, batch, inner, columns));
  return {l.reshape(product, shape), all};
}

int einsum(Lowering& l) {
  std::string equation = l.word("equation");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  const auto arrow = equation.find("->");
  std::vector<std::string> letters(1);
  std::map<char, int> seen;
  for (const char c : equation.substr(0, arrow))
    if (c == ',') letters.emplace_back();
    else letters.back() += c, ++seen[c];
  std::string result;
  if (arrow != std::string::npos) result = equation.substr(arrow + 2);
  else
    for (const auto& [letter, times] : seen) result += times == 1 ? std::string(1, letter) : "";
  for (const std::string& each : letters)
    for (const char letter : each)
      if (std::count(each.begin(), each.end(), letter) > 1) throw NotCovered{"torch.einsum with a letter twice in one operand"};
  const std::vector<int> operands = l.operands();
  Lettered total{operands[0], letters[0]};
  for (std::size_t i = 1; i <= operands.size(); ++i) {
    std::string needed = result;
    for (std::size_t k = i; k < operands.size(); ++k) needed += letters[k];
    total = summed(l, total, needed);
    if (i == operands.size()) break;
    std::string after = result;
    for (std::size_t k = i + 1; k < operands.size(); ++k) after += letters[k];
    total = contracted(l, total, summed(l, {operands[i], letters[i]}, after + total.letters), after);
  }
  return arranged(l, total, result).node;
}

}  // namespace

int shared_batches(Lowering& l, int a, int b) {
  const auto lettered = [&](int node, char row, char column) {
    tensor::Shape shape = l.at(node).shape, kept;
    Lettered result{node, ""};
    for (std::size_t i = 0; i + 2 < shape.size(); ++i)
      if (!is_one(shape[i])) kept.push_back(shape[i]), result.letters += static_cast<char>('a' + shape.size() - i);
    kept.insert(kept.end(), shape.end() - 2, shape.end());
    result.letters += {row, column};
    result.node = l.reshape(node, kept);
    return result;
  };
  const Lettered left = lettered(a, 'N', 'K'), right = lettered(b, 'K', 'M');
  std::string order;
  for (char letter = 'z'; letter >= 'a'; --letter)
    if (has(left.letters + right.letters, letter)) order += letter;
  order += "NM";
  return arranged(l, contracted(l, left, right, order), order).node;
}

namespace {

// `number` multiplies or divides the scores; -1: they are divided by the root of the head's width.
int whole(Lowering& l, std::vector<int> operands, int number, bool divides, bool causal) {
  const Node q = l.at(operands[0]);
  if (number >= 0) operands.push_back(number);
  return l.add({Attention{causal, divides}, std::move(operands), q.dtype, q.shape});
}

bool fits(const Lowering& l, int q, int k, int v) {
  const Node& of = l.at(q);
  return l.options().attention && l.at(k).shape == of.shape && l.at(v).shape == of.shape && of.dtype == tensor::Dtype::float32;
}

int attention(Lowering& l) {
  const tensor::Dtype computed = wide(l.type().dtype);
  const int q = l.as(l.operand("query"), computed), k = l.as(l.operand("key"), computed), v = l.as(l.operand("value"), computed);
  const bool causal = l.truth("is_causal");
  const tensor::Shape shape = l.at(q).shape;
  const std::size_t rank = shape.size();
  const bool mask = l.operand("attn_mask") >= 0;
  if (!mask && fits(l, q, k, v))
    return whole(l, {q, k, v}, l.given("scale") ? l.given_number("scale") : -1, false, causal);
  const int scale = l.given("scale") ? l.given_number("scale")
                                     : l.pointwise("rsqrt", {l.number(shape[rank - 1], l.at(q).dtype)});
  int scores = l.pointwise("mul", {l.product(q, l.swap_last(k)), scale});
  if (mask) {
    const int given = l.operand("attn_mask");
    scores = l.at(given).dtype == tensor::Dtype::bool_ ? l.pointwise("where", {given, scores, l.literal_number(-INFINITY)}, computed)
                                                       : l.pointwise("add", {scores, l.as(given, computed)});
  }
  if (causal) {
    const int row = l.coordinate(shape[rank - 2], rank - 2, rank),
              column = l.coordinate(l.at(k).shape[rank - 2], rank - 1, rank);
    // exp of it is 0 in fp32, and it is finite: a row is never without a largest element.
    scores =
        l.pointwise("where", {l.pointwise("le", {column, row}), scores, l.literal_number(-1e30)}, l.at(scores).dtype);
  }
  const std::vector<int> dims{static_cast<int>(rank) - 1};
  const int powers = l.pointwise("exp", {l.pointwise("sub", {scores, l.reduce("max", scores, dims)})});
  return l.product(l.pointwise("div", {powers, l.sum(powers, dims)}), v);
}

// What `id` is the softmax of along its last dimension, as it is spelt out; -1: of nothing.
int softmax_of(const Lowering& l, int id) {
  if (!l.at(id).computes("mul") || !l.at(l.at(id).operands[1]).computes("reciprocal")) return -1;
  const int powers = l.at(id).operands[0], sum = l.at(l.at(id).operands[1]).operands[0];
  if (!l.at(sum).reduces("sum") || l.at(sum).operands[0] != powers || !l.at(powers).computes("exp")) return -1;
  const int shifted = l.at(powers).operands[0];
  if (!l.at(shifted).computes("sub") || !l.at(l.at(shifted).operands[1]).reduces("max")) return -1;
  const int scores = l.at(shifted).operands[0], most = l.at(shifted).operands[1];
  const std::vector<int> last{static_cast<int>(l.at(scores).shape.size()) - 1};
  return l.at(most).operands[0] == scores && l.at(most).as<Reduce>().dims == last && l.at(sum).as<Reduce>().dims == last ? scores : -1;
}

}  // namespace

int spelt_attention(Lowering& l, int weights, int v) {
  int scores = softmax_of(l, weights), number = -1;
  if (scores < 0) return -1;
  bool divides = false;
  if (const Node& scaled = l.at(scores); scaled.computes("mul") || scaled.computes("div")) {
    divides = scaled.computes("div");
    const bool second = l.at(scaled.operands[1]).is<Number>();
    if (divides && !second) return -1;
    number = scaled.operands[second ? 1 : 0];
    scores = scaled.operands[second ? 0 : 1];
  }
  if (!l.at(scores).is<Product>() || (number >= 0 && !l.at(number).is<Number>())) return -1;
  const int q = l.at(scores).operands[0], k = l.swap_last(l.at(scores).operands[1]);
  return fits(l, q, k, v) ? whole(l, {q, k, v}, number < 0 ? l.literal_number(1) : number, divides, false) : -1;
}

std::vector<LoweringRow> product_lowerings() {
  std::vector<LoweringRow> rows{{"matmul", matmul}, {"einsum", einsum}, {"scaled_dot_product_attention", attention}};
  for (const std::size_t spatial : {1U, 2U, 3U}) {
    rows.push_back({fmt::format("conv{}d", spatial), [=](Lowering& l) { return convolution(l, spatial, false); }});
    rows.push_back({fmt::format("conv_transpose{}d", spatial), [=](Lowering& l) { return convolution(l, spatial, true); }});
  }
  return rows;
}

}  // namespace cudal1::algebra
