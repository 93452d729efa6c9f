// SPDX-License-Identifier: Apache-2.0
#include "kernel/body_reader.hpp"
#include "kernel/type_words.hpp"

#include <algorithm>
#include <iterator>

namespace cudal1::kernel {

void BodyReader::block(std::size_t to) {
  while (at_ < to && at_ < tokens_.size() && !ranges_.spent()) {
    const std::size_t before = at_;
    statement(to);
    if (at_ <= before) at_ = before + 1;
  }
  at_ = to;
}

void BodyReader::scoped(std::size_t to) {
  const auto saved = scope_;
  if (token(at_).is("{")) {
    const std::size_t close = std::min(matching_bracket(tokens_, at_), to);
    ++at_;
    block(close);
    at_ = close + 1;
  } else {
    statement(to);
  }
  // What is declared inside ends; what is assigned inside stays.
  for (auto& [name, value] : scope_)
    if (const auto old = saved.find(name); old != saved.end() && old->second.kind == value.kind && value.number != old->second.number) {
      if (value.kind == Value::Kind::number) value = number(ranges_.either(old->second.number, value.number));
    }
  for (const auto& [name, value] : saved) scope_.try_emplace(name, value);
  for (auto i = scope_.begin(); i != scope_.end();) i = saved.contains(i->first) ? std::next(i) : scope_.erase(i);
}

void BodyReader::statement(std::size_t to) {
  const SourceToken& here = token(at_);
  if (here.is(";")) {
    ++at_;
  } else if (here.is("{")) {
    scoped(to);
  } else if (here.is("if")) {
    if_statement(to);
  } else if (here.is("for") || here.is("while")) {
    loop(to);
  } else if (here.is("do")) {
    ++at_;
    widen(at_, code_.loop_end(at_));
    scoped(to);
    at_ = code_.statement_end(at_) + 1;
  } else if (here.is("switch")) {
    at_ = matching_bracket(tokens_, at_ + 1) + 1;
    const int data = data_++;
    scoped(to);
    data_ = data;
  } else if (here.is("return")) {
    const std::size_t end = code_.statement_end(at_);
    if (end > at_ + 1) returned_ = expression(at_ + 1, end);
    at_ = end + 1;
  } else if (here.is("else") || here.is("break") || here.is("continue") || here.is("case") || here.is("default") || here.is("goto")) {
    while (at_ < to && !token(at_).is(";") && !token(at_).is(":")) ++at_;
    ++at_;
  } else {
    const std::size_t end = std::min(code_.statement_end(at_), to);
    simple(at_, end);
    at_ = end + 1;
  }
}

void BodyReader::if_statement(std::size_t to) {
  std::size_t open = at_ + 1;
  if (token(open).is("constexpr")) ++open;
  const std::size_t close = matching_bracket(tokens_, open);
  if (close >= to) {
    at_ = to;
    return;
  }
  const Condition when = condition(open + 1, close);
  at_ = close + 1;
  const bool away = code_.leaves(at_);
  guard(when, true);
  const int data = data_;
  data_ += when.data;
  scoped(to);
  data_ = data;
  ranges_.close();
  bool otherwise = false;
  if (token(at_).is("else")) {
    otherwise = true;
    ++at_;
    guard(when, false);
    data_ += when.data;
    scoped(to);
    data_ = data;
    ranges_.close();
  }
  if (away && !otherwise && when.disjunction)
    for (const Comparison& c : when.all) apply(c, false);
  if (away && when.data) ++data_;  // what follows depends on it
}

void BodyReader::widen(std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to && i < tokens_.size(); ++i) {
    if (token(i).kind != Kind::identifier || (i > 0 && (token(i - 1).is(".") || token(i - 1).is("->")))) continue;
    const std::string name(token(i).text);
    const auto found = scope_.find(name);
    if (found == scope_.end()) continue;
    bool up = token(i + 1).is("++") || token(i + 1).is("+=") || (i > 0 && token(i - 1).is("++"));
    bool down = token(i + 1).is("--") || token(i + 1).is("-=") || token(i + 1).is("/=") || (i > 0 && token(i - 1).is("--")) ||
                (token(i + 1).is(">") && token(i + 2).is(">="));
    bool other = (token(i + 1).is("=") || token(i + 1).is("*=") || ((token(i + 1).is("%") || token(i + 1).is("|") || token(i + 1).is("&") || token(i + 1).is("^")) && token(i + 2).is("="))) ||
                 (token(i + 1).is("<") && token(i + 2).is("<="));
    // A declaration within the loop is another name; `i = i / 2` only shrinks.
    if (token(i + 1).is("=") && i > 0 && token(i - 1).kind == Kind::identifier) continue;
    if (token(i + 1).is("=") && token(i + 2).is(name) && (token(i + 3).is("/") || token(i + 3).is(">"))) down = true, other = false;
    if (!up && !down && !other) continue;
    Value& value = found->second;
    if (value.kind == Value::Kind::pointer) {
      value.number = ranges_.unknown();
      continue;
    }
    if (value.kind != Value::Kind::number) continue;
    Variable variable;
    if (up && !other) variable.start = value.number;
    if (up && !other) variable.low = ranges_.bound(value.number, false);
    if (down && !up && !other) {
      variable.high = ranges_.bound(value.number, true);
      variable.low = P();
    }
    const std::string atom = ranges_.fresh(variable, name + "'");
    value = number(P::atom(atom));
  }
}

void BodyReader::invariants(std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    if (!token(i).is("if") || !token(i + 1).is("(")) continue;
    const std::size_t close = matching_bracket(tokens_, i + 1);
    if (close + 1 >= to || !code_.leaves(close + 1) || close != i + 5) continue;
    if ((token(i + 3).is(">=") || token(i + 3).is("==")) && scope_.contains(std::string(token(i + 2).text))) {
      const Comparison c{expression(i + 2, i + 3), expression(i + 4, i + 5), ">="};
      apply(c, false);
    }
  }
}

void BodyReader::loop(std::size_t to) {
  const bool is_for = token(at_).is("for");
  const std::size_t open = at_ + 1, close = matching_bracket(tokens_, open);
  if (close >= to) {
    at_ = to;
    return;
  }
  const auto saved = scope_;
  std::size_t first = open, second = close;
  if (is_for) {
    int found = 0;
    for (std::size_t i = open + 1; i < close; ++i) {
      if (token(i).is("(") || token(i).is("[") || token(i).is("{")) i = matching_bracket(tokens_, i);
      else if (token(i).is(";")) (found++ == 0 ? first : second) = i;
    }
    if (found != 2) {
      at_ = close + 1;
      scoped(to);
      return;
    }
    simple(open + 1, first);
  }
  const std::size_t body = close + 1, end = std::min(code_.loop_end(body), to);
  ranges_.open();
  if (is_for) widen(second + 1, close);
  widen(body, end);
  invariants(body, end);
  const Condition when = condition(first + 1, is_for ? second : close);
  if (when.conjunction)
    for (const Comparison& c : when.all) apply(c, true);
  const int data = data_;
  data_ += when.data;
  at_ = body;
  scoped(to);
  data_ = data;
  ranges_.close();
  at_ = std::max(at_, end + (token(end).is("}") || token(end).is(";") ? 1 : 0));
  for (auto i = scope_.begin(); i != scope_.end();) i = saved.contains(i->first) ? std::next(i) : scope_.erase(i);
}

void BodyReader::simple(std::size_t from, std::size_t to) {
  // type words, then a name, then what a declarator goes on with
  std::size_t i = from;
  bool shared = false, type = false, pointer = false;
  while (i < to && (token(i).is("const") || token(i).is("static") || token(i).is("volatile") || token(i).is("extern") || token(i).is("__shared__") || token(i).is("constexpr") ||
                    token(i).is("register") || token(i).is("__restrict__") || token(i).is("typename") || token(i).is("struct") || token(i).is("__align__") || token(i).is("alignas"))) {
    shared |= token(i).is("__shared__");
    if (token(i + 1).is("(")) i = matching_bracket(tokens_, i + 1);
    ++i;
  }
  std::size_t words = 0;
  while (i < to && token(i).kind == Kind::identifier && (words == 0 || token(i + 1).kind == Kind::identifier || token(i - 1).is("::") || is_type(token(i).text))) {
    if (words > 0 && !is_type(token(i).text) && !token(i - 1).is("::") && !is_type(token(i - 1).text)) break;
    ++words;
    ++i;
    while (i < to && token(i).is("::")) {
      ++i;
      if (token(i).kind == Kind::identifier) ++i;
    }
    if (i < to && token(i).is("<")) {
      const std::size_t after = after_template_list(tokens_, i);
      if (after > i) i = after;
    }
  }
  type = words > 0;
  std::size_t name = i;
  while (name < to && (token(name).is("*") || token(name).is("&") || token(name).is("__restrict__") || token(name).is("const") || token(name).is("__restrict"))) {
    pointer |= token(name).is("*");
    ++name;
  }
  const SourceToken& after = token(name + 1);
  const bool declares = type && name < to && token(name).kind == Kind::identifier &&
                        (name + 1 == to || after.is("=") || after.is(",") || after.is("[") || after.is("{") || (after.is("(") && is_type(token(from).text)) ||
                         (after.is(";"))) &&
                        !(pointer && scope_.contains(std::string(token(from).text)));
  if (!declares) {
    expression(from, to);
    flush_read();
    return;
  }
  const std::string words_text = code_.text(from, name);
  while (name < to) {
    while (name < to && (token(name).is("*") || token(name).is("&"))) {
      pointer |= token(name).is("*");
      ++name;
    }
    std::size_t end = name;
    while (end < to && !token(end).is(",")) {
      if (token(end).is("(") || token(end).is("[") || token(end).is("{")) end = matching_bracket(tokens_, end);
      ++end;
    }
    declare(name, std::min(end, to), shared, pointer, words_text);
    name = end + 1;
  }
}

void BodyReader::declare(std::size_t name, std::size_t end, bool shared, bool pointer, const std::string& words) {
  const std::string word(token(name).text);
  if (shared || token(name + 1).is("[")) {
    std::size_t i = name + 1;
    for (; token(i).is("["); i = matching_bracket(tokens_, i) + 1) {}
    if (token(i).is("=")) expression(i + 1, end), flush_read();
    scope_[word] = Value{};
    return;
  }
  if (token(name + 1).is("=") || token(name + 1).is("(") || token(name + 1).is("{")) {
    const bool brackets = !token(name + 1).is("=");
    const Value value = brackets ? expression(name + 2, end > name + 2 ? end - 1 : end) : expression(name + 2, end);
    flush_read();
    if (value.kind == Value::Kind::pointer && (pointer || words.find("auto") != std::string::npos)) scope_[word] = value;
    else if (value.kind == Value::Kind::number && is_real(words)) scope_[word] = number(ranges_.unknown());
    else scope_[word] = value.kind == Value::Kind::number && !pointer ? named(word, value.number) : Value{};
    return;
  }
  scope_[word] = pointer ? Value{} : number(ranges_.unknown());
}

}  // namespace cudal1::kernel
