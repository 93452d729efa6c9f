// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/text.hpp"
#include "kernel/directive_lines.hpp"
#include "kernel/drafted_shape.hpp"
#include "kernel/drafted_task.hpp"
#include "kernel/host_expression.hpp"
#include "kernel/host_source.hpp"
#include "kernel/index_ranges.hpp"
#include "kernel/kernel_usage.hpp"
#include "kernel/names.hpp"
#include "kernel/output.hpp"
#include "kernel/parameter_type.hpp"
#include "kernel/signature.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
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

// Which launches a draft is made of: all of one host function, or one kernel's.
struct Choice {
  std::optional<std::size_t> function;
  std::string kernel;
};

class Drafter {
 public:
  Drafter(const std::string& source, const std::string& name, const HostSource& host, const std::vector<Signature>& kernels, const std::string& expanded, Choice choice)
      : source_(source), name_(name), host_(host), signatures_(kernels), expanded_(expanded), choice_(std::move(choice)), translator_(host_) {
    for (const auto& [alias, type] : type_aliases(source)) aliases_.emplace(alias, type);
    aliases_.emplace("scalar_t", "float");  // what AT_DISPATCH macros call the element type
  }

  Draft run() {
    for (const SetAside& piece : host_.set_aside) draft_.set_aside.push_back(piece.what);
    choose_launches();
    for (const HostLaunch& launch : launches_) add_launch(launch);
    if (launches_.empty())
      if (const Signature* signature = signature_named(choice_.kernel)) add_unlaunched(*signature);
    find_roles();
    infer_shapes();
    for (DraftedScalar& scalar : task_.scalars)
      if (scalar.value.empty()) {
        scalar.value = guessed_real(scalar.name);
        scalar.guessed = true;
      }
    task_.sizes = translator_.sizes();
    for (const auto& [atom, value] : index_sizes_) task_.unvalued_sizes.push_back(value);
    std::sort(task_.unvalued_sizes.begin(), task_.unvalued_sizes.end());
    task_.unvalued_sizes.erase(std::unique(task_.unvalued_sizes.begin(), task_.unvalued_sizes.end()), task_.unvalued_sizes.end());
    draft_.text = draft_directives(task_, name_) + "\n" + kept_code();
    draft_.to_complete = std::move(task_.to_complete);
    draft_.guessed = std::move(task_.guessed);
    draft_.remarks = std::move(task_.remarks);
    draft_.kernel = drafted_kernel_;
    return std::move(draft_);
  }

  // A plan of branches or repetitions is rarely the one that is meant.
  bool straight() const {
    return launches_.size() <= 1 || std::none_of(launches_.begin(), launches_.end(), [](const HostLaunch& l) { return l.conditional || l.in_loop; });
  }

 private:
  void note(std::string text) { task_.note(std::move(text)); }
  void remark(std::string text) { task_.remark(std::move(text)); }

  // What a launch gives its kernel, to read the kernel's accesses with.
  struct Seen {
    const Signature* signature = nullptr;
    std::map<std::string, Polynomial> constants;   // parameters and template arguments
    std::map<std::string, std::pair<std::string, Polynomial>> buffers;  // parameter → buffer's key, offset
    std::map<std::string, std::int64_t> widths;
    std::optional<KnownLaunch> launch;
    std::size_t step = 0;                          // of task_.launches
  };

  const Signature* signature_named(const std::string& name) const {
    for (const Signature& signature : signatures_)
      if (signature.name == name || signature.name.ends_with("::" + name)) return &signature;
    return signatures_.empty() || !name.empty() ? nullptr : &signatures_.front();
  }

  int line_of_token(std::size_t index) const { return index < host_.tokens.size() ? host_.tokens[index].line : 0; }
  std::string raw(TokenRange range) const { return source_text(source_, host_.tokens, range.from, range.to); }

  // One task is one plan: the launches of the first host function that has any. A launch repeated word for word (a
  // warm-up and a timed one) counts once.
  void choose_launches() {
    const std::vector<HostLaunch> all = find_launches(host_);
    std::set<std::string> seen;
    for (const HostLaunch& launch : all) {
      const Signature* signature = base_signature(launch);
      if (signature == nullptr) {
        remark(fmt::format("launch of {} (line {}): its kernel is not defined in this file", launch.kernel, line_of_token(launch.at)));
        continue;
      }
      if (!choice_.kernel.empty() && signature != signature_named(choice_.kernel)) continue;
      if (!choice_.kernel.empty() && !launches_.empty()) continue;  // its first launch
      if (choice_.function && launch.function != *choice_.function) {
        remark(fmt::format("launch of {} in {} (line {}) is left out: a task is one plan, that of {}", launch.kernel, host_.functions[launch.function].name,
                           line_of_token(launch.at), host_.functions[*choice_.function].name));
        continue;
      }
      std::string words = launch.kernel;
      for (const auto* list : {&launch.configuration, &launch.arguments})
        for (const TokenRange part : *list) words += "," + raw(part);
      if (!seen.insert(words).second) continue;
      if (launch.in_loop)
        remark(fmt::format("launch of {} (line {}) stands in a loop: write `for t in 0..T` if its repetition belongs to the work", launch.kernel,
                         line_of_token(launch.at)));
      if (launch.conditional)
        remark(fmt::format("launch of {} (line {}) stands under a condition: keep it if this task takes that branch", launch.kernel,
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
        remark(fmt::format("{}'s template argument {} is taken for {}", signature.name, parameter.name, argument));
      } else if (argument == "scalar_t" || (parameter.type && argument.size() <= 2)) {
        argument = "float";
        remark(fmt::format("{}'s template argument {} is taken for float", signature.name, parameter.name));
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
    if (drafted_kernel_.empty()) drafted_kernel_ = signature.name;
    TypeNames types = aliases_;
    const std::string kernel = kernel_text(launch, signature, types);
    Seen seen;
    seen.signature = &signature;
    note_template_values(signature, types, seen);
    seen_ = &seen;
    std::vector<std::string> arguments;
    bool complete = launch.arguments.size() == signature.parameters.size() && launch.configuration.size() >= 2;
    for (std::size_t i = 0; i < launch.arguments.size() && i < signature.parameters.size(); ++i) {
      const auto argument = add_argument(launch, launch.arguments[i], signature, signature.parameters[i], types);
      complete &= argument.has_value();
      if (argument && !signature.parameters[i].pointer)
        if (const auto expression = Expression::parse(*argument)) seen.constants[signature.parameters[i].name] = plain_product(polynomial_of(*expression));
      arguments.push_back(argument ? *argument : fmt::format("<{}>", raw(launch.arguments[i])));
    }
    std::vector<std::string> configuration;
    KnownLaunch known;
    for (std::size_t i = 0; i < std::min<std::size_t>(launch.configuration.size(), 3); ++i) {
      auto dimensions = i < 2 ? translator_.translate_dim3(launch.configuration[i], launch.function, launch.at) : shared_bytes(launch, i);
      // Threads that are nobody's number: a variable that a macro defines.
      const bool open = dimensions && i == 1 && std::any_of(dimensions->parts.begin(), dimensions->parts.end(), [&](const Expression& part) { return !part.names().empty() && unvalued(part); });
      if ((!dimensions || open) && i < 2) {
        const auto instead = launch_from_guards(launch, signature, seen, i);
        if (instead || !open) dimensions = instead;
      }
      if (!dimensions) {
        complete = false;
        configuration.push_back(fmt::format("<{}>", raw(launch.configuration[i])));
        continue;
      }
      std::vector<std::string> parts;
      for (const Expression& part : dimensions->parts) {
        if (i < 2 && parts.size() < 3) (i == 0 ? known.grid : known.block)[parts.size()] = polynomial_of(part);
        parts.push_back(part.text());
      }
      if (i == 2 && parts[0] == "0") continue;
      configuration.push_back(parts.size() == 1 ? parts[0] : fmt::format("dim3({})", fmt::join(parts, ", ")));
    }
    const std::string text = fmt::format("{}<<<{}>>>({})", kernel, fmt::join(configuration, ", "), fmt::join(arguments, ", "));
    seen.step = task_.launches.size();
    if (complete) seen.launch = known;
    seen_ = nullptr;
    seen_launches_.push_back(seen);
    task_.launches.emplace_back(text, complete);
    if (!complete) note(fmt::format("launch of {} (line {}): {}", signature.name, line_of_token(launch.at), text));
  }

  bool unvalued(const Expression& part) const {
    const auto names = part.names();
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      const auto found = translator_.sizes().find(name);
      return found != translator_.sizes().end() && found->second.empty();
    });
  }

  // A size that is a product of others stands for that product: `n = rows * cols` divides by cols.
  Polynomial plain_product(const Polynomial& p) const {
    Polynomial result = p;
    for (int round = 0; round < 3; ++round) {
      const Polynomial before = result;
      for (const auto& [monomial, coefficient] : before.terms())
        for (const std::string& atom : monomial) {
          const auto found = translator_.sizes().find(atom);
          if (found == translator_.sizes().end() || found->second.empty()) continue;
          const Polynomial value = polynomial_of(found->second);
          const bool plain = value.terms().size() == 1 && std::all_of(value.terms().begin()->first.begin(), value.terms().begin()->first.end(),
                                                                       [](const std::string& name) { return name.find_first_of("( /") == std::string::npos; });
          if (plain && value.terms().begin()->first.size() > 1) result = result.substituted(atom, value);
        }
    }
    return result;
  }

  // Blocks or threads that the host computes beyond expressions, as a kernel that nothing launches gets them.
  std::optional<HostTranslator::Dimensions> launch_from_guards(const HostLaunch& launch, const Signature& signature, const Seen& seen, std::size_t part) {
    std::optional<std::array<std::int64_t, 3>> block;
    if (part == 0)
      if (const auto threads = translator_.translate_dim3(launch.configuration[1], launch.function, launch.at)) {
        block = {1, 1, 1};
        for (std::size_t d = 0; d < threads->parts.size(); ++d)
          if (const auto value = threads->parts[d].evaluate_integer({})) (*block)[d] = *value;
          else return std::nullopt;
      }
    const KernelFacts facts = kernel_facts(expanded_, signature.name, seen.constants, std::nullopt, block);
    std::vector<Expression> parts;
    for (std::size_t d = 0; d < 3; ++d) {
      if (part == 1) {
        parts.push_back(Expression::literal(facts.block[d]));
        continue;
      }
      const bool used = uses_block(signature.name, d);
      if (used && !facts.grid[d]) return std::nullopt;
      const auto extent = Expression::parse(used ? facts.grid[d]->text() : "1");
      if (!extent) return std::nullopt;
      parts.push_back(*extent);
    }
    while (parts.size() > 1 && parts.back().text() == "1") parts.pop_back();
    task_.guessed.push_back(fmt::format("{} of {}: `{}` is computed by the host", part == 0 ? "blocks" : "threads", signature.name, raw(launch.configuration[part])));
    return HostTranslator::Dimensions{parts};
  }

  static void note_template_values(const Signature& signature, const TypeNames& types, Seen& seen) {
    for (const std::string& text : signature.template_parameters) {
      const TemplateParameter parameter = split_template_parameter(text);
      const auto found = types.find(parameter.name);
      if (parameter.type || found == types.end()) continue;
      const auto value = Expression::parse(found->second);
      if (value && value->names().empty()) seen.constants[parameter.name] = polynomial_of(*value);
    }
  }

  std::optional<HostTranslator::Dimensions> shared_bytes(const HostLaunch& launch, std::size_t index) {
    const auto expression = translator_.translate(launch.configuration[index], launch.function, launch.at, false);
    if (!expression) return std::nullopt;
    return HostTranslator::Dimensions{{*expression}};
  }

  // Of a kernel that nothing in the file launches: one argument for each parameter, and the launch that its guards ask for.
  void add_unlaunched(const Signature& signature) {
    drafted_kernel_ = signature.name;
    std::vector<std::string> arguments;
    TypeNames types = aliases_;
    std::vector<std::string> template_arguments;
    for (const std::string& text : signature.template_parameters) {
      const TemplateParameter parameter = split_template_parameter(text);
      const std::string value = !parameter.fallback.empty() ? parameter.fallback : parameter.type ? "float" : guessed_template_value(parameter.name);
      if (parameter.fallback.empty()) remark(fmt::format("{}'s template argument {} is taken for {}", signature.name, parameter.name, value));
      types[parameter.name] = value;
      template_arguments.push_back(value);
    }
    Seen seen;
    seen.signature = &signature;
    note_template_values(signature, types, seen);
    seen_ = &seen;
    bool complete = true;
    for (const Parameter& parameter : signature.parameters) {
      if (parameter.pointer) {
        if (!parameter_buffer(parameter.name, parameter.name, signature, parameter, types, Polynomial())) complete = false;
        const auto buffer = std::find_if(task_.buffers.begin(), task_.buffers.end(), [&](const DraftedBuffer& b) { return b.key == parameter.name; });
        arguments.push_back(buffer == task_.buffers.end() ? "<" + parameter.name + ">" : buffer->name);
      } else if (is_real(parameter, types)) {
        arguments.push_back(scalar_for(parameter.name, *dtype_of(parameter.type, types), ""));
      } else if (!dtype_of(parameter.type, types)) {
        note(fmt::format("parameter {} of {} has the type {}, which a plan cannot pass", parameter.name, signature.name, parameter.type));
        arguments.push_back("<" + parameter.name + ">");
        complete = false;
      } else {
        const bool truth = dtype_of(parameter.type, types) == tensor::Dtype::bool_;
        arguments.push_back(truth ? "true" : bare_size(parameter.name));
        seen.constants[parameter.name] = truth ? Polynomial::constant(1) : Polynomial::atom(arguments.back());
      }
    }
    const KernelFacts facts = kernel_facts(expanded_, signature.name, seen.constants, std::nullopt);
    std::vector<std::string> grid, block;
    for (std::size_t d = 0; d < 3; ++d) {
      block.push_back(fmt::format("{}", facts.block[d]));
      if (facts.grid[d]) grid.push_back(facts.grid[d]->text());
      else grid.push_back(uses_block(signature.name, d) ? grid_size(d) : "1");
    }
    const auto dim3 = [](std::vector<std::string> parts) {
      while (parts.size() > 1 && parts.back() == "1") parts.pop_back();
      return parts.size() == 1 ? parts[0] : fmt::format("dim3({})", fmt::join(parts, ", "));
    };
    KnownLaunch known;
    for (std::size_t d = 0; d < 3; ++d) {
      known.block[d] = Polynomial::constant(facts.block[d]);
      if (const auto expression = Expression::parse(grid[d])) known.grid[d] = polynomial_of(*expression);
    }
    seen.launch = known;
    seen.step = task_.launches.size();
    seen_ = nullptr;
    seen_launches_.push_back(seen);
    const std::string kernel = template_arguments.empty() ? signature.name : fmt::format("{}<{}>", signature.name, fmt::join(template_arguments, ", "));
    const std::string text = fmt::format("{}<<<{}, {}>>>({})", kernel, dim3(grid), dim3(block), fmt::join(arguments, ", "));
    task_.launches.emplace_back(text, complete);
    if (complete) task_.guessed.push_back(fmt::format("launch of {}: none is launched in this file", signature.name));
    else note(fmt::format("launch of {}: none is launched in this file; {}", signature.name, text));
  }

  static std::string guessed_template_value(const std::string& name) {
    std::string word;
    for (const char c : name) word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (word.find("thread") != std::string::npos || word.find("block") != std::string::npos) return "256";
    if (word.find("tile") != std::string::npos || word.find("dim") != std::string::npos) return "16";
    return "1";
  }

  bool uses_block(const std::string& kernel, std::size_t axis) const {
    const auto tokens = lex_code(expanded_);
    const std::size_t colon = kernel.rfind("::");
    const std::string name = colon == std::string::npos ? kernel : kernel.substr(colon + 2);
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (!tokens[i].is(name) || !tokens[i + 1].is("(")) continue;
      const std::size_t head = matching_bracket(tokens, i + 1);
      if (head + 1 >= tokens.size() || !tokens[head + 1].is("{")) continue;
      const std::size_t end = matching_bracket(tokens, head + 1);
      for (std::size_t k = head; k + 2 < end; ++k)
        if (tokens[k].is("blockIdx") && tokens[k + 2].is(std::string_view("xyz").substr(axis, 1))) return true;
    }
    return false;
  }

  // Blocks that no guard counts: a size of its own.
  std::string grid_size(std::size_t axis) {
    const std::string name = bare_size(axis == 0 ? "blocks" : fmt::format("blocks_{}", "xyz"[axis]));
    return name;
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
    const bool null = range.to == range.from + 1 && (tokens[range.from].is("nullptr") || tokens[range.from].is("NULL") || tokens[range.from].text == "0");
    if (null) return "0";
    if (from >= range.to || tokens[from].kind != Kind::identifier || tokens[from].is("nullptr") || tokens[from].is("NULL")) {
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
      } else if (rest + 1 < range.to && (tokens[rest].is("->") || tokens[rest].is(".")) && tokens[rest + 1].kind == Kind::identifier && !(rest + 2 < range.to && (tokens[rest + 2].is("(") || tokens[rest + 2].is("<")))) {
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

  // The buffer of an argument, remembered for reading the kernel's accesses. Null where its type cannot be one.
  DraftedBuffer* parameter_buffer(const std::string& key, const std::string& parameter_name, const Signature& signature, const Parameter& parameter, const TypeNames& types,
                                  const Polynomial& offset) {
    if (std::count(parameter.type.begin(), parameter.type.end(), '*') > 1) {
      note(fmt::format("parameter {} of {} is an array of pointers, which a plan cannot pass", parameter.name, signature.name));
      return nullptr;
    }
    DraftedBuffer* buffer = buffer_for(key, signature, parameter, types);
    if (buffer != nullptr && seen_ != nullptr) seen_->buffers[parameter_name] = {key, offset};
    return buffer;
  }

  DraftedBuffer* buffer_for(const std::string& key, const Signature& signature, const Parameter& parameter, const TypeNames& types) {
    for (DraftedBuffer& buffer : task_.buffers)
      if (buffer.key == key) {
        use(buffer, signature, parameter);
        return &buffer;
      }
    DraftedBuffer buffer;
    buffer.key = key;
    const bool single = launches_.size() <= 1;
    buffer.name = free_name(single && !parameter.name.empty() ? parameter.name : plain_name(key));
    const auto dtype = dtype_of(parameter.type, types);
    if (dtype) {
      buffer.dtype = *dtype;
      const auto scalar = scalar_type(parameter.type, types);
      if (scalar && scalar->kind == ScalarType::Kind::unsigned_integer && scalar->size > 1 && buffer.values.empty()) buffer.values = "randint(0, 8)";
    } else if (const auto elements = elements_of(plain_type(parameter.type, types))) {
      buffer.dtype = elements->first;
      buffer.width = elements->second;
      remark(fmt::format("{} is {}: drafted as {} with {} to each element", buffer.name, parameter.type, tensor::name(buffer.dtype), buffer.width));
    } else if (plain_type(parameter.type, types) == "void") {
      note(fmt::format("type of {}: {} says no element type", buffer.name, parameter.type));
      return nullptr;
    } else {
      note(fmt::format("type of {}: {} is not known to a plan; a structure of one plain type is float32[n, members]", buffer.name, parameter.type));
      return nullptr;
    }
    task_.buffers.push_back(buffer);
    use(task_.buffers.back(), signature, parameter);
    return &task_.buffers.back();
  }

  // Element type and number of a vector type, or of a structure whose members are all of one plain type.
  std::optional<std::pair<tensor::Dtype, std::int64_t>> elements_of(const std::string& type) const {
    using D = tensor::Dtype;
    static const std::map<std::string, std::pair<D, std::int64_t>, std::less<>> vectors = {
        {"float2", {D::float32, 2}}, {"float3", {D::float32, 3}}, {"float4", {D::float32, 4}}, {"double2", {D::float64, 2}}, {"double4", {D::float64, 4}},
        {"int2", {D::int32, 2}},     {"int3", {D::int32, 3}},     {"int4", {D::int32, 4}},     {"uint2", {D::int32, 2}},     {"uint4", {D::int32, 4}},
        {"half2", {D::float16, 2}},  {"__half2", {D::float16, 2}}, {"nv_bfloat162", {D::bfloat16, 2}}, {"__nv_bfloat162", {D::bfloat16, 2}}, {"uchar4", {D::uint8, 4}},
        {"uchar3", {D::uint8, 3}},   {"char4", {D::int8, 4}},     {"short2", {D::int16, 2}}, {"longlong2", {D::int64, 2}}};
    if (const auto found = vectors.find(type); found != vectors.end()) return found->second;
    const auto& tokens = host_.tokens;
    for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
      if (!tokens[i].is("struct")) continue;
      std::size_t open = i + 1;
      while (open < tokens.size() && !tokens[open].is("{") && !tokens[open].is(";") && !tokens[open].is(")"))
        open = (tokens[open].is("(") ? matching_bracket(tokens, open) : open) + 1;  // an attribute's brackets: `struct __align__(8) Pair {`
      if (open >= tokens.size() || !tokens[open].is("{")) continue;
      const std::size_t close = matching_bracket(tokens, open);
      if (!tokens[open - 1].is(type) && !(close + 1 < tokens.size() && tokens[close + 1].is(type))) continue;
      std::optional<D> element;
      std::int64_t members = 0;
      std::size_t k = open + 1;
      while (k < close) {
        std::size_t end = k;
        while (end < close && !tokens[end].is(";")) ++end;
        std::size_t name = k;
        while (name + 1 < end && tokens[name + 1].kind == Kind::identifier) ++name;
        const auto dtype = dtype_of(source_text(source_, tokens, k, name), aliases_);
        if (!dtype || (element && *element != *dtype)) return std::nullopt;
        element = dtype;
        for (std::size_t m = name; m < end; ++m) {
          if (tokens[m].is("(") || tokens[m].is("*") || tokens[m].is("=")) return std::nullopt;
          if (tokens[m].is("[")) return std::nullopt;
          if (tokens[m].kind == Kind::identifier) ++members;
        }
        k = end + 1;
      }
      if (element && members > 0) return std::pair{*element, members};
      return std::nullopt;
    }
    return std::nullopt;
  }

  void use(DraftedBuffer& buffer, const Signature& signature, const Parameter& parameter) {
    const bool constant = parameter.type.substr(0, parameter.type.find('*')).find("const") != std::string::npos;
    const PointerUsage usage = pointer_usage(host_.tokens, signature.name, parameter.name);
    const KernelFacts& all = facts_of(signature);
    const auto found = all.pointers.find(parameter.name);
    const PointerFacts facts = found == all.pointers.end() ? PointerFacts{} : found->second;
    const bool seen = facts.read || facts.written;  // the reader of accesses follows it
    const bool writes = !constant && (seen ? facts.written || usage.written : usage.written || usage.escapes);
    bool reads = constant || (seen ? facts.read_first || !writes : (usage.read && !usage.first_written) || (!usage.written && !usage.escapes));
    if (writes && facts.atomic) {
      reads = true;
      if (buffer.values.empty() || buffer.values == "randint(0, 8)") buffer.values = "zeros";
    }
    if (writes && !reads && seen && facts.written && !facts.certain && !buffer.output) {
      reads = true;
      buffer.values = "zeros";
      remark(fmt::format("{} is written only where data says so: drafted as inout", buffer.name));
    }
    // A later launch that reads what an earlier one wrote makes it a buffer between the two.
    if (reads && buffer.output && !buffer.input) buffer.scratch = true;
    if (reads && !buffer.output) buffer.input = true;
    if (writes) {
      buffer.output = true;
      buffer.scratch = false;  // until a later launch reads it
    }
    if (!constant && !writes) remark(fmt::format("{} is not const, but only read: drafted as an input", buffer.name));
    if (writes && !seen && usage.escapes && !usage.written) remark(fmt::format("{} is handed on inside {}: drafted as an output", buffer.name, signature.name));
    if (writes && reads) remark(fmt::format("{} is read and written by {}: drafted as inout", buffer.name, signature.name));
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
      if (buffer.scratch) remark(fmt::format("{} is written by one launch and read by a later one: drafted as scratch", buffer.name));
    }
  }

  const KernelFacts& facts_of(const Signature& signature) {
    const auto found = facts_.find(signature.name);
    if (found != facts_.end()) return found->second;
    return facts_.emplace(signature.name, kernel_facts(expanded_, signature.name, {}, std::nullopt)).first->second;
  }

  // Shapes and index bounds from what the kernels do to their buffers.
  void infer_shapes() {
    std::map<std::string, SeenElements> elements;  // by key
    std::map<std::string, std::set<std::string>> index_of;  // "@parameter" of a launch → key, as an atom "@key"
    std::set<std::string> indices, offsets;
    for (const Seen& seen : seen_launches_) {
      KernelFacts facts = kernel_facts(expanded_, seen.signature->name, seen.constants, seen.launch);
      for (const auto& [parameter, place] : seen.buffers) {
        const auto& [key, offset] = place;
        const auto found = facts.pointers.find(parameter);
        if (found == facts.pointers.end()) continue;
        SeenElements& of = elements[key];
        of.unknown |= found->second.unknown;
        for (Polynomial extent : found->second.extents) {
          for (const auto& [other, to] : seen.buffers) extent = extent.substituted("@" + other, Polynomial::atom("@" + to.first));
          of.extents.push_back(extent + offset);
        }
        for (const Polynomial& stride : found->second.strides)
          if (std::find(of.strides.begin(), of.strides.end(), stride) == of.strides.end()) of.strides.push_back(stride);
        if (found->second.index) indices.insert(key);
        if (found->second.offsets) offsets.insert(key);
      }
    }
    std::map<std::string, Polynomial> known;
    for (auto& [key, of] : elements) {
      SeenElements all = of;
      for (const DraftedBuffer& buffer : task_.buffers)
        if (buffer.key == key && buffer.shape)
          if (const auto whole = Expression::parse(buffer.shape->substr(1, buffer.shape->size() - 2))) all.extents.push_back(polynomial_of(*whole));
      tie_indices(all, known);
    }
    for (DraftedBuffer& buffer : task_.buffers) {
      const auto found = elements.find(buffer.key);
      if (found != elements.end() && !buffer.shape) {
        SeenElements of = found->second;
        for (auto* list : {&of.extents, &of.strides})
          for (Polynomial& p : *list) p = with_index_sizes(p, known);
        if (!of.unknown || !of.extents.empty()) buffer.shape = shape_of(of);
        if (buffer.shape && of.unknown) buffer.guessed = true;
        if (buffer.shape) with_valid_names(*buffer.shape);
      }
      if (tensor::is_floating(buffer.dtype) || !indices.contains(buffer.key)) continue;
      const Polynomial bound = with_index_sizes(Polynomial::atom("@" + buffer.key), known);
      buffer.values = fmt::format("{}{})", offsets.contains(buffer.key) ? "offsets(" : "randint(0, ", bound.text());
    }
  }

  // "@idx" as the size `idx_range`, where no other access says what the indices are below.
  Polynomial with_index_sizes(const Polynomial& p, const std::map<std::string, Polynomial>& known) {
    Polynomial result = p;
    for (int round = 0; round < 3; ++round) {
      const Polynomial before = result;
      for (const auto& [monomial, coefficient] : before.terms())
        for (const std::string& atom : monomial) {
          if (atom[0] != '@') continue;
          if (const auto value = known.find(atom); value != known.end()) {
            result = result.substituted(atom, value->second);
            continue;
          }
          auto& size = index_sizes_[atom];
          if (size.empty()) {
            std::string word;
            for (const char c : atom.substr(1)) word += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
            for (const DraftedBuffer& buffer : task_.buffers)
              if (buffer.key == atom.substr(1)) word = buffer.name;
            size = free_name(word + "_range");
          }
          result = result.substituted(atom, Polynomial::atom(size));
        }
    }
    return result;
  }

  // A name of the kernel's that is no size of the task is one from here on.
  void with_valid_names(const std::string& shape) {
    const auto expression = Expression::parse("max(0, " + shape.substr(1, shape.size() - 2) + ")");
    if (!expression) return;
    for (const std::string& name : expression->names())
      if (!translator_.sizes().contains(name) && std::find(task_.unvalued_sizes.begin(), task_.unvalued_sizes.end(), name) == task_.unvalued_sizes.end() &&
          std::none_of(index_sizes_.begin(), index_sizes_.end(), [&](const auto& size) { return size.second == name; }))
        task_.unvalued_sizes.push_back(name);
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
  const HostSource& host_;
  const std::vector<Signature>& signatures_;
  const std::string& expanded_;  // with its macros put in
  Choice choice_;
  HostTranslator translator_;
  std::map<std::string, KernelFacts> facts_;
  std::vector<Seen> seen_launches_;
  Seen* seen_ = nullptr;  // the launch that is being drafted
  std::vector<std::string> given_;
  std::map<std::string, std::string> index_sizes_;  // "@idx" → "idx_range"
  std::string drafted_kernel_;
  TypeNames aliases_;
  std::vector<HostLaunch> launches_;
  DraftedTask task_;
  Draft draft_;
};

}  // namespace

namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& why) { throw base::Error(base::Fault::bad_task, fmt::format("{}: {}", name, why)); }

void require_text(const std::string& source, const std::string& name) {
  if (base::trim(source).empty()) refuse(name, "the file is empty; expected CUDA source with a __global__ function");
  if (source.find('\0') != std::string::npos) refuse(name, "this is not a text file: it holds a zero byte; expected CUDA source");
}

std::string kernel_list(const std::vector<std::string>& kernels) {
  constexpr std::size_t most = 20;
  const std::vector<std::string> shown(kernels.begin(), kernels.begin() + static_cast<std::ptrdiff_t>(std::min(most, kernels.size())));
  return fmt::format("{}{}", fmt::join(shown, ", "), kernels.size() > most ? ", …" : "");
}

}  // namespace

Draft draft(const std::string& given, const std::string& name, const std::string& kernel) {
  require_text(given, name);
  if (!directive_lines(given).empty()) {
    Draft same;
    same.text = given;
    return same;
  }
  std::vector<std::string> includes;
  const std::string source = with_local_includes(given.starts_with("\xef\xbb\xbf") ? given.substr(3) : given, name, includes);
  const HostSource host = split_host(source);
  const std::vector<Signature> kernels = signatures(source);
  if (kernels.empty())
    refuse(name, "no `__global__` function was found in it, nor in the files beside it that it includes; give the file that defines the kernel");
  std::vector<std::string> names;
  for (const Signature& signature : kernels) names.push_back(signature.name);
  if (!kernel.empty() && std::none_of(names.begin(), names.end(), [&](const std::string& other) { return other == kernel || other.ends_with("::" + kernel); })) {
    const auto near = base::nearest(kernel, names);
    throw base::Error(base::Fault::usage, fmt::format("--kernel {}: there is no such kernel in {}{}; its kernels are {}", kernel, name,
                                                      near ? fmt::format(" (did you mean {}?)", *near) : "", kernel_list(names)));
  }
  const std::string expanded = with_macros(source);

  std::vector<Choice> choices;
  if (kernel.empty()) {
    std::set<std::size_t> functions;
    for (const HostLaunch& launch : find_launches(host)) {
      const std::string launched = split_kernel_name(launch.kernel).name;
      const bool here = std::any_of(names.begin(), names.end(), [&](const std::string& other) { return other == launched || other.ends_with("::" + launched); });
      if (here && functions.insert(launch.function).second) choices.push_back({launch.function, ""});
    }
    for (const std::string& each : names) choices.push_back({std::nullopt, each});
  } else {
    choices.push_back({std::nullopt, kernel});
  }
  constexpr std::size_t most = 24;  // drafts that are tried
  std::optional<Draft> first;
  for (std::size_t i = 0; i < std::min(choices.size(), most); ++i) {
    Drafter drafter(source, name, host, kernels, expanded, choices[i]);
    Draft one = drafter.run();
    const bool whole = one.complete() && drafter.straight();
    if (!first || whole) first = std::move(one);
    if (whole) break;
  }
  Draft result = *std::move(first);
  result.kernels = names;
  for (const std::string& include : includes) result.remarks.push_back("put in: " + include);
  if (kernel.empty() && names.size() > 1) result.remarks.push_back(fmt::format("of {} kernels {} is drafted; another: --kernel NAME, of {}", names.size(), result.kernel, kernel_list(names)));
  return result;
}

}  // namespace cudal1::kernel
