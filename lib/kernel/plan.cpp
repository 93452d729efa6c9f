// SPDX-License-Identifier: Apache-2.0
#include "kernel/plan.hpp"

#include "base/text.hpp"
#include "kernel/complaint.hpp"
#include "kernel/expression_node.hpp"
#include "kernel/input_values.hpp"
#include "kernel/parameter_type.hpp"
#include "kernel/signature.hpp"
#include "kernel/source_lexer.hpp"
#include "kernel/tensor_map.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

using Node = Expression::Node;

constexpr std::size_t step_limit = 100'000;
// CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability": the same for every architecture,
// but for shared memory, where 227 KiB (9.0 and 10.0) is the most that any block can have.
constexpr std::array<std::int64_t, 3> grid_limit = {2'147'483'647, 65'535, 65'535};
constexpr std::array<std::int64_t, 3> block_limit = {1024, 1024, 64};
constexpr std::int64_t block_threads_limit = 1024;
constexpr std::int64_t shared_bytes_limit = 227 * 1024;
constexpr std::int64_t cluster_blocks_limit = 16;
constexpr std::int64_t buffer_bytes_limit = std::int64_t{1} << 62;

std::int64_t evaluate_integer(const Expression& expression, const Environment& environment) {
  auto value = expression.evaluate_integer(environment);
  if (!value) throw Complaint{std::move(value.error())};
  return *value;
}

// The node an expression begins with, for the caret of a message about all of it.
const Node& start(const Expression& expression) {
  const Node* node = expression.root();
  while (node->kind == Node::Kind::binary || node->kind == Node::Kind::conditional) node = node->children[0].get();
  return *node;
}

std::vector<std::int64_t> evaluate_shape(const std::vector<Expression>& shape, std::size_t element_bytes, const Environment& environment) {
  std::vector<std::int64_t> extents;
  std::int64_t bytes = static_cast<std::int64_t>(element_bytes);
  for (const Expression& extent : shape) {
    const std::int64_t value = evaluate_integer(extent, environment);
    const Node& at = start(extent);
    if (value < 0) complain(*at.file, at.line, at.column, fmt::format("an extent is negative: `{}` is {}", extent.text(), value));
    // With a zero extent the product stays zero, whatever the others are.
    if (__builtin_mul_overflow(bytes, value, &bytes) || bytes > buffer_bytes_limit)
      complain(*at.file, at.line, at.column, "the buffer has more than 2^62 bytes");
    extents.push_back(value);
  }
  return extents;
}

class Resolver {
 public:
  Resolver(const File& file, const Environment& environment)
      : file_(file), environment_(environment), signatures_(signatures(without_host_part(file.source))) {
    for (const auto& [name, type] : type_aliases(without_host_part(file.source))) aliases_.emplace(name, type);
  }

  Plan run() {
    for (const Buffer& buffer : file_.buffers) {
      const auto role = buffer.role == Buffer::Role::input    ? PlanBuffer::Role::input
                        : buffer.role == Buffer::Role::output ? PlanBuffer::Role::output
                                                              : PlanBuffer::Role::inout;
      add_buffer(role, buffer.name, buffer.dtype, buffer.shape, std::nullopt);
      place_within(plan_.buffers.back(), buffer.within);
      if (buffer.role == Buffer::Role::output) continue;
      if (auto values = input_values(buffer, environment_); !values) {
        values.error().file = file_.name;
        throw Complaint{std::move(values.error())};
      }
    }
    for (const Scratch& scratch : file_.scratches)
      add_buffer(PlanBuffer::Role::scratch, scratch.name, scratch.dtype, scratch.shape, scratch.initial);
    if (file_.plan.empty()) complain(file_.name, 0, 0, "the file launches nothing", "add a line such as //@ launch k<<<ceil_div(N, 256), 256>>>(A, C, N)");
    run_steps(file_.plan);
    if (plan_.steps.empty()) complain(file_.name, 0, 0, "no step is left: no repeat and no `when` has any at these sizes");
    return std::move(plan_);
  }

 private:
  [[noreturn]] void fail(const Node& at, std::string message, std::string hint = {}) const {
    complain(*at.file, at.line, at.column, std::move(message), std::move(hint));
  }
  [[noreturn]] void fail(Place at, std::string message, std::string hint = {}) const {
    complain(file_.name, at.line, at.column, std::move(message), std::move(hint));
  }

  void add_buffer(PlanBuffer::Role role, const std::string& name, tensor::Dtype dtype, const std::vector<Expression>& shape,
                  std::optional<double> initial) {
    PlanBuffer buffer;
    buffer.role = role;
    buffer.name = name;
    buffer.dtype = dtype;
    buffer.shape = evaluate_shape(shape, tensor::size_of(dtype), environment_);
    buffer.bytes = tensor::size_of(dtype);
    for (const std::int64_t extent : buffer.shape) buffer.bytes *= static_cast<std::size_t>(extent);
    buffer.initial = initial;
    plan_.buffers.push_back(std::move(buffer));
  }

  std::optional<std::size_t> buffer_index(const std::string& name) const {
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i)
      if (plan_.buffers[i].name == name || (plan_.buffers[i].stride != 0 && plan_.buffers[i].memory == name)) return i;
    return std::nullopt;
  }

  void run_steps(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      if (const auto* repeat = std::get_if<RepeatStep>(&step.step)) {
        run_repeat(*repeat);
        continue;
      }
      if (plan_.steps.size() >= step_limit) complain(file_.name, 0, 0, fmt::format("the plan has more than {} steps", step_limit));
      if (const auto* launch = std::get_if<LaunchStep>(&step.step))
        plan_.steps.emplace_back(resolve_launch(*launch));
      else if (const auto* copy = std::get_if<CopyStep>(&step.step))
        plan_.steps.emplace_back(resolve_copy(*copy));
      else
        plan_.steps.emplace_back(resolve_memset(std::get<MemsetStep>(step.step)));
    }
  }

  void run_repeat(const RepeatStep& repeat) {
    if (repeat.variable.empty()) {   // `when`
      if (evaluate_integer(repeat.from, environment_) != 0) run_steps(repeat.body);
      return;
    }
    const std::int64_t from = evaluate_integer(repeat.from, environment_), to = evaluate_integer(repeat.to, environment_);
    const auto outer = environment_.find(repeat.variable);
    if (outer != environment_.end()) fail(repeat.place, fmt::format("{} already has a value; name the repeat's variable otherwise", repeat.variable));
    for (std::int64_t value = from; value < to; ++value) {
      if (++repetitions_ > step_limit) fail(repeat.place, fmt::format("the plan repeats more than {} times", step_limit));
      environment_[repeat.variable] = value;
      run_steps(repeat.body);
    }
    environment_.erase(repeat.variable);
  }

  Memset resolve_memset(const MemsetStep& memset) const {
    const auto buffer = buffer_index(memset.buffer);
    if (!buffer) fail(memset.place, fmt::format("unknown buffer `{}`", memset.buffer));
    if (plan_.buffers[*buffer].role == PlanBuffer::Role::input) fail(memset.place, fmt::format("{} is an input: a plan must not write it", memset.buffer));
    return {*buffer, static_cast<std::uint8_t>(memset.value)};
  }

  Copy resolve_copy(const CopyStep& copy) const {
    const auto buffer = buffer_index(copy.buffer);
    if (!buffer) fail(copy.place, fmt::format("unknown buffer `{}`", copy.buffer));
    return {copy.variable, *buffer};
  }

  std::array<std::int64_t, 3> dimensions(const Dim3Expression& expression, std::string_view what, const std::array<std::int64_t, 3>& limit) const {
    std::array<std::int64_t, 3> values = {1, 1, 1};
    const Expression* const parts[] = {&expression.x, &expression.y, &expression.z};
    for (std::size_t i = 0; i < 3; ++i) {
      if (parts[i]->empty()) continue;
      values[i] = evaluate_integer(*parts[i], environment_);
      const char axis = "xyz"[i];
      if (values[i] < 1)
        fail(start(*parts[i]), fmt::format("the {}'s {} is {}: `{}` must be at least 1", what, axis, values[i], parts[i]->text()));
      if (values[i] > limit[i])
        fail(start(*parts[i]), fmt::format("the {}'s {} is {}, more than CUDA's limit of {}", what, axis, values[i], limit[i]));
    }
    return values;
  }

  static Dim3 narrow(const std::array<std::int64_t, 3>& values) {
    return {static_cast<std::uint32_t>(values[0]), static_cast<std::uint32_t>(values[1]), static_cast<std::uint32_t>(values[2])};
  }

  Launch resolve_launch(const LaunchStep& step) const {
    Launch launch;
    const auto grid = dimensions(step.grid, "grid", grid_limit);
    const auto block = dimensions(step.block, "block", block_limit);
    if (block[0] * block[1] * block[2] > block_threads_limit)
      fail(start(step.block.x), fmt::format("the block has {} threads, more than CUDA's limit of {}", block[0] * block[1] * block[2], block_threads_limit));
    launch.grid = narrow(grid);
    launch.block = narrow(block);
    if (!step.cluster.x.empty()) {
      const auto cluster = dimensions(step.cluster, "cluster", {cluster_blocks_limit, cluster_blocks_limit, cluster_blocks_limit});
      if (cluster[0] * cluster[1] * cluster[2] > cluster_blocks_limit)
        fail(start(step.cluster.x), fmt::format("the cluster has {} blocks, more than CUDA's limit of {}", cluster[0] * cluster[1] * cluster[2], cluster_blocks_limit));
      for (std::size_t i = 0; i < 3; ++i)
        if (grid[i] % cluster[i] != 0)
          fail(start(step.cluster.x), fmt::format("the grid's {} is {}, which is no multiple of the cluster's {}", "xyz"[i], grid[i], cluster[i]));
      launch.cluster = narrow(cluster);
    }
    if (!step.shared_bytes.empty()) {
      const std::int64_t bytes = evaluate_integer(step.shared_bytes, environment_);
      if (bytes < 0 || bytes > shared_bytes_limit)
        fail(start(step.shared_bytes), fmt::format("{} bytes of dynamic shared memory; a block can have 0 to {}", bytes, shared_bytes_limit));
      launch.shared_bytes = static_cast<std::uint32_t>(bytes);
    }
    launch.cooperative = step.cooperative;
    resolve_arguments(step, launch);
    return launch;
  }

  void resolve_arguments(const LaunchStep& step, Launch& launch) const {
    const KernelName name = split_kernel_name(step.kernel);
    const Signature* signature = find_signature(signatures_, name.name);
    if (signature == nullptr) fail(step.place, fmt::format("no `__global__` function {} is defined in this file", name.name));
    if (signature->parameters.size() != step.arguments.size())
      fail(step.place, fmt::format("{} takes {} arguments, found {}", name.name, signature->parameters.size(), step.arguments.size()));
    TypeNames types = aliases_;
    launch.kernel = name.name;
    if (name.has_template_list) {
      std::vector<std::string> arguments;
      for (const std::string& argument : name.template_arguments) arguments.push_back(template_argument(argument, step.place));
      launch.kernel += fmt::format("<{}>", fmt::join(arguments, ", "));
      for (std::size_t i = 0; i < signature->template_parameters.size(); ++i) {
        const TemplateParameter parameter = split_template_parameter(signature->template_parameters[i]);
        types[parameter.name] = i < arguments.size() ? arguments[i] : parameter.fallback;
      }
    }
    for (std::size_t i = 0; i < step.arguments.size(); ++i)
      launch.arguments.push_back(resolve_argument(step.arguments[i], signature->parameters[i], name.name, types));
  }

  // A template argument as the compiler takes it: an expression of tunables as its value, a type as it is.
  std::string template_argument(const std::string& text, Place place) const {
    if (const auto expression = Expression::parse(text)) {
      const auto names = expression->names();
      bool known = true;
      for (const std::string& name : names) {
        const bool tunable = std::any_of(file_.tunables.begin(), file_.tunables.end(), [&](const Tunable& t) { return t.name == name; });
        const bool size_or_scalar = !tunable && environment_.contains(name);
        if (size_or_scalar)
          fail(place, fmt::format("the template argument `{}` uses {}, which is known only at launch", text, name),
               "pass it as an argument, or declare a tunable");
        known &= tunable && environment_.contains(name);
      }
      if (known) {
        const auto value = expression->evaluate(environment_);
        if (!value) fail(place, fmt::format("the template argument `{}`: {}", text, value.error().message));
        if (const auto* integer = std::get_if<std::int64_t>(&*value)) return fmt::format("{}", *integer);
        if (const auto* boolean = std::get_if<bool>(&*value)) return *boolean ? "true" : "false";
        fail(place, fmt::format("the template argument `{}` is no integer, boolean or type", text));
      }
    }
    return text;
  }

  // `C`, `C + N*M - 1`: the buffer that a sum begins with, and the element offset it adds up to.
  std::optional<BufferArgument> buffer_argument(const Expression& argument) const {
    std::vector<std::pair<const Node*, bool>> terms;  // with: is it subtracted
    const Node* node = argument.root();
    while (node->kind == Node::Kind::binary && (node->text == "+" || node->text == "-")) {
      terms.emplace_back(node->children[1].get(), node->text == "-");
      node = node->children[0].get();
    }
    if (node->kind != Node::Kind::name) return std::nullopt;
    const auto index = buffer_index(node->text);
    if (!index) return std::nullopt;
    const PlanBuffer& buffer = plan_.buffers[*index];
    const auto element = static_cast<std::int64_t>(buffer.stride == 0 ? tensor::size_of(buffer.dtype) : buffer.stride);
    const std::int64_t count = static_cast<std::int64_t>(buffer.memory_bytes()) / element;
    std::int64_t offset = 0;
    for (auto term = terms.rbegin(); term != terms.rend(); ++term) {
      const Value value = evaluate_node(*term->first, environment_);
      const auto* integer = std::get_if<std::int64_t>(&value);
      if (integer == nullptr) fail(*term->first, fmt::format("an offset into {} is an integer", buffer.name));
      if (term->second ? __builtin_sub_overflow(offset, *integer, &offset) : __builtin_add_overflow(offset, *integer, &offset))
        fail(*term->first, "the offset does not fit into 64 bits");
    }
    if (offset < 0 || offset > count)
      fail(start(argument), fmt::format("`{}` begins at element {}, outside {}'s {} elements", argument.text(), offset, buffer.name, count));
    return BufferArgument{*index, offset * element};
  }

  Argument resolve_argument(const Expression& argument, const Parameter& parameter, const std::string& kernel, const TypeNames& types) const {
    const Node& at = start(argument);
    const std::string named = parameter.name.empty() ? "an unnamed parameter" : fmt::format("parameter {}", parameter.name);
    const bool takes_map = !parameter.pointer && parameter.type.find("CUtensorMap") != std::string::npos;
    if (is_tensor_map(*argument.root())) {
      if (!takes_map || parameter.type.find("__grid_constant__") == std::string::npos)
        fail(at, fmt::format("a tensor map is given, but {} of {} is {}", named, kernel, parameter.type), "declare it as const __grid_constant__ CUtensorMap");
      const auto buffer = buffer_argument(Expression(argument.root()->children[0]));
      if (!buffer) fail(*argument.root()->children[0], "tensor_map begins with a buffer, as in tensor_map(B, axes(K, N), box(32, 128))");
      return tensor_map(*argument.root(), *buffer, plan_.buffers[buffer->buffer], environment_);
    }
    if (takes_map) fail(at, fmt::format("{} of {} is a tensor map", named, kernel), "pass tensor_map(B, axes(K, N), box(32, 128), swizzle(128))");
    if (const auto buffer = buffer_argument(argument)) {
      const std::string& name = plan_.buffers[buffer->buffer].name;
      bool pointer = parameter.pointer;
      // A template argument or an alias may itself be a pointer type.
      for (const SourceToken& token : lex_code(parameter.type))
        if (const auto found = types.find(token.text); found != types.end()) pointer |= found->second.find('*') != std::string::npos;
      if (!pointer) fail(at, fmt::format("{} is a buffer, but {} of {} is {}", name, named, kernel, parameter.type), "pass a size or scalar");
      const auto type = scalar_type(parameter.type, types);
      const tensor::Dtype dtype = plan_.buffers[buffer->buffer].dtype;
      if (type && type->kind == ScalarType::Kind::floating && type->floating != dtype && plan_.buffers[buffer->buffer].stride == 0)
        fail(at, fmt::format("{} is {}, but {} of {} is {}", name, tensor::name(dtype), named, kernel, parameter.type),
             fmt::format("expected {}*", tensor::cuda_name(dtype)));
      return *buffer;
    }
    const Value value = evaluate_node(*argument.root(), environment_);
    if (const auto* zero = std::get_if<std::int64_t>(&value); parameter.pointer && zero != nullptr && *zero == 0) return null_pointer();
    if (parameter.pointer)
      fail(at, fmt::format("`{}` is a number, but {} of {} is {}", argument.text(), named, kernel, parameter.type), "pass a buffer");
    const auto type = scalar_type(parameter.type, types);
    if (!type)
      fail(at, fmt::format("{} of {} has the type {}, which a plan cannot pass: `{}` is not known", named, kernel, parameter.type,
                           unknown_type(parameter.type, types)),
           "use int, long long, size_t, float, double, bool, __half or a pointer, or define the name with `using`");
    const auto converted = convert(value, *type, parameter.type);
    if (!converted) fail(at, fmt::format("`{}` for {} of {}: {}", argument.text(), named, kernel, converted.error()));
    return *converted;
  }

  static ScalarArgument null_pointer() {
    ScalarArgument argument;
    argument.size = sizeof(void*);
    return argument;
  }

  const File& file_;
  Environment environment_;
  std::vector<Signature> signatures_;
  TypeNames aliases_;
  Plan plan_;
  std::size_t repetitions_ = 0;
};

}  // namespace

std::size_t memory_of(const std::vector<PlanBuffer>& buffers, std::size_t buffer) {
  if (buffers[buffer].stride == 0) return buffer;
  return static_cast<std::size_t>(std::find_if(buffers.begin(), buffers.end(), [&](const PlanBuffer& b) { return b.stride != 0 && b.memory == buffers[buffer].memory; }) - buffers.begin());
}

void place_within(PlanBuffer& buffer, const Within& within) {
  if (within.stride == 0) return;
  buffer.memory = within.memory;
  buffer.offset = within.offset;
  buffer.stride = within.stride;
  buffer.width = within.width;
}

std::vector<std::string> Plan::kernels() const {
  std::vector<std::string> names;
  for (const PlanStep& step : steps)
    if (const auto* launch = std::get_if<Launch>(&step); launch && std::find(names.begin(), names.end(), launch->kernel) == names.end())
      names.push_back(launch->kernel);
  return names;
}

tl::expected<Plan, base::Diagnostic> resolve(const File& file, const Environment& environment) {
  try {
    return Resolver(file, environment).run();
  } catch (Complaint& complaint) {
    if (complaint.diagnostic.file == file.name) complaint.diagnostic.line_text = base::line_of(file.source, complaint.diagnostic.line);
    return tl::unexpected(std::move(complaint.diagnostic));
  }
}

tl::expected<std::vector<std::int64_t>, base::Diagnostic> extents(const std::vector<Expression>& shape, const Environment& environment) {
  try {
    return evaluate_shape(shape, 1, environment);
  } catch (Complaint& complaint) {
    return tl::unexpected(std::move(complaint.diagnostic));
  }
}

}  // namespace cudal1::kernel
