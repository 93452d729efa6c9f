// SPDX-License-Identifier: Apache-2.0
#include "kernel/check.hpp"

#include "base/text.hpp"
#include "kernel/expectation.hpp"
#include "kernel/expression_node.hpp"
#include "kernel/input_values.hpp"
#include "kernel/constant_values.hpp"
#include "kernel/signature.hpp"
#include "kernel/source_lexer.hpp"
#include "kernel/tensor_map.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

using Node = Expression::Node;

enum class Noun { size, scalar, buffer, tunable, scratch, repeat };

std::string_view word(Noun noun) {
  switch (noun) {
    case Noun::size: return "a size";
    case Noun::scalar: return "a scalar";
    case Noun::buffer: return "a buffer";
    case Noun::tunable: return "a tunable";
    case Noun::scratch: return "a scratch buffer";
    case Noun::repeat: return "a repeat's variable";
  }
  return "";
}

base::Diagnostic diagnostic_at(const File& file, Place place, std::string message, std::string hint = {}) {
  base::Diagnostic diagnostic;
  diagnostic.file = file.name;
  diagnostic.line = place.line;
  diagnostic.column = place.column;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  return diagnostic;
}

class Checker {
 public:
  explicit Checker(const File& file) : file_(file) {}

  base::Diagnostics declarations() {
    for (const SizeLine& line : file_.sizes)
      for (const auto& [name, value] : line.values)
        if (!known_.contains(name)) declare(name, Noun::size, line.place);
    for (const Scalar& scalar : file_.scalars) declare(scalar.name, Noun::scalar, scalar.place);
    for (std::size_t i = 0; i < file_.buffers.size(); ++i) {
      const Buffer& buffer = file_.buffers[i];
      declare(buffer.name, Noun::buffer, buffer.place);
      if (buffer.within.stride != 0 && (i == 0 || file_.buffers[i - 1].within.memory != buffer.within.memory || file_.buffers[i - 1].place.line != buffer.place.line))
        declare(buffer.within.memory, Noun::buffer, buffer.place);
    }
    for (const Tunable& tunable : file_.tunables) declare(tunable.name, Noun::tunable, tunable.place);
    for (const Scratch& scratch : file_.scratches) declare(scratch.name, Noun::scratch, scratch.place);
    std::set<std::string> seen;
    for (const Tolerance& tolerance : file_.tolerances)
      if (!seen.insert(tolerance.output).second)
        add(tolerance.place, tolerance.output.empty() ? "a second tolerance of every output"
                                                      : fmt::format("a second tolerance of {}", tolerance.output));
    seen.clear();
    for (const Expectation& expectation : expectations(file_))
      if (!seen.insert(expectation.output).second) add(expectation.place, fmt::format("a second expectation of {}", expectation.output));
    return std::move(diagnostics_);
  }

  base::Diagnostics uses() {
    declarations();
    diagnostics_.clear();
    const std::set<Noun> sizes = {Noun::size}, values = {Noun::size, Noun::scalar};
    const std::set<Noun> plan = {Noun::size, Noun::scalar, Noun::tunable, Noun::repeat};
    for (const SizeLine& line : file_.sizes)
      for (const auto& [name, value] : line.values) check(value, sizes, "a size");
    for (const SizeLine& line : file_.checks)
      for (const auto& [name, value] : line.values) {
        if (const auto found = known_.find(name); found == known_.end() || found->second.noun != Noun::size)
          add(line.place, fmt::format("no size line gives {} a value", name), nearest_hint(name, sizes));
        check(value, sizes, "a size");
      }
    for (const Scalar& scalar : file_.scalars) check(scalar.value, values, "a size or scalar");
    for (const Buffer& buffer : file_.buffers)
      for (const Expression& extent : buffer.shape) check(extent, sizes, "a size");
    for (const Buffer& buffer : file_.buffers)
      for (const Expression& bound : bounds(buffer))
        for (const std::string& name : bound.names())
          if (const auto found = known_.find(name); found == known_.end() || !values.contains(found->second.noun))
            add(buffer.place, fmt::format("unknown name `{}` in the values of {}; expected a size or scalar", name, buffer.name), nearest_hint(name, values));
    for (const Tolerance& tolerance : file_.tolerances) check_tolerance(tolerance);
    for (const Expectation& expectation : expectations(file_)) check_expectation(expectation);
    for (const Tunable& tunable : file_.tunables) check(tunable.condition, {Noun::tunable}, "a tunable");
    for (const Scratch& scratch : file_.scratches)
      for (const Expression& extent : scratch.shape) check(extent, {Noun::size, Noun::scalar, Noun::tunable}, "a size or tunable");
    signatures_ = signatures(without_host_part(file_.source));
    check_steps(file_.plan, plan);
    return std::move(diagnostics_);
  }

 private:
  struct Known {
    Noun noun;
    Place place;
  };

  void add(Place place, std::string message, std::string hint = {}) {
    diagnostics_.push_back(diagnostic_at(file_, place, std::move(message), std::move(hint)));
  }

  void declare(const std::string& name, Noun noun, Place place) {
    const auto [found, fresh] = known_.try_emplace(name, Known{noun, place});
    if (fresh) return;
    const std::string where = found->second.place.line > 0 ? fmt::format(", line {}", found->second.place.line) : "";
    add(place, fmt::format("{} is declared twice: it is already {}{}", name, word(found->second.noun), where));
  }

  std::string nearest_hint(const std::string& name, const std::set<Noun>& nouns) const {
    std::vector<std::string> candidates;
    for (const auto& [other, known] : known_)
      if (nouns.contains(known.noun)) candidates.push_back(other);
    if (const auto near = base::nearest(name, candidates)) return fmt::format("did you mean `{}`?", *near);
    return {};
  }

  void check(const Expression& expression, const std::set<Noun>& nouns, std::string_view expected) {
    if (!expression.empty()) check_node(*expression.root(), nouns, expected);
  }

  void check_node(const Node& node, const std::set<Noun>& nouns, std::string_view expected) {
    if (node.kind == Node::Kind::name) {
      const auto found = known_.find(node.text);
      if (found == known_.end())
        add({node.line, node.column}, fmt::format("unknown name `{}`; expected {}", node.text, expected), nearest_hint(node.text, nouns));
      else if (!nouns.contains(found->second.noun))
        add({node.line, node.column}, fmt::format("{} is {}; expected {}", node.text, word(found->second.noun), expected));
    }
    for (const auto& child : node.children) check_node(*child, nouns, expected);
  }

  // `C`, `C + N*M`, `N`: a buffer may only stand first in a sum.
  void check_argument(const Expression& argument, const std::set<Noun>& nouns) {
    const Node* node = argument.root();
    if (is_tensor_map(*node)) {
      check_argument(Expression(node->children[0]), nouns);
      for (std::size_t i = 1; i < node->children.size(); ++i)
        if (node->children[i]->text != "type") check_node(*node->children[i], nouns, "a size, scalar or tunable");
      return;
    }
    while (node->kind == Node::Kind::binary && (node->text == "+" || node->text == "-")) {
      check_node(*node->children[1], nouns, "a size, scalar or tunable");
      node = node->children[0].get();
    }
    if (node->kind == Node::Kind::name) {
      const auto found = known_.find(node->text);
      if (found != known_.end() && (found->second.noun == Noun::buffer || found->second.noun == Noun::scratch)) return;
      if (found == known_.end()) {
        std::set<Noun> all = nouns;
        all.insert({Noun::buffer, Noun::scratch});
        add({node->line, node->column}, fmt::format("unknown name `{}`; expected a buffer, size, scalar or tunable", node->text),
            nearest_hint(node->text, all));
        return;
      }
    }
    check_node(*node, nouns, "a size, scalar or tunable, or a buffer as the first of a sum");
  }

  void check_tolerance(const Tolerance& tolerance) {
    if (!tolerance.output.empty()) check_output(tolerance.output, tolerance.place);
  }

  void check_expectation(const Expectation& expectation) {
    check_output(expectation.output, expectation.place);
    if (!file_.sizes.empty())
      add(expectation.place, "what is expected holds for fixed sizes only", "write the sizes as numbers, and leave the size lines out");
  }

  void check_output(const std::string& name, Place place) {
    std::vector<std::string> outputs;
    for (const Buffer& buffer : file_.buffers)
      if (buffer.role != Buffer::Role::input) outputs.push_back(buffer.name);
    if (std::find(outputs.begin(), outputs.end(), name) != outputs.end()) return;
    const auto near = base::nearest(name, outputs);
    add(place, fmt::format("{} is not an output", name), near ? fmt::format("did you mean `{}`?", *near) : "");
  }

  void check_steps(const std::vector<Step>& steps, const std::set<Noun>& nouns) {
    for (const Step& step : steps) {
      if (const auto* launch = std::get_if<LaunchStep>(&step.step)) {
        launched_ = true;
        check_launch(*launch, nouns);
      } else if (const auto* memset = std::get_if<MemsetStep>(&step.step)) {
        check_memset(*memset);
      } else if (const auto* copy = std::get_if<CopyStep>(&step.step)) {
        check_copy(*copy);
      } else {
        const auto& repeat = std::get<RepeatStep>(step.step);
        check(repeat.from, nouns, "a size or tunable");
        if (repeat.variable.empty()) {
          check_steps(repeat.body, nouns);
          continue;
        }
        check(repeat.to, nouns, "a size or tunable");
        const bool fresh = !known_.contains(repeat.variable);
        declare(repeat.variable, Noun::repeat, repeat.place);
        ++repeats_;
        check_steps(repeat.body, nouns);
        --repeats_;
        if (fresh) known_.erase(repeat.variable);
      }
    }
  }

  void check_memset(const MemsetStep& memset) {
    const auto found = known_.find(memset.buffer);
    if (found == known_.end() || (found->second.noun != Noun::buffer && found->second.noun != Noun::scratch)) {
      add(memset.place, fmt::format("unknown buffer `{}`", memset.buffer), nearest_hint(memset.buffer, {Noun::buffer, Noun::scratch}));
      return;
    }
    for (const Buffer& buffer : file_.buffers)
      if (buffer.memory() == memset.buffer && buffer.role == Buffer::Role::input) {
        add(memset.place, fmt::format("{} is an input: a plan must not write it", memset.buffer));
        return;
      }
  }

  // Nothing of an earlier execution is left in the variable when the first launch reads it.
  void check_copy(const CopyStep& copy) {
    const auto input = std::find_if(file_.buffers.begin(), file_.buffers.end(), [&](const Buffer& b) { return b.memory() == copy.buffer; });
    if (input == file_.buffers.end()) add(copy.place, fmt::format("unknown buffer `{}`", copy.buffer), nearest_hint(copy.buffer, {Noun::buffer}));
    else if (input->role != Buffer::Role::input) add(copy.place, fmt::format("{} is no input: `copy` fills a variable with what an input holds", copy.buffer));
    const std::vector<std::string> variables = constant_variables(without_host_part(file_.source));
    const std::string name = copy.variable.substr(copy.variable.rfind(':') == std::string::npos ? 0 : copy.variable.rfind(':') + 1);
    if (std::find(variables.begin(), variables.end(), name) == variables.end()) {
      const auto near = base::nearest(name, variables);
      add(copy.place, fmt::format("there is no `__constant__` variable {} in this file", copy.variable), near ? fmt::format("did you mean `{}`?", *near) : "");
    }
    if (launched_ || repeats_ > 0) add(copy.place, "`copy` comes before the first launch, and not within `for`");
  }

  void check_launch(const LaunchStep& launch, const std::set<Noun>& nouns) {
    for (const Dim3Expression* dim : {&launch.grid, &launch.block, &launch.cluster})
      for (const Expression* part : {&dim->x, &dim->y, &dim->z}) check(*part, nouns, "a size, scalar or tunable");
    check(launch.shared_bytes, nouns, "a size, scalar or tunable");
    for (const Expression& argument : launch.arguments) check_argument(argument, nouns);

    const KernelName name = split_kernel_name(launch.kernel);
    const Signature* signature = find_signature(signatures_, name.name);
    if (signature == nullptr) {
      add(launch.place, fmt::format("no `__global__` function {} is defined in this file", name.name), kernel_hint(name.name));
      return;
    }
    if (signature->template_parameters.empty() && name.has_template_list)
      add(launch.place, fmt::format("{} is not a template, but is launched with template arguments", name.name));
    if (!signature->template_parameters.empty() && !name.has_template_list)
      add(launch.place, fmt::format("{} is a template: its arguments must be written", name.name),
          fmt::format("write {}<…>, for template <{}>", name.name, fmt::join(signature->template_parameters, ", ")));
    if (name.template_arguments.size() > signature->template_parameters.size() && !signature->template_parameters.empty() &&
        signature->template_parameters.back().find("...") == std::string::npos)
      add(launch.place, fmt::format("{} takes {} template arguments, found {}", name.name, signature->template_parameters.size(),
                                    name.template_arguments.size()));
    if (signature->parameters.size() != launch.arguments.size()) {
      std::vector<std::string> wanted;
      for (const Parameter& parameter : signature->parameters) wanted.push_back(fmt::format("{} {}", parameter.type, parameter.name));
      add(launch.place, fmt::format("{} takes {} arguments, found {}", name.name, signature->parameters.size(), launch.arguments.size()),
          fmt::format("{}({})", name.name, fmt::join(wanted, ", ")));
    }
  }

  std::string kernel_hint(const std::string& name) const {
    std::vector<std::string> names;
    for (const Signature& signature : signatures_) {
      if (signature.name.ends_with("::" + name)) return fmt::format("did you mean `{}`?", signature.name);
      names.push_back(signature.name);
    }
    if (const auto near = base::nearest(name, names)) return fmt::format("did you mean `{}`?", *near);
    return names.empty() ? "" : fmt::format("defined: {}", fmt::join(names, " "));
  }

  const File& file_;
  base::Diagnostics diagnostics_;
  std::map<std::string, Known> known_;
  std::vector<Signature> signatures_;
  bool launched_ = false;
  int repeats_ = 0;
};

void collect_launched(const std::vector<Step>& steps, const std::vector<Signature>& all, std::set<const Signature*>& launched) {
  for (const Step& step : steps) {
    if (const auto* launch = std::get_if<LaunchStep>(&step.step))
      launched.insert(find_signature(all, split_kernel_name(launch->kernel).name));
    else if (const auto* repeat = std::get_if<RepeatStep>(&step.step))
      collect_launched(repeat->body, all, launched);
  }
}

}  // namespace

base::Diagnostics check_declarations(const File& file) { return Checker(file).declarations(); }

base::Diagnostics check_uses(const File& file) { return Checker(file).uses(); }

void add_line_texts(base::Diagnostics& diagnostics, const std::string& source) {
  for (base::Diagnostic& diagnostic : diagnostics)
    if (diagnostic.line_text.empty()) diagnostic.line_text = base::line_of(source, diagnostic.line);
}

base::Diagnostics validate_task(const File& file) {
  base::Diagnostics diagnostics = check_uses(file);
  const bool output = std::any_of(file.buffers.begin(), file.buffers.end(), [](const Buffer& b) { return b.role != Buffer::Role::input; });
  if (!output) diagnostics.push_back(diagnostic_at(file, {}, "the task has no output", "add a line such as //@ output C: float32[N]"));
  if (file.plan.empty())
    diagnostics.push_back(diagnostic_at(file, {}, "the task launches nothing", "add a line such as //@ launch k<<<ceil_div(N, 256), 256>>>(A, C, N)"));
  add_line_texts(diagnostics, file.source);
  return diagnostics;
}

base::Diagnostics unlaunched(const File& file) {
  base::Diagnostics diagnostics;
  const std::vector<Signature> all = signatures(without_host_part(file.source));
  std::set<const Signature*> launched;
  collect_launched(file.plan, all, launched);
  for (const Signature& signature : all)
    if (!launched.contains(&signature)) {
      auto diagnostic = diagnostic_at(file, {signature.line, 0}, fmt::format("{} is defined, but no launch uses it", signature.name));
      diagnostic.severity = base::Diagnostic::Severity::note;
      diagnostics.push_back(std::move(diagnostic));
    }
  add_line_texts(diagnostics, file.source);
  return diagnostics;
}

}  // namespace cudal1::kernel
