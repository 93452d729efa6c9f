// SPDX-License-Identifier: Apache-2.0
#include "kernel/drafter.hpp"

#include "kernel/element_type.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

bool is_real_parameter(const Parameter& parameter, const TypeNames& types) {
  const auto dtype = dtype_of(parameter.type, types);
  return dtype && tensor::is_floating(*dtype);
}

}  // namespace

void Drafter::choose_launches() {
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

const Signature* Drafter::base_signature(const HostLaunch& launch) const {
  const std::string name = split_kernel_name(launch.kernel).name;
  for (const Signature& signature : signatures_)
    if (signature.name == name || signature.name.ends_with("::" + name)) return &signature;
  return nullptr;
}

std::string Drafter::kernel_text(const HostLaunch& launch, const Signature& signature, TypeNames& types) {
  if (signature.template_parameters.empty()) return signature.name;
  const KernelName written = split_kernel_name(launch.kernel);
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < signature.template_parameters.size(); ++i) {
    const TemplateParameter parameter = split_template_parameter(signature.template_parameters[i]);
    std::string argument = i < written.template_arguments.size() ? written.template_arguments[i] : parameter.fallback;
    if (argument.empty()) {
      argument = parameter.type ? "float" : "1";
      remark(fmt::format("{}'s template argument {} is taken for {}", signature.name, parameter.name, argument));
    } else if (argument == "scalar_t" || (parameter.type && (argument.size() <= 2 || !names_a_type(argument)))) {
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

// Whether the file or the language has a type of that name; the parameter of a template around the launch is none.
bool Drafter::names_a_type(const std::string& words) const {
  if (dtype_of(words, file_.aliases) || elements_of(words, file_.aliases, source_)) return true;
  const std::string name = words.substr(0, words.find_first_of("<: *&"));
  for (std::size_t i = 0; i + 2 < host_.tokens.size(); ++i) {
    const SourceToken &word = host_.tokens[i], &next = host_.tokens[i + 1], &after = host_.tokens[i + 2];
    if ((word.is("struct") || word.is("class")) && next.is(name) && (after.is("{") || after.is(":"))) return true;
    if (word.is("using") && next.is(name) && after.is("=")) return true;
    if (next.is(name) && after.is(";") && word.kind == SourceToken::Kind::identifier) return true;  // a typedef's end
  }
  return words.find("::") != std::string::npos;
}

std::optional<std::int64_t> Drafter::translated_constant(const std::string& text, const HostLaunch& launch) {
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

void Drafter::add_launch(const HostLaunch& launch) {
  const Signature& signature = *base_signature(launch);
  if (drafted_kernel_.empty()) drafted_kernel_ = signature.name;
  TypeNames types = file_.aliases;
  const std::string kernel = kernel_text(launch, signature, types);
  SeenLaunch seen;
  seen.signature = &signature;
  note_template_values(signature, types, seen);
  seen_ = &seen;
  std::vector<std::string> arguments;
  given_.clear();
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
    // A number of blocks that sizes a buffer as well is that size: `partial<<<blocks, 256>>>` fills `float[blocks]`.
    const TokenRange& written = launch.configuration[i];
    if (dimensions && i == 0 && written.to == written.from + 1 && translator_.sizes().contains(std::string(host_.tokens[written.from].text)))
      if (const auto name = Expression::parse(host_.tokens[written.from].text)) dimensions = HostTranslator::Dimensions{{*name}};
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

bool Drafter::unvalued(const Expression& part) const {
  const auto names = part.names();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto found = translator_.sizes().find(name);
    return found != translator_.sizes().end() && found->second.empty();
  });
}

Polynomial Drafter::plain_product(const Polynomial& p) const {
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

std::optional<HostTranslator::Dimensions> Drafter::launch_from_guards(const HostLaunch& launch, const Signature& signature, const SeenLaunch& seen, std::size_t part) {
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

void Drafter::note_template_values(const Signature& signature, const TypeNames& types, SeenLaunch& seen) {
  for (const std::string& text : signature.template_parameters) {
    const TemplateParameter parameter = split_template_parameter(text);
    const auto found = types.find(parameter.name);
    if (parameter.type || found == types.end()) continue;
    const auto value = Expression::parse(found->second);
    if (value && value->names().empty()) seen.constants[parameter.name] = polynomial_of(*value);
  }
}

std::optional<HostTranslator::Dimensions> Drafter::shared_bytes(const HostLaunch& launch, std::size_t index) {
  const auto expression = translator_.translate(launch.configuration[index], launch.function, launch.at, false);
  if (!expression) return std::nullopt;
  return HostTranslator::Dimensions{{*expression}};
}

void Drafter::add_unlaunched(const Signature& signature) {
  drafted_kernel_ = signature.name;
  std::vector<std::string> arguments;
  TypeNames types = file_.aliases;
  std::vector<std::string> template_arguments;
  for (const std::string& text : signature.template_parameters) {
    const TemplateParameter parameter = split_template_parameter(text);
    const std::string value = !parameter.fallback.empty() ? parameter.fallback : parameter.type ? "float" : guessed_template_value(parameter.name);
    if (parameter.fallback.empty()) remark(fmt::format("{}'s template argument {} is taken for {}", signature.name, parameter.name, value));
    types[parameter.name] = value;
    template_arguments.push_back(value);
  }
  SeenLaunch seen;
  seen.signature = &signature;
  note_template_values(signature, types, seen);
  seen_ = &seen;
  bool complete = true;
  for (const Parameter& parameter : signature.parameters) {
    if (parameter.pointer) {
      if (!parameter_buffer(parameter.name, parameter.name, signature, parameter, types, Polynomial())) complete = false;
      const auto buffer = std::find_if(task_.buffers.begin(), task_.buffers.end(), [&](const DraftedBuffer& b) { return b.key == parameter.name; });
      arguments.push_back(buffer == task_.buffers.end() ? "<" + parameter.name + ">" : buffer->name);
    } else if (is_real_parameter(parameter, types)) {
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

std::string Drafter::guessed_template_value(const std::string& name) {
  std::string word;
  for (const char c : name) word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (word.find("thread") != std::string::npos || word.find("block") != std::string::npos) return "256";
  if (word.find("tile") != std::string::npos || word.find("dim") != std::string::npos) return "16";
  return "1";
}

bool Drafter::uses_block(const std::string& kernel, std::size_t axis) const {
  const auto& tokens = expanded_.tokens();
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

std::string Drafter::grid_size(std::size_t axis) {
  const std::string name = bare_size(axis == 0 ? "blocks" : fmt::format("blocks_{}", "xyz"[axis]));
  return name;
}

}  // namespace cudal1::kernel
