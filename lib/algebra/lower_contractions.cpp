// SPDX-License-Identifier: Apache-2.0
#include "algebra/lowering.hpp"

#include "algebra/not_covered.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace cudal1::algebra {
namespace {

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

std::vector<LoweringRow> contraction_lowerings() { return {{"einsum", einsum}}; }

}  // namespace cudal1::algebra
