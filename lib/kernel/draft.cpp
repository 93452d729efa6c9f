// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "kernel/directive_lines.hpp"
#include "kernel/drafted_task.hpp"
#include "kernel/host_expression.hpp"
#include "kernel/host_source.hpp"
#include "kernel/kernel_usage.hpp"
#include "kernel/names.hpp"
#include "kernel/output.hpp"
#include "kernel/parameter_type.hpp"
#include "kernel/signature.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

using Kind = SourceToken::Kind;

// "d_A", "dev_out", "a_d", "x_gpu" → what the author means.
std::string plain_name(std::string name) {
  for (const std::string_view prefix : {"d_", "dev_", "device_", "gpu_", "cuda_"})
    if (name.starts_with(prefix) && name.size() > prefix.size()) return name.substr(prefix.size());
  for (const std::string_view suffix : {"_d", "_dev", "_device", "_gpu"})
    if (name.ends_with(suffix) && name.size() > suffix.size()) return name.substr(0, name.size() - suffix.size());
  return name;
}

std::optional<tensor::Dtype> dtype_of(const std::string& type, const TypeNames& names) {
  const auto scalar = scalar_type(type, names);
  if (!scalar) return std::nullopt;
  if (scalar->kind == ScalarType::Kind::floating) return scalar->floating;
  if (scalar->kind == ScalarType::Kind::boolean) return tensor::Dtype::bool_;
  if (scalar->size == 1) return scalar->kind == ScalarType::Kind::unsigned_integer ? tensor::Dtype::uint8 : tensor::Dtype::int8;
  return scalar->size == 2 ? tensor::Dtype::int16 : scalar->size == 4 ? tensor::Dtype::int32 : tensor::Dtype::int64;
}

class Drafter {
 public:
  Drafter(const std::string& source, const std::string& name)
      : source_(source), name_(name), host_(split_host(source)), translator_(host_), signatures_(signatures(source)) {
    for (const auto& [alias, type] : type_aliases(source)) aliases_.emplace(alias, type);
    aliases_.emplace("scalar_t", "float");  // what AT_DISPATCH macros call the element type
  }

  Draft run() {
    for (const SetAside& piece : host_.set_aside) draft_.set_aside.push_back(piece.what);
    choose_launches();
    for (const HostLaunch& launch : launches_) add_launch(launch);
    if (launches_.empty() && !signatures_.empty()) add_unlaunched(signatures_.front());
    find_roles();
    task_.sizes = translator_.sizes();
    draft_.text = draft_directives(task_, name_) + "\n" + kept_code();
    draft_.to_complete = std::move(task_.to_complete);
    if (signatures_.empty()) draft_.to_complete.insert(draft_.to_complete.begin(), "no `__global__` function was found: write one");
    draft_.to_complete.emplace_back("torch: say what is right, such as //@ torch C = A @ B (without it only the reference's own output is known)");
    return std::move(draft_);
  }

 private:
  void note(std::string text) { task_.note(std::move(text)); }

  int line_of_token(std::size_t index) const { return index < host_.tokens.size() ? host_.tokens[index].line : 0; }
  std::string raw(TokenRange range) const { return source_text(source_, host_.tokens, range.from, range.to); }

  // One task is one plan: the launches of the first host function that has any. A launch repeated word for word (a
  // warm-up and a timed one) counts once.
  void choose_launches() {
    const std::vector<HostLaunch> all = find_launches(host_);
    std::set<std::string> seen;
    for (const HostLaunch& launch : all) {
      if (find_signature(signatures_, split_kernel_name(launch.kernel).name) == nullptr && base_signature(launch) == nullptr) {
        note(fmt::format("launch of {} (line {}): its kernel is not defined in this file", launch.kernel, line_of_token(launch.at)));
        continue;
      }
      if (!launches_.empty() && launch.function != launches_.front().function) {
        note(fmt::format("launch of {} in {} (line {}) is left out: a task is one plan, that of {}", launch.kernel, host_.functions[launch.function].name,
                         line_of_token(launch.at), host_.functions[launches_.front().function].name));
        continue;
      }
      std::string words = launch.kernel;
      for (const auto* list : {&launch.configuration, &launch.arguments})
        for (const TokenRange part : *list) words += "," + raw(part);
      if (!seen.insert(words).second) continue;
      if (launch.in_loop)
        note(fmt::format("launch of {} (line {}) stands in a loop: write `for t in 0..T` if its repetition belongs to the work", launch.kernel,
                         line_of_token(launch.at)));
      if (launch.conditional)
        note(fmt::format("launch of {} (line {}) stands under a condition: keep it if this task takes that branch", launch.kernel,
                         line_of_token(launch.at)));
      launches_.push_back(launch);
    }
  }

  // A kernel called inside its namespace without the qualification.
  const Signature* base_signature(const HostLaunch& launch) const {
    const std::string name = split_kernel_name(launch.kernel).name;
    for (const Signature& signature : signatures_)
      if (signature.name == name || signature.name.ends_with("::" + name)) return &signature;
    return nullptr;
  }

  // Template arguments as a directive can write them: constants resolved, deduced types taken for float.
  std::string kernel_text(const HostLaunch& launch, const Signature& signature, TypeNames& types) {
    if (signature.template_parameters.empty()) return signature.name;
    const KernelName written = split_kernel_name(launch.kernel);
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i < signature.template_parameters.size(); ++i) {
      const TemplateParameter parameter = split_template_parameter(signature.template_parameters[i]);
      std::string argument = i < written.template_arguments.size() ? written.template_arguments[i] : parameter.fallback;
      if (argument.empty()) {
        argument = parameter.type ? "float" : "1";
        note(fmt::format("{}'s template argument {} is taken for {}", signature.name, parameter.name, argument));
      } else if (argument == "scalar_t" || (parameter.type && argument.size() <= 2)) {
        argument = "float";
        note(fmt::format("{}'s template argument {} is taken for float", signature.name, parameter.name));
      } else if (!parameter.type && Expression::parse(argument) && !Expression::parse(argument)->names().empty()) {
        if (const auto value = translated_constant(argument, launch))
          argument = fmt::format("{}", *value);
        else
          note(fmt::format("{}'s template argument {} is `{}`: write its value", signature.name, parameter.name, argument));
      }
      types[parameter.name] = argument;
      arguments.push_back(argument);
    }
    return fmt::format("{}<{}>", signature.name, fmt::join(arguments, ", "));
  }

  std::optional<std::int64_t> translated_constant(const std::string& text, const HostLaunch& launch) {
    const auto expression = Expression::parse(text);
    Environment values;
    for (const std::string& name : expression->names()) {
      const auto value = translator_.constant(name, launch.function, launch.at);
      if (!value) return std::nullopt;
      values[name] = *value;
    }
    const auto value = expression->evaluate_integer(values);
    return value ? std::optional<std::int64_t>(*value) : std::nullopt;
  }

  void add_launch(const HostLaunch& launch) {
    const Signature& signature = *base_signature(launch);
    TypeNames types = aliases_;
    const std::string kernel = kernel_text(launch, signature, types);
    std::vector<std::string> arguments;
    bool complete = launch.arguments.size() == signature.parameters.size() && launch.configuration.size() >= 2;
    for (std::size_t i = 0; i < launch.arguments.size() && i < signature.parameters.size(); ++i) {
      const auto argument = add_argument(launch, launch.arguments[i], signature, signature.parameters[i], types);
      complete &= argument.has_value();
      arguments.push_back(argument ? *argument : fmt::format("<{}>", raw(launch.arguments[i])));
    }
    std::vector<std::string> configuration;
    for (std::size_t i = 0; i < std::min<std::size_t>(launch.configuration.size(), 3); ++i) {
      const auto dimensions = i < 2 ? translator_.translate_dim3(launch.configuration[i], launch.function, launch.at) : shared_bytes(launch, i);
      if (!dimensions) {
        complete = false;
        configuration.push_back(fmt::format("<{}>", raw(launch.configuration[i])));
        continue;
      }
      std::vector<std::string> parts;
      for (const Expression& part : dimensions->parts) parts.push_back(part.text());
      if (i == 2 && parts[0] == "0") continue;
      configuration.push_back(parts.size() == 1 ? parts[0] : fmt::format("dim3({})", fmt::join(parts, ", ")));
    }
    const std::string text = fmt::format("{}<<<{}>>>({})", kernel, fmt::join(configuration, ", "), fmt::join(arguments, ", "));
    task_.launches.emplace_back(text, complete);
    if (!complete) note(fmt::format("launch of {} (line {}): {}", signature.name, line_of_token(launch.at), text));
  }

  std::optional<HostTranslator::Dimensions> shared_bytes(const HostLaunch& launch, std::size_t index) {
    const auto expression = translator_.translate(launch.configuration[index], launch.function, launch.at, false);
    if (!expression) return std::nullopt;
    return HostTranslator::Dimensions{{*expression}};
  }

  void add_unlaunched(const Signature& signature) {
    std::vector<std::string> arguments;
    TypeNames types = aliases_;
    for (const std::string& text : signature.template_parameters) {
      const TemplateParameter parameter = split_template_parameter(text);
      types[parameter.name] = parameter.type ? "float" : parameter.fallback;
    }
    for (const Parameter& parameter : signature.parameters) {
      if (parameter.pointer) arguments.push_back(buffer_for(parameter.name, signature, parameter, types).name);
      else if (is_real(parameter, types)) arguments.push_back(scalar_for(parameter.name, *dtype_of(parameter.type, types), ""));
      else arguments.push_back(bare_size(parameter.name));
    }
    task_.launches.emplace_back(fmt::format("{}<<<<grid>, <block>>>>({})", signature.name, fmt::join(arguments, ", ")), false);
    note(fmt::format("launch of {}: give grid and block; none is launched in this file", signature.name));
  }

  static bool is_real(const Parameter& parameter, const TypeNames& types) {
    const auto dtype = dtype_of(parameter.type, types);
    return dtype && tensor::is_floating(*dtype);
  }

  std::string bare_size(const std::string& wanted) {
    const std::string name = free_name(wanted.empty() ? "n" : wanted);
    task_.unvalued_sizes.push_back(name);
    return name;
  }

  std::string free_name(std::string name) const {
    if (name.empty()) name = "x";
    if (!reserved_for(name).empty()) name += "_";
    const auto taken = [&](const std::string& candidate) {
      return std::any_of(task_.buffers.begin(), task_.buffers.end(), [&](const DraftedBuffer& b) { return b.name == candidate; }) ||
             std::any_of(task_.scalars.begin(), task_.scalars.end(), [&](const DraftedScalar& s) { return s.name == candidate; }) ||
             std::find(task_.unvalued_sizes.begin(), task_.unvalued_sizes.end(), candidate) != task_.unvalued_sizes.end() || translator_.sizes().contains(candidate);
    };
    if (!taken(name)) return name;
    for (int i = 2;; ++i)
      if (const std::string candidate = fmt::format("{}{}", name, i); !taken(candidate)) return candidate;
  }

  std::optional<std::string> add_argument(const HostLaunch& launch, TokenRange range, const Signature& signature, const Parameter& parameter, const TypeNames& types) {
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
    if (range.to == range.from + 1 && host_.tokens[range.from].kind == Kind::identifier) return bare_size(std::string(host_.tokens[range.from].text));
    return bare_size(parameter.name);
  }

  std::string scalar_for(const std::string& wanted, tensor::Dtype dtype, const std::string& value) {
    for (const DraftedScalar& scalar : task_.scalars)
      if (scalar.name == wanted) return wanted;
    DraftedScalar scalar{free_name(wanted), dtype, value};
    task_.scalars.push_back(scalar);
    return scalar.name;
  }

  std::optional<std::string> real_argument(const HostLaunch& launch, TokenRange range, const Parameter& parameter, tensor::Dtype dtype) {
    const auto literal = Expression::parse(raw(range));
    if (literal && literal->names().empty()) return literal->text();
    std::string wanted = parameter.name, value;
    if (range.to == range.from + 1 && host_.tokens[range.from].kind == Kind::identifier) {
      wanted = std::string(host_.tokens[range.from].text);
      if (const auto found = translator_.definition(wanted, launch.function, launch.at)) {
        const auto expression = Expression::parse(raw(*found));
        if (expression && expression->names().empty()) value = expression->text();
      }
    }
    return scalar_for(wanted, dtype, value);
  }

  // `d_A`, `d_A + n`, `A.data_ptr<float>()`, `thrust::raw_pointer_cast(a.data())`, `(float*)d_A`
  std::optional<std::string> pointer_argument(const HostLaunch& launch, TokenRange range, const Signature& signature, const Parameter& parameter, const TypeNames& types) {
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
    if (from >= range.to || tokens[from].kind != Kind::identifier || tokens[from].is("nullptr") || tokens[from].is("NULL")) {
      note(fmt::format("parameter {} of {} is given `{}`: pass a buffer", parameter.name, signature.name, raw(range)));
      return std::nullopt;
    }
    const std::string key(tokens[from].text);
    const DraftedBuffer& buffer = buffer_for(key, signature, parameter, types);
    infer_shape(launch, key);
    const std::string name = buffer.name;
    if (from + 1 < range.to && tokens[from + 1].is("+")) {
      const auto offset = translator_.translate({from + 2, range.to}, launch.function, launch.at, true);
      if (!offset) return std::nullopt;
      return fmt::format("{} + {}", name, offset->text());
    }
    return name;
  }

  DraftedBuffer& buffer_for(const std::string& key, const Signature& signature, const Parameter& parameter, const TypeNames& types) {
    for (DraftedBuffer& buffer : task_.buffers)
      if (buffer.key == key) {
        use(buffer, signature, parameter);
        return buffer;
      }
    DraftedBuffer buffer;
    buffer.key = key;
    const bool single = launches_.size() <= 1;
    buffer.name = free_name(single && !parameter.name.empty() ? parameter.name : plain_name(key));
    const auto dtype = dtype_of(parameter.type, types);
    if (dtype) {
      buffer.dtype = *dtype;
      const auto scalar = scalar_type(parameter.type, types);
      if (scalar && scalar->kind == ScalarType::Kind::unsigned_integer && scalar->size > 1)
        note(fmt::format("{} is {}: drafted as {}, the signed type of that width", buffer.name, parameter.type, tensor::name(*dtype)));
    } else {
      note(fmt::format("type of {}: {} is not known, drafted as float32", buffer.name, parameter.type));
    }
    task_.buffers.push_back(buffer);
    use(task_.buffers.back(), signature, parameter);
    return task_.buffers.back();
  }

  void use(DraftedBuffer& buffer, const Signature& signature, const Parameter& parameter) {
    const bool constant = parameter.type.substr(0, parameter.type.find('*')).find("const") != std::string::npos;
    const PointerUsage usage = pointer_usage(host_.tokens, signature.name, parameter.name);
    const bool writes = !constant && (usage.written || usage.escapes);
    const bool reads = constant || (usage.read && !usage.first_written) || (!usage.written && !usage.escapes);
    // A later launch that reads what an earlier one wrote makes it a buffer between the two.
    if (reads && buffer.output && !buffer.input) buffer.scratch = true;
    if (reads && !buffer.output) buffer.input = true;
    if (writes) {
      buffer.output = true;
      buffer.scratch = false;  // until a later launch reads it
    }
    if (!constant && !writes) note(fmt::format("{} is not const, but only read: drafted as an input", buffer.name));
    if (writes && usage.escapes && !usage.written) note(fmt::format("{} is handed on inside {}: drafted as an output", buffer.name, signature.name));
    if (writes && reads) note(fmt::format("{} is read and written by {}: drafted as inout", buffer.name, signature.name));
  }

  // cudaMalloc(&d_A, N * M * sizeof(float)) in the same function.
  void infer_shape(const HostLaunch& launch, const std::string& key) {
    DraftedBuffer* buffer = nullptr;
    for (DraftedBuffer& candidate : task_.buffers)
      if (candidate.key == key) buffer = &candidate;
    if (buffer == nullptr || buffer->shape) return;
    const auto& tokens = host_.tokens;
    const TokenRange body = host_.functions[launch.function].body;
    for (std::size_t i = body.from; i + 1 < std::min(launch.at, body.to); ++i) {
      if (!(tokens[i].is("cudaMalloc") || tokens[i].is("cudaMallocManaged") || tokens[i].is("cudaMallocAsync"))) continue;
      std::size_t open = i + 1;
      if (tokens[open].is("<")) open = after_template_list(tokens, open);
      if (open >= body.to || !tokens[open].is("(")) continue;
      const auto arguments = split_arguments(tokens, open + 1, matching_bracket(tokens, open));
      if (arguments.size() < 2 || arguments[0].to == arguments[0].from || !tokens[arguments[0].to - 1].is(key)) continue;
      TokenRange bytes = arguments[1];
      if (bytes.to == bytes.from + 1 && tokens[bytes.from].kind == Kind::identifier)
        if (const auto found = translator_.definition(tokens[bytes.from].text, launch.function, i)) bytes = *found;
      if (const auto count = element_count(bytes, launch, i)) buffer->shape = "[" + *count + "]";
      return;
    }
  }

  // `N * M * sizeof(float)` without its sizeof.
  std::optional<std::string> element_count(TokenRange bytes, const HostLaunch& launch, std::size_t at) {
    const auto& tokens = host_.tokens;
    for (std::size_t i = bytes.from; i < bytes.to; ++i) {
      if (!tokens[i].is("sizeof") || i + 1 >= bytes.to) continue;
      const std::size_t after = matching_bracket(tokens, i + 1) + 1;
      TokenRange rest{};
      if (i == bytes.from && after < bytes.to && tokens[after].is("*")) rest = {after + 1, bytes.to};
      else if (after == bytes.to && i > bytes.from && tokens[i - 1].is("*")) rest = {bytes.from, i - 1};
      else if (i == bytes.from && after == bytes.to) return "1";
      else return std::nullopt;
      const auto count = translator_.translate(rest, launch.function, at, true);
      return count ? std::optional<std::string>(count->text()) : std::nullopt;
    }
    return std::nullopt;
  }

  void find_roles() {
    const bool any = std::any_of(task_.buffers.begin(), task_.buffers.end(), [](const DraftedBuffer& b) { return b.output && !b.scratch; });
    for (DraftedBuffer& buffer : task_.buffers) {
      if (!any) buffer.scratch = false;
      if (buffer.scratch) note(fmt::format("{} is written by one launch and read by a later one: drafted as scratch", buffer.name));
    }
  }

  std::string kept_code() const {
    std::string text;
    std::size_t at = 0;
    for (const SetAside& piece : host_.set_aside) {
      if (piece.from < at) continue;
      text += source_.substr(at, piece.from - at);
      at = std::max(at, piece.to);
      // The newline behind what is taken out goes with it.
      if (at < source_.size() && source_[at] == '\n' && (text.empty() || text.back() == '\n')) ++at;
    }
    text += source_.substr(std::min(at, source_.size()));
    std::string out;
    int blank = 1;
    for (const std::string& line : base::split_lines(text)) {
      blank = base::trim(line).empty() ? blank + 1 : 0;
      if (blank <= 1) out += line + "\n";
    }
    return out;
  }

  const std::string& source_;
  const std::string& name_;
  HostSource host_;
  HostTranslator translator_;
  std::vector<Signature> signatures_;
  TypeNames aliases_;
  std::vector<HostLaunch> launches_;
  DraftedTask task_;
  Draft draft_;
};

}  // namespace

Draft draft(const std::string& source, const std::string& name) {
  if (source.find('\0') != std::string::npos || !directive_lines(source).empty()) return {source, {}, {}};
  return Drafter(source, name).run();
}

}  // namespace cudal1::kernel
