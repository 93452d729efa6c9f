// SPDX-License-Identifier: Apache-2.0
#include "kernel/drafter.hpp"

#include "kernel/element_type.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::kernel {

std::optional<std::string> Drafter::add_argument(const HostLaunch& launch, TokenRange range, const Signature& signature, const Parameter& parameter, const TypeNames& types) {
  if (range.from >= range.to) return std::nullopt;
  if (parameter.pointer) return pointer_argument(launch, range, signature, parameter, types);
  const auto dtype = dtype_of(parameter.type, types);
  if (!dtype) {
    note(fmt::format("parameter {} of {} has the type {}, which a plan cannot pass", parameter.name, signature.name, parameter.type));
    return std::nullopt;
  }
  if (tensor::is_floating(*dtype)) return real_argument(launch, range, parameter, *dtype);
  const auto expression = translator_.translate(range, launch.function, launch.at, true);
  if (expression) return expression->text();
  if (range.to == range.from + 1 && host_.tokens[range.from].kind == SourceToken::Kind::identifier) return bare_size(std::string(host_.tokens[range.from].text));
  return bare_size(parameter.name);
}

std::string Drafter::scalar_for(const std::string& wanted, tensor::Dtype dtype, const std::string& value) {
  for (const DraftedScalar& scalar : task_.scalars)
    if (scalar.name == wanted) return wanted;
  DraftedScalar scalar{free_name(wanted), dtype, value};
  task_.scalars.push_back(scalar);
  return scalar.name;
}

std::optional<std::string> Drafter::real_argument(const HostLaunch& launch, TokenRange range, const Parameter& parameter, tensor::Dtype dtype) {
  const auto literal = Expression::parse(raw(range));
  if (literal && literal->names().empty()) return literal->text();
  std::string wanted = parameter.name, value;
  if (range.to == range.from + 1 && host_.tokens[range.from].kind == SourceToken::Kind::identifier) {
    wanted = std::string(host_.tokens[range.from].text);
    if (const auto found = translator_.definition(wanted, launch.function, launch.at)) {
      const auto expression = Expression::parse(raw(*found));
      if (expression && expression->names().empty()) value = expression->text();
    }
  }
  return scalar_for(wanted, dtype, value);
}

std::optional<std::string> Drafter::pointer_argument(const HostLaunch& launch, TokenRange range, const Signature& signature, const Parameter& parameter, const TypeNames& types) {
  const auto& tokens = host_.tokens;
  std::size_t from = range.from;
  while (from < range.to && tokens[from].is("(")) {  // a cast, or a parenthesis
    const std::size_t close = matching_bracket(tokens, from);
    from = close + 1 < range.to ? close + 1 : from + 1;
  }
  if (from + 1 < range.to && tokens[from].text.ends_with("_cast") && tokens[from + 1].is("<")) {
    const std::size_t after = after_template_list(tokens, from + 1);
    if (after < range.to) from = after + 1;
  }
  while (from + 1 < range.to && (tokens[from].is("thrust") || tokens[from].is("::") || tokens[from].is("raw_pointer_cast") || tokens[from].is("&") || tokens[from].is("("))) ++from;
  const bool null = range.to == range.from + 1 && (tokens[range.from].is("nullptr") || tokens[range.from].is("NULL") || tokens[range.from].text == "0");
  if (null) return "0";
  if (from >= range.to || tokens[from].kind != SourceToken::Kind::identifier || tokens[from].is("nullptr") || tokens[from].is("NULL")) {
    note(fmt::format("parameter {} of {} is given `{}`: pass a buffer", parameter.name, signature.name, raw(range)));
    return std::nullopt;
  }
  std::string key(tokens[from].text);
  // `buffers[source]` and `buffers[target]` are two; `p->output` and `p->weights` too.
  std::size_t rest = from + 1;
  for (;;) {
    if (rest < range.to && tokens[rest].is("[")) {
      const std::size_t close = std::min(matching_bracket(tokens, rest), range.to);
      key += "_" + source_text(source_, tokens, rest + 1, close);
      rest = close + 1;
    } else if (rest + 1 < range.to && (tokens[rest].is("->") || tokens[rest].is(".")) && tokens[rest + 1].kind == SourceToken::Kind::identifier && !(rest + 2 < range.to && (tokens[rest + 2].is("(") || tokens[rest + 2].is("<")))) {
      key = std::string(tokens[rest + 1].text);
      rest += 2;
    } else {
      break;
    }
  }
  std::optional<Expression> offset;
  if (rest < range.to && tokens[rest].is("+")) {
    offset = translator_.translate({rest + 1, range.to}, launch.function, launch.at, true);
    if (!offset) return std::nullopt;
  }
  if (std::any_of(given_.begin(), given_.end(), [&](const std::string& other) { return other == key; }) && !offset)
    remark(fmt::format("{} is given to {} twice: drafted as one buffer", key, signature.name));
  given_.push_back(key);
  DraftedBuffer* buffer = parameter_buffer(key, parameter.name, signature, parameter, types, offset ? polynomial_of(*offset) : Polynomial());
  if (buffer == nullptr) return std::nullopt;
  infer_shape(launch, key);
  return offset ? fmt::format("{} + {}", buffer->name, offset->text()) : buffer->name;
}

DraftedBuffer* Drafter::parameter_buffer(const std::string& key, const std::string& parameter_name, const Signature& signature, const Parameter& parameter, const TypeNames& types,
                                const Polynomial& offset) {
  if (std::count(parameter.type.begin(), parameter.type.end(), '*') > 1) {
    note(fmt::format("parameter {} of {} is an array of pointers, which a plan cannot pass", parameter.name, signature.name));
    return nullptr;
  }
  DraftedBuffer* buffer = buffer_for(key, signature, parameter, types, !offset.terms().empty());
  if (buffer != nullptr && seen_ != nullptr) seen_->buffers[parameter_name] = {key, offset};
  return buffer;
}

}  // namespace cudal1::kernel
