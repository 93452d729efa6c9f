// SPDX-License-Identifier: Apache-2.0
#include "kernel/body_reader.hpp"

#include <algorithm>

namespace cudal1::kernel {

BodyReader::Value BodyReader::expression(std::size_t from, std::size_t to) {
  const std::size_t saved_at = at_, saved_end = end_;
  at_ = from;
  end_ = to;
  Value value = assignment();
  while (at_ < end_ && token(at_).is(",")) {
    ++at_;
    value = assignment();
  }
  at_ = saved_at;
  end_ = saved_end;
  return value;
}

bool BodyReader::next(std::string_view word) const { return at_ < end_ && token(at_).is(word); }

bool BodyReader::accept(std::string_view word) {
  if (!next(word)) return false;
  ++at_;
  return true;
}

BodyReader::Value BodyReader::assignment() {
  if (!ranges_.spend()) {
    at_ = end_;
    return {};
  }
  Place place;
  const std::size_t begin = at_;
  pending_read_.reset();
  Value value = conditional(&place);
  if (at_ >= end_) {
    flush_read();
    return value;
  }
  std::string word;
  std::size_t length = 1;
  for (const std::string_view two : {"+=", "-=", "*=", "/="})
    if (next(two)) word = two;
  if (next("=")) word = "=";
  for (const std::string_view one : {"%", "|", "&", "^"})
    if (next(one) && token(at_ + 1).is("=")) word = std::string(one) + "=", length = 2;
  if (next(">") && token(at_ + 1).is(">=")) word = ">>=", length = 2;
  if (next("<") && token(at_ + 1).is("<=")) word = "<<=", length = 2;
  if (word.empty()) {
    flush_read();
    return value;
  }
  const bool plain = word == "=";
  auto target = pending_read_;
  pending_read_.reset();
  at_ += length;
  const Value right = assignment();
  flush_read();
  if (target) {
    access(target->first, target->second, true, !plain);
    return right;
  }
  if (at_ > begin && token(begin).kind == Kind::identifier && place.name == token(begin).text && scope_.contains(place.name)) assign(place.name, word, right);
  return right;
}

void BodyReader::assign(const std::string& name, const std::string& word, const Value& right) {
  Value& old = scope_[name];
  if (old.kind == Value::Kind::pointer) {
    if (word == "=" && right.kind == Value::Kind::pointer) old = right;
    else if (word == "+=" && right.kind == Value::Kind::number) old.number = old.number + right.number * P::constant(old.width);
    else old.number = ranges_.unknown();
    return;
  }
  if (word == "=") old = right.kind == Value::Kind::number ? named(name, right.number) : right;
  else if (old.kind != Value::Kind::number || right.kind != Value::Kind::number) old = number(ranges_.unknown());
  else if (word == "+=") old = named(name, old.number + right.number);
  else if (word == "-=") old = named(name, old.number - right.number);
  else if (word == "*=") old = named(name, old.number * right.number);
  else if (word == "/=") old = named(name, ranges_.quotient(old.number, right.number));
  else if (word == "%=") old = named(name, ranges_.remainder(old.number, right.number));
  else old = number(ranges_.unknown());
}

BodyReader::Value BodyReader::conditional(Place* place) {
  const std::size_t begin = at_;
  Value value = binary(0, place);
  if (!next("?")) return value;
  flush_read();
  const std::size_t question = at_;
  const Condition when = condition(begin, question);
  at_ = question + 1;
  guard(when, true);
  data_ += when.data;
  Value yes = assignment();
  flush_read();
  ranges_.close();
  accept(":");
  guard(when, false);
  const Value no = assignment();
  flush_read();
  ranges_.close();
  data_ -= when.data;
  if (yes.kind == Value::Kind::pointer) return yes;
  if (yes.kind == Value::Kind::number && no.kind == Value::Kind::number) {
    return number(ranges_.either(yes.number, no.number));
  }
  return number(ranges_.unknown());
}

int BodyReader::level(std::string_view word) {
  if (word == "||") return 1;
  if (word == "&&") return 2;
  if (word == "|") return 3;
  if (word == "^") return 4;
  if (word == "&") return 5;
  if (word == "==" || word == "!=") return 6;
  if (word == "<" || word == ">" || word == "<=" || word == ">=") return 7;
  if (word == "<<" || word == ">>") return 8;
  if (word == "+" || word == "-") return 9;
  if (word == "*" || word == "/" || word == "%") return 10;
  return 0;
}

std::string BodyReader::operator_here(std::size_t& length) const {
  length = 1;
  if (at_ >= end_ || token(at_).kind != Kind::symbol) return "";
  if ((next("<") && token(at_ + 1).is("<")) || (next(">") && token(at_ + 1).is(">"))) {
    length = 2;
    return next("<") ? "<<" : ">>";
  }
  if ((next("<") && token(at_ + 1).is("<=")) || (next(">") && token(at_ + 1).is(">="))) return "";
  if ((next("%") || next("|") || next("&") || next("^")) && token(at_ + 1).is("=")) return "";
  return std::string(token(at_).text);
}

BodyReader::Value BodyReader::binary(int least, Place* place) {
  Value left = unary(place);
  for (;;) {
    std::size_t length = 1;
    const std::string word = operator_here(length);
    const int here = level(word);
    if (here == 0 || here <= least) return left;
    flush_read();
    if (place) place->name.clear();
    at_ += length;
    const Value right = binary(here, nullptr);
    flush_read();
    left = combine(left, word, right);
  }
}

BodyReader::Value BodyReader::combine(const Value& left, const std::string& word, const Value& right) {
  if (left.kind == Value::Kind::pointer && right.kind == Value::Kind::number && (word == "+" || word == "-")) {
    Value moved = left;
    const P by = right.number * P::constant(left.width);
    moved.number = word == "+" ? left.number + by : left.number - by;
    return moved;
  }
  if (right.kind == Value::Kind::pointer && left.kind == Value::Kind::number && word == "+") return combine(right, word, left);
  if (left.kind != Value::Kind::number || right.kind != Value::Kind::number) return number(ranges_.unknown());
  const P &a = left.number, &b = right.number;
  if (word == "+") return number(a + b);
  if (word == "-") return number(a - b);
  if (word == "*") return number(a * b);
  if (word == "/" && !b.terms().empty()) return number(ranges_.quotient(a, b));
  if (word == "%" && !b.terms().empty()) return number(ranges_.remainder(a, b));
  if (word == "<<" && b.value() && *b.value() >= 0 && *b.value() < 32) return number(a * P::constant(std::int64_t{1} << *b.value()));
  if (word == ">>" && b.value() && *b.value() >= 0 && *b.value() < 32) return number(ranges_.quotient(a, P::constant(std::int64_t{1} << *b.value())));
  if (word == "&" && b.value()) return number(ranges_.remainder(a, P::constant(*b.value() + 1)));
  return number(ranges_.unknown());
}

}  // namespace cudal1::kernel
