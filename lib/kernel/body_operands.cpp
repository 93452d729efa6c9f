// SPDX-License-Identifier: Apache-2.0
#include "kernel/body_reader.hpp"
#include "kernel/expression.hpp"
#include "kernel/type_words.hpp"

#include <algorithm>

namespace cudal1::kernel {

BodyReader::Value BodyReader::cast(Value value, const std::string& words) {
  if (value.kind == Value::Kind::pointer && words.find('*') != std::string::npos) {
    value.width = width_of(words);
    if (value.width == 4 && kernel_->halves.contains(value.buffer)) value.width = 8;
  }
  return value;
}

BodyReader::Value BodyReader::unary(Place* place) {
  if (at_ >= end_) return {};
  if (accept("-")) {
    const Value of = unary(nullptr);
    flush_read();
    return of.kind == Value::Kind::number ? number(P() - of.number) : of;
  }
  if (accept("+")) return unary(place);
  if (accept("!") || accept("~")) {
    unary(nullptr);
    flush_read();
    return number(ranges_.unknown());
  }
  if (next("++") || next("--")) {
    const bool up = next("++");
    ++at_;
    Place inner;
    const Value of = unary(&inner);
    if (pending_read_) {
      access(pending_read_->first, pending_read_->second, true, true);
      pending_read_.reset();
    } else if (!inner.name.empty() && scope_.contains(inner.name)) {
      assign(inner.name, up ? "+=" : "-=", number(P::constant(1)));
    }
    return of;
  }
  if (accept("*")) {
    const Value of = unary(nullptr);
    flush_read();
    if (of.kind == Value::Kind::pointer) {
      pending_read_ = {of, P()};
      return number(ranges_.loaded_from(of.buffer));
    }
    return number(ranges_.unknown());
  }
  if (accept("&")) {
    const Value of = unary(nullptr);
    if (pending_read_) {
      Value pointer = pending_read_->first;
      pointer.number = pointer.number + pending_read_->second * P::constant(pointer.width);
      pending_read_.reset();
      return pointer;
    }
    return of;
  }
  if (next("("))
    if (auto of = cast()) return *of;
  return postfix(primary(place), place);
}

// Nothing but words of a type in the brackets, and an operand behind them; else nothing is read.
std::optional<BodyReader::Value> BodyReader::cast() {
  const std::size_t close = matching_bracket(tokens_, at_);
  bool type = close > at_ + 1 && close < end_, star = false;
  for (std::size_t i = at_ + 1; i < close && type; ++i) {
    star |= tokens_[i].is("*");
    type = (tokens_[i].kind == Kind::identifier && (is_type(tokens_[i].text) || !scope_.contains(std::string(tokens_[i].text)))) || tokens_[i].is("*") || tokens_[i].is("::") ||
           tokens_[i].is("&");
  }
  const SourceToken& after = token(close + 1);
  const bool operand = close + 1 < end_ && (after.kind == Kind::identifier || after.kind == Kind::number || after.is("(") || after.is("&") || after.is("*") || after.is("-") || after.is("+"));
  const bool known = token(at_ + 1).kind == Kind::identifier && is_type(token(at_ + 1).text);
  if (!type || !operand || !(known || star || after.kind == Kind::identifier || after.kind == Kind::number)) return std::nullopt;
  const std::string words = code_.text(at_ + 1, close);
  at_ = close + 1;
  const Value of = unary(nullptr);
  return cast(of, words);
}

BodyReader::Value BodyReader::in_brackets() {
  const std::size_t close = std::min(matching_bracket(tokens_, at_), end_);
  const std::size_t saved = end_;
  ++at_;
  end_ = close;
  Value value = assignment_keeping_read();
  while (accept(",")) {
    flush_read();
    value = assignment_keeping_read();
  }
  at_ = close + 1;
  end_ = saved;
  return value;
}

BodyReader::Value BodyReader::primary(Place* place) {
  const SourceToken& here = token(at_);
  if (here.is("(")) return in_brackets();
  ++at_;
  if (here.kind == Kind::number) {
    if (here.text.find('.') == std::string_view::npos && here.text.find('f') == std::string_view::npos)
      if (const auto parsed = Expression::parse(here.text))
        if (const auto value = parsed->evaluate_integer({})) return number(P::constant(*value));
    return number(ranges_.unknown());
  }
  if (here.kind != Kind::identifier) return number(ranges_.unknown());
  std::string word(here.text);
  while (next("::")) {
    ++at_;
    word = std::string(token(at_++).text);
  }
  if (word.ends_with("_cast") && next("<")) {
    const std::size_t after = after_template_list(tokens_, at_);
    if (after > at_ && token(after).is("(")) {
      const std::string words = code_.text(at_ + 1, after - 1);
      at_ = after;
      Value value = primary(nullptr);
      if (pending_read_ && words.find('&') != std::string::npos) {  // reinterpret_cast<float4&>(x[i])
        pending_read_->first.number = pending_read_->first.number + pending_read_->second * P::constant(pending_read_->first.width);
        pending_read_->second = P();
        pending_read_->first.width = width_of(words);
        return value;
      }
      return cast(value, words);
    }
  }
  if (next("<")) {  // f<T>(…)
    const std::size_t after = after_template_list(tokens_, at_);
    if (after > at_ && after < end_ && token(after).is("(")) at_ = after;
  }
  if ((word == "threadIdx" || word == "blockIdx" || word == "blockDim" || word == "gridDim") && next(".")) {
    const std::string axis(token(at_ + 1).text);
    at_ += 2;
    return thread_value(word, axis);
  }
  if (word == "warpSize") return number(P::constant(32));
  if (next("(")) return call(word);
  if (const auto found = scope_.find(word); found != scope_.end()) {
    if (place) place->name = word;
    return found->second;
  }
  if (const auto value = code_.constant(word)) return number(P::constant(*value));
  return number(ranges_.unknown());
}

BodyReader::Value BodyReader::assignment_keeping_read() {
  const auto saved = pending_read_;
  pending_read_.reset();
  Place place;
  const std::size_t begin = at_;
  Value value = conditional(&place);
  if (at_ < end_ && !next(",")) {
    at_ = begin;
    pending_read_.reset();
    value = assignment();
  }
  return value;
}

BodyReader::Value BodyReader::call(const std::string& word) {
  const std::size_t open = at_, close = std::min(matching_bracket(tokens_, at_), end_);
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  std::size_t begin = open + 1;
  for (std::size_t i = open + 1; i <= close; ++i) {
    if (i < close && (token(i).is("(") || token(i).is("[") || token(i).is("{"))) {
      i = std::min(matching_bracket(tokens_, i), close);
      if (i < close) continue;
    }
    if (i != close && !token(i).is(",")) continue;
    if (i > begin) ranges.emplace_back(begin, i);
    begin = i + 1;
  }
  std::vector<Value> arguments;
  for (const auto& [from, to] : ranges) arguments.push_back(expression(from, to));
  at_ = close + 1;
  const auto is_number = [&](std::size_t i) { return i < arguments.size() && arguments[i].kind == Value::Kind::number; };
  if ((word == "min" || word == "max" || word == "fminf" || word == "fmaxf" || word == "imin") && is_number(0) && is_number(1)) {
    Variable variable;
    if (word == "min" || word == "imin") {
      variable.kind = Variable::Kind::least;
      variable.a = arguments[0].number;
      variable.b = arguments[1].number;
    } else {
      const auto a = ranges_.bound(arguments[0].number, true), b = ranges_.bound(arguments[1].number, true);
      if (a && b) variable.high = (*b - *a).never_negative() ? b : a;
      variable.low = P();
    }
    return number(P::atom(ranges_.fresh(variable)));
  }
  if (is_type(word) && is_number(0)) return arguments[0];
  if (word.starts_with("atomic") && !arguments.empty() && arguments[0].kind == Value::Kind::pointer) {
    access(arguments[0], P(), true, true, true);
    return number(ranges_.loaded_from(arguments[0].buffer));
  }
  if ((word == "__ldg" || word == "__ldcs" || word == "__ldcg" || word == "__ldca") && !arguments.empty() && arguments[0].kind == Value::Kind::pointer) {
    pending_read_ = {arguments[0], P()};
    return number(ranges_.loaded_from(arguments[0].buffer));
  }
  if ((word == "__stcs" || word == "__stcg" || word == "__stwb") && arguments.size() > 1) {
    access(arguments[0], P(), true, false);
    return {};
  }
  // A warp's tile in tensor cores, whose form the fragment's type has.
  if (word == "store_matrix_sync" && !arguments.empty() && arguments[0].kind == Value::Kind::pointer && !arguments[0].buffer.empty()) {
    PointerFacts& facts = facts_.pointers[arguments[0].buffer];
    facts.unknown = facts.written = true;
    facts.certain |= data_ == 0;
    return {};
  }
  return inlined(word, arguments);
}

BodyReader::Value BodyReader::inlined(const std::string& word, const std::vector<Value>& arguments) {
  std::optional<FunctionText> function;
  if (calls_ < 5 && !open_.contains(word)) function = code_.device_function(word, arguments.size());
  if (!function) {
    for (const Value& argument : arguments)
      if (argument.kind == Value::Kind::pointer && !argument.buffer.empty()) {
        PointerFacts& facts = facts_.pointers[argument.buffer];
        facts.unknown = true;
        facts.read = facts.read_first = true;
      }
    return number(ranges_.unknown());
  }
  const auto saved = scope_;
  const int data = data_;
  const std::size_t saved_at = at_, saved_end = end_;
  for (std::size_t i = 0; i < function->parameters.size(); ++i) scope_[function->parameters[i].first] = i < arguments.size() ? arguments[i] : Value{};
  ++calls_;
  open_.insert(word);
  returned_.reset();
  at_ = function->body_from;
  block(function->body_to);
  open_.erase(word);
  --calls_;
  at_ = saved_at;
  end_ = saved_end;
  scope_ = saved;
  data_ = data;
  auto result = returned_.value_or(number(ranges_.unknown()));
  returned_.reset();
  return result.kind == Value::Kind::other ? number(ranges_.unknown()) : result;
}

BodyReader::Value BodyReader::postfix(Value value, Place* place) {
  for (;;) {
    if (at_ >= end_) return value;
    if (next("[")) {
      const std::size_t close = std::min(matching_bracket(tokens_, at_), end_);
      const auto saved = pending_read_;
      const Value index = expression(at_ + 1, close);
      pending_read_ = saved;
      at_ = close + 1;
      flush_read();
      if (place) place->name.clear();
      if (value.kind == Value::Kind::pointer) {
        pending_read_ = {value, index.kind == Value::Kind::number ? index.number : ranges_.unknown()};
        value = number(ranges_.loaded_from(value.buffer));
      } else {
        value = number(ranges_.unknown());
      }
    } else if (next(".") || next("->")) {
      at_ += 2;
      if (next("(")) call("");
      if (place) place->name.clear();
      if (value.kind != Value::Kind::pointer) value = number(ranges_.unknown());
    } else if (next("++") || next("--")) {
      const bool up = next("++");
      ++at_;
      if (pending_read_) {
        access(pending_read_->first, pending_read_->second, true, true);
        pending_read_.reset();
      } else if (place && !place->name.empty() && scope_.contains(place->name)) {
        const Value before = value;
        assign(place->name, up ? "+=" : "-=", number(P::constant(1)));
        value = before;
        place->name.clear();
      }
    } else {
      return value;
    }
  }
}

}  // namespace cudal1::kernel
