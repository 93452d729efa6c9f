// SPDX-License-Identifier: Apache-2.0
#include "kernel/body_reader.hpp"

#include <utility>

namespace cudal1::kernel {

void BodyReader::apply(const Comparison& c, bool holds) {
  if (c.left.kind != Value::Kind::number || c.right.kind != Value::Kind::number) return;
  std::string word = c.word;
  if (!holds) word = word == "<" ? ">=" : word == "<=" ? ">" : word == ">" ? "<=" : word == ">=" ? "<" : word == "==" ? "!=" : "==";
  const P one = P::constant(1);
  if (word == "<") ranges_.at_most(c.left.number, c.right.number - one), ranges_.at_least(c.right.number, c.left.number + one);
  else if (word == "<=") ranges_.at_most(c.left.number, c.right.number), ranges_.at_least(c.right.number, c.left.number);
  else if (word == ">") ranges_.at_most(c.right.number, c.left.number - one), ranges_.at_least(c.left.number, c.right.number + one);
  else if (word == ">=") ranges_.at_most(c.right.number, c.left.number), ranges_.at_least(c.left.number, c.right.number);
  else if (word == "==") {
    ranges_.equal(c.left.number, c.right.number);
  }
}

BodyReader::Condition BodyReader::condition(std::size_t from, std::size_t to) {
  Condition result;
  while (from < to && token(from).is("(") && matching_bracket(tokens_, from) + 1 == to) {
    ++from;
    --to;
  }
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  std::size_t begin = from;
  bool ands = false, ors = false;
  for (std::size_t i = from; i < to; ++i) {
    if (token(i).is("(") || token(i).is("[") || token(i).is("{")) {
      i = matching_bracket(tokens_, i);
      continue;
    }
    if (!token(i).is("&&") && !token(i).is("||")) continue;
    (token(i).is("&&") ? ands : ors) = true;
    parts.emplace_back(begin, i);
    begin = i + 1;
  }
  parts.emplace_back(begin, to);
  result.conjunction = !ors;
  result.disjunction = !ands;
  for (auto [a, b] : parts) {
    if (token(a).is("(") && matching_bracket(tokens_, a) + 1 == b) {
      const Condition inner = condition(a, b);
      result.data |= inner.data;
      if (parts.size() == 1 || (inner.conjunction && result.conjunction) || (inner.disjunction && result.disjunction))
        result.all.insert(result.all.end(), inner.all.begin(), inner.all.end());
      if (inner.all.size() > 1) {
        result.conjunction &= inner.conjunction;
        result.disjunction &= inner.disjunction;
      }
      continue;
    }
    std::size_t split = b;
    for (std::size_t i = a; i < b; ++i) {
      if (token(i).is("(") || token(i).is("[") || token(i).is("{")) {
        i = matching_bracket(tokens_, i);
        continue;
      }
      const bool shift = (token(i).is("<") && (token(i + 1).is("<") || token(i - 1).is("<"))) || (token(i).is(">") && (token(i + 1).is(">") || token(i - 1).is(">")));
      if ((token(i).is("<") || token(i).is(">") || token(i).is("<=") || token(i).is(">=") || token(i).is("==") || token(i).is("!=")) && !shift) split = i;
    }
    if (split == b) {
      const Value value = expression(a, b);
      result.data |= value.kind != Value::Kind::number || ranges_.depends_on_data(value.number);
      if (parts.size() == 1) result.conjunction = result.disjunction = true;
      continue;
    }
    Comparison comparison{expression(a, split), expression(split + 1, b), std::string(token(split).text)};
    for (const Value* side : {&comparison.left, &comparison.right}) result.data |= side->kind != Value::Kind::number || ranges_.depends_on_data(side->number);
    note_offsets(comparison);
    result.all.push_back(std::move(comparison));
  }
  return result;
}

void BodyReader::note_offsets(const Comparison& c) {
  if (c.right.kind != Value::Kind::number) return;
  const auto loaded = [&](const P& p) -> std::string {
    const P whole = p;
    for (const auto& [monomial, coefficient] : whole.terms())
      for (const std::string& atom : monomial) {
        auto name = atom;
        for (int hop = 0; hop < 4; ++hop) {
          const Variable* found = ranges_.find(name);
          if (found == nullptr) break;
          if (found->kind == Variable::Kind::loaded) return found->buffer;
          const auto& next = found->start ? *found->start : found->a;
          if (next.terms().size() != 1 || next.terms().begin()->first.size() != 1) break;
          name = next.terms().begin()->first[0];
        }
      }
    return "";
  };
  const std::string right = loaded(c.right.number);
  if (right.empty() || c.left.kind != Value::Kind::number) return;
  if (loaded(c.left.number) == right) {
    facts_.pointers[right].offsets = true;
    ranges_.indices().insert(right);
  }
}

void BodyReader::guard(const Condition& when, bool holds) {
  ranges_.open();
  if (holds ? when.conjunction : when.disjunction)
    for (const Comparison& c : when.all) apply(c, holds);
}

}  // namespace cudal1::kernel
