// SPDX-License-Identifier: Apache-2.0
#include "kernel/host_launcher.hpp"

#include "kernel/embedded.hpp"
#include "kernel/expression_node.hpp"
#include "kernel/launcher_expression.hpp"
#include "kernel/launcher_name.hpp"
#include "kernel/parameter_type.hpp"
#include "kernel/signature.hpp"
#include "kernel/source_lexer.hpp"
#include "kernel/tensor_map.hpp"
#include "kernel/workload.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

using Node = Expression::Node;

// What a caller passes for a scalar: 16-bit types travel as float.
std::string_view scalar_c_type(tensor::Dtype dtype) {
  switch (dtype) {
    case tensor::Dtype::float64: return "double";
    case tensor::Dtype::float32:
    case tensor::Dtype::float16:
    case tensor::Dtype::bfloat16: return "float";
    case tensor::Dtype::bool_: return "bool";
    default: return "long long";
  }
}

class Writer {
 public:
  explicit Writer(const File& file) : file_(file), sizes_(workloads(file).front()), signatures_(signatures(without_host_part(file.source))) {
    for (const auto& [name, type] : type_aliases(without_host_part(file.source))) aliases_.emplace(name, type);
    for (const Scalar& scalar : file.scalars)
      if (tensor::is_floating(scalar.dtype)) expressions_.note_real(scalar.name);
  }

  std::string run() {
    const std::string parameters = parameter_list();
    line(fmt::format("  cudaError_t cudal1_status = cudaSuccess;"));
    derived_values();
    for (const Scratch& scratch : file_.scratches) allocate(scratch);
    for (const Scratch& scratch : file_.scratches)
      if (scratch.initial) initialise(scratch);
    steps(file_.plan);
    for (auto scratch = file_.scratches.rbegin(); scratch != file_.scratches.rend(); ++scratch) {
      line(fmt::format("  if ({0}) {{\n    const cudaError_t cudal1_freed = cudaFreeAsync({0}, stream);\n"
                       "    if (cudal1_status == cudaSuccess) cudal1_status = cudal1_freed;\n  }}", scratch->name));
    }
    line("  return cudal1_status;");

    std::string out = "#include <cuda_runtime.h>\n";
    if (uses(tensor::Dtype::float16)) out += "#include <cuda_fp16.h>\n";
    if (uses(tensor::Dtype::bfloat16)) out += "#include <cuda_bf16.h>\n";
    for (const std::string& name : macros_in_the_way()) out += fmt::format("#undef {}\n", name);
    if (maps_ > 0) out += *embedded_text("tensor_map.cuh");
    if (needs_pointer_) out += *embedded_text("pointer.cuh");
    if (needs_fill_) out += *embedded_text("fill.cuh");
    out += fmt::format("\n// Issues the plan on `stream`. Pointers are device pointers; the call returns before the work is done.\n"
                       "{}cudaError_t {}({}) {{\n", file_.task.empty() ? "inline " : "", launcher_name(file_), parameters);
    out += expressions_.functions();
    out += body_;
    out += "}\n";
    return out;
  }

 private:
  void line(const std::string& text) { body_ += std::string(static_cast<std::size_t>(2 * nesting_), ' ') + text + "\n"; }

  bool uses(tensor::Dtype dtype) const {
    return std::any_of(file_.buffers.begin(), file_.buffers.end(), [&](const Buffer& b) { return b.dtype == dtype; }) ||
           std::any_of(file_.scratches.begin(), file_.scratches.end(), [&](const Scratch& s) { return s.dtype == dtype; }) ||
           std::any_of(file_.scalars.begin(), file_.scalars.end(), [&](const Scalar& s) { return s.dtype == dtype; });
  }

  // Macros of the device code that are named as something the function declares.
  std::set<std::string> macros_in_the_way() const {
    std::set<std::string> ours = {launcher_name(file_), "stream"}, found;
    for (const Assignment& assignment : workloads(file_))
      for (const auto& [name, value] : assignment.values) ours.insert(name);
    for (const Scalar& scalar : file_.scalars) ours.insert(scalar.name);
    for (const Buffer& buffer : file_.buffers) ours.insert(buffer.memory());
    for (const Scratch& scratch : file_.scratches) ours.insert(scratch.name);
    ours.insert(function_names().begin(), function_names().end());
    ours.insert(repeat_variables_.begin(), repeat_variables_.end());
    const std::string code = without_host_part(file_.source);
    for (const SourceToken& token : lex_source(code)) {
      if (token.kind != SourceToken::Kind::preprocessor) continue;
      const auto words = lex_code(token.text.substr(1));
      if (words.size() >= 2 && words[0].is("define") && ours.contains(std::string(words[1].text))) found.insert(std::string(words[1].text));
    }
    return found;
  }

  std::string parameter_list() const {
    std::vector<std::string> parameters;
    for (std::size_t i = 0; i < file_.buffers.size(); ++i) {
      const Buffer& buffer = file_.buffers[i];
      if (buffer.within.stride != 0 && i > 0 && file_.buffers[i - 1].within.memory == buffer.within.memory) continue;
      parameters.push_back(fmt::format("{}{}* {}", buffer.role == Buffer::Role::input ? "const " : "", buffer.within.stride != 0 ? "unsigned char" : tensor::cuda_name(buffer.dtype), buffer.memory()));
    }
    for (const auto& [name, value] : sizes_.values)
      if (value.names().empty()) parameters.push_back("long long " + name);
    for (const Scalar& scalar : file_.scalars)
      if (scalar.value.names().empty()) parameters.push_back(fmt::format("{} {}", scalar_c_type(scalar.dtype), scalar.name));
    parameters.emplace_back("cudaStream_t stream");
    return fmt::format("{}", fmt::join(parameters, ", "));
  }

  // Derived sizes and scalars, each after those it needs.
  void derived_values() {
    std::map<std::string, std::pair<std::string, Expression>> open;  // name → type, value
    std::vector<std::string> order;
    for (const auto& [name, value] : sizes_.values)
      if (!value.names().empty()) {
        open[name] = {"long long", value};
        order.push_back(name);
      }
    for (const Scalar& scalar : file_.scalars)
      if (!scalar.value.names().empty()) {
        open[scalar.name] = {std::string(scalar_c_type(scalar.dtype)), scalar.value};
        order.push_back(scalar.name);
      }
    while (!open.empty()) {
      const std::size_t before = open.size();
      for (const std::string& name : order) {
        const auto found = open.find(name);
        if (found == open.end()) continue;
        const auto names = found->second.second.names();
        if (std::any_of(names.begin(), names.end(), [&](const std::string& needed) { return open.contains(needed); })) continue;
        line(fmt::format("  const {0} {1} = ({0})({2});", found->second.first, name, text(found->second.second)));
        open.erase(found);
      }
      if (open.size() == before) return;  // a cycle: environment() diagnoses it
    }
  }

  std::string count(const std::vector<Expression>& shape) {
    std::string product = "1LL";
    for (const Expression& extent : shape) product += fmt::format(" * ({})", text(extent));
    return product;
  }

  void allocate(const Scratch& scratch) {
    const std::string_view type = tensor::cuda_name(scratch.dtype);
    line(fmt::format("  {}* {} = nullptr;", type, scratch.name));
    line(fmt::format("  if (cudal1_status == cudaSuccess) cudal1_status = cudaMallocAsync((void**)&{}, ({}) * sizeof({}) + 1, stream);",
                     scratch.name, count(scratch.shape), type));
  }

  void initialise(const Scratch& scratch) {
    std::byte element[8] = {};
    tensor::store(scratch.dtype, *scratch.initial, element);
    const std::size_t size = tensor::size_of(scratch.dtype);
    if (std::all_of(element, element + size, [&](std::byte b) { return b == element[0]; })) {
      line(fmt::format("  if (cudal1_status == cudaSuccess) cudal1_status = cudaMemsetAsync({}, {}, ({}) * {}, stream);", scratch.name,
                       static_cast<int>(element[0]), count(scratch.shape), size));
      return;
    }
    needs_fill_ = true;
    std::uint64_t bits = 0;
    std::memcpy(&bits, element, size);
    const char* const type = size == 2 ? "unsigned short" : size == 4 ? "unsigned int" : "unsigned long long";
    line(fmt::format("  if (cudal1_status == cudaSuccess && {} > 0) {{", count(scratch.shape)));
    line(fmt::format("    cudal1_host::fill<{0}><<<1024, 256, 0, stream>>>(({0}*){1}, {2}, ({0}){3:#x}ULL);  // {4}", type, scratch.name,
                     count(scratch.shape), bits, *scratch.initial));
    line("    cudal1_status = cudaGetLastError();");
    line("  }");
  }

  void steps(const std::vector<Step>& all) {
    for (const Step& step : all) {
      if (const auto* launch = std::get_if<LaunchStep>(&step.step)) {
        write_launch(*launch);
      } else if (const auto* memset = std::get_if<MemsetStep>(&step.step)) {
        write_memset(*memset);
      } else if (const auto* copy = std::get_if<CopyStep>(&step.step)) {
        write_copy(*copy);
      } else {
        const auto& repeat = std::get<RepeatStep>(step.step);
        if (!repeat.variable.empty()) repeat_variables_.insert(repeat.variable);
        line(repeat.variable.empty() ? fmt::format("  if (cudal1_status == cudaSuccess && ({}) != 0) {{", text(repeat.from)) : fmt::format("  for (long long {0} = {1}; {0} < {2} && cudal1_status == cudaSuccess; ++{0}) {{", repeat.variable,
                         text(repeat.from), expressions_.operand(repeat.to)));
        ++nesting_;
        steps(repeat.body);
        --nesting_;
        line("  }");
      }
    }
  }

  void write_memset(const MemsetStep& memset) {
    const std::vector<Expression>* shape = nullptr;
    tensor::Dtype dtype = tensor::Dtype::float32;
    std::size_t element = 0;
    for (const Buffer& buffer : file_.buffers)
      if (buffer.memory() == memset.buffer && shape == nullptr) {
        shape = &buffer.shape, dtype = buffer.dtype;
        if (buffer.within.stride != 0) element = buffer.within.stride * tensor::size_of(dtype) / buffer.within.width;
      }
    for (const Scratch& scratch : file_.scratches)
      if (scratch.name == memset.buffer) shape = &scratch.shape, dtype = scratch.dtype;
    if (shape == nullptr) return;
    line(fmt::format("  if (cudal1_status == cudaSuccess) cudal1_status = cudaMemsetAsync({}, {}, ({}) * {}, stream);", memset.buffer,
                     memset.value, count(*shape), element != 0 ? element : tensor::size_of(dtype)));
  }

  void write_copy(const CopyStep& copy) {
    line(fmt::format("  if (cudal1_status == cudaSuccess) cudal1_status = cudaMemcpyToSymbolAsync(::{0}, {1}, sizeof(::{0}), 0, cudaMemcpyDeviceToDevice, stream);", copy.variable,
                     copy.buffer));
  }

  std::string dim(const Dim3Expression& dim) {
    std::string out = "dim3(";
    for (const Expression* part : {&dim.x, &dim.y, &dim.z}) {
      if (part->empty()) continue;
      if (part != &dim.x) out += ", ";
      out += fmt::format("(unsigned)({})", text(*part));
    }
    return out + ")";
  }

  // The kernel as an expression: qualified, because a parameter may have its name, and picked among overloads.
  std::string kernel_expression(const LaunchStep& launch, const Signature* signature) const {
    std::string name = launch.kernel.starts_with("::") ? launch.kernel : "::" + launch.kernel;
    if (signature == nullptr || signature->name != launcher_name(file_) || !signature->template_parameters.empty()) return name;
    std::vector<std::string> types;
    for (const Parameter& parameter : signature->parameters) types.push_back(parameter.type);
    return fmt::format("static_cast<void (*)({})>({})", fmt::join(types, ", "), name);
  }

  void write_launch(const LaunchStep& launch) {
    const Signature* signature = find_signature(signatures_, split_kernel_name(launch.kernel).name);
    const std::string kernel = kernel_expression(launch, signature);
    const std::string shared = launch.shared_bytes.empty() ? "0" : text(launch.shared_bytes);
    line("  if (cudal1_status == cudaSuccess) {");
    ++nesting_;
    // A kernel gets 48 KiB without asking, its static arrays included.
    if (!launch.shared_bytes.empty())
      line(fmt::format("  cudal1_status = cudaFuncSetAttribute((const void*){}, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)({}));", kernel,
                       text(launch.shared_bytes)));
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i < launch.arguments.size(); ++i)
      arguments.push_back(argument(launch, i, signature));
    const std::string list = fmt::format("{}", fmt::join(arguments, ", "));
    if (launch.cooperative || !launch.cluster.x.empty()) {
      write_extended(launch, kernel, shared, list);
    } else {
      line(fmt::format("  {}<<<{}, {}, {}, stream>>>({});", kernel, dim(launch.grid), dim(launch.block), shared, list));
      line("  if (cudal1_status == cudaSuccess) cudal1_status = cudaGetLastError();");
    }
    --nesting_;
    line("  }");
  }

  void write_extended(const LaunchStep& launch, const std::string& kernel, const std::string& shared, const std::string& arguments) {
    line("  cudaLaunchConfig_t cudal1_config = {};");
    line("  cudaLaunchAttribute cudal1_attributes[2] = {};");
    line(fmt::format("  cudal1_config.gridDim = {};", dim(launch.grid)));
    line(fmt::format("  cudal1_config.blockDim = {};", dim(launch.block)));
    line(fmt::format("  cudal1_config.dynamicSmemBytes = {};", shared));
    line("  cudal1_config.stream = stream;");
    line("  cudal1_config.attrs = cudal1_attributes;");
    if (launch.cooperative) {
      line("  cudal1_attributes[cudal1_config.numAttrs].id = cudaLaunchAttributeCooperative;");
      line("  cudal1_attributes[cudal1_config.numAttrs++].val.cooperative = 1;");
    }
    if (!launch.cluster.x.empty()) {
      line(fmt::format("  const dim3 cudal1_cluster = {};", dim(launch.cluster)));
      line("  if (cudal1_cluster.x * cudal1_cluster.y * cudal1_cluster.z > 8 && cudal1_status == cudaSuccess)");
      line(fmt::format("    cudal1_status = cudaFuncSetAttribute((const void*){}, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);", kernel));
      line("  cudal1_attributes[cudal1_config.numAttrs].id = cudaLaunchAttributeClusterDimension;");
      for (const char axis : {'x', 'y', 'z'})
        line(fmt::format("  cudal1_attributes[cudal1_config.numAttrs{0}].val.clusterDim.{1} = cudal1_cluster.{1};", axis == 'z' ? "++" : "", axis));
    }
    line(fmt::format("  if (cudal1_status == cudaSuccess) cudal1_status = cudaLaunchKernelEx(&cudal1_config, {}{}{});", kernel,
                     arguments.empty() ? "" : ", ", arguments));
  }

  // Declares and encodes a tensor map in front of the launch; returns its name.
  std::string map_argument(const Node& node) {
    const std::string name = fmt::format("cudal1_map_{}", maps_++);
    const Expression from(node.children[0]);
    const Node* buffer = from.root();
    while (buffer->kind == Node::Kind::binary) buffer = buffer->children[0].get();
    tensor::Dtype dtype = tensor::Dtype::float32;
    for (const Buffer& each : file_.buffers)
      if (each.name == buffer->text) dtype = each.dtype;
    for (const Scratch& each : file_.scratches)
      if (each.name == buffer->text) dtype = each.dtype;
    const auto values = [&](const Node* part) {
      std::vector<std::string> texts;
      for (const auto& child : part->children) texts.push_back(text(Expression(child)));
      return texts;
    };
    const std::vector<std::string> axes = values(tensor_map_part(node, "axes")), box = values(tensor_map_part(node, "box"));
    const Node *strides = tensor_map_part(node, "strides"), *type = tensor_map_part(node, "type"), *swizzle = tensor_map_part(node, "swizzle");
    std::vector<std::string> apart;
    std::string product = fmt::format("{}ULL", tensor::size_of(dtype));
    for (std::size_t i = 0; i + 1 < axes.size(); ++i) {
      product += fmt::format(" * ({})", axes[i]);
      apart.push_back(strides != nullptr ? fmt::format("{}ULL * ({})", tensor::size_of(dtype), values(strides)[i]) : product);
    }
    const auto list = [](const std::string& of, const std::vector<std::string>& texts) {
      std::vector<std::string> cast;
      for (const std::string& one : texts) cast.push_back(fmt::format("({})({})", of, one));
      return fmt::format("{}", fmt::join(cast, ", "));
    };
    const std::string span = swizzle != nullptr ? text(Expression(swizzle->children[0])) : "0";
    line(fmt::format("  CUtensorMap {};", name));
    line("  {");
    line(fmt::format("    const unsigned long long cudal1_extents[5] = {{{}}}, cudal1_strides[5] = {{{}}};", list("unsigned long long", axes), list("unsigned long long", apart)));
    line(fmt::format("    const unsigned cudal1_box[5] = {{{}}};", list("unsigned", box)));
    line(fmt::format("    const long long cudal1_span = {};", span));
    line(fmt::format("    cudal1_status = cudal1_host::tensor_map(&{}, {}, {}, {}, cudal1_extents, cudal1_strides, cudal1_box,", name,
                     tensor_map_type(type != nullptr ? type->children[0]->text : "", dtype), axes.size(), text(from)));
    line("      cudal1_span == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : cudal1_span == 64 ? CU_TENSOR_MAP_SWIZZLE_64B : cudal1_span == 32 ? CU_TENSOR_MAP_SWIZZLE_32B : CU_TENSOR_MAP_SWIZZLE_NONE);");
    line("  }");
    line("  if (cudal1_status != cudaSuccess) return cudal1_status;");
    return name;
  }

  // `bodies + N`, counted in structures.
  std::string structures_argument(const Node& root, const Within& within) {
    needs_pointer_ = true;
    std::string offset;
    const Node* node = &root;
    for (; node->kind == Node::Kind::binary; node = node->children[0].get()) offset = fmt::format(" {} ({})", node->text, text(Expression(node->children[1]))) + offset;
    if (offset.empty()) return fmt::format("cudal1_host::pointer{{{}}}", within.memory);
    return fmt::format("cudal1_host::pointer{{{} + {}LL * (0{})}}", within.memory, within.stride, offset);
  }

  std::string argument(const LaunchStep& launch, std::size_t index, const Signature* signature) {
    const Expression& expression = launch.arguments[index];
    if (is_tensor_map(*expression.root())) return map_argument(*expression.root());
    const Node* node = expression.root();
    while (node->kind == Node::Kind::binary && (node->text == "+" || node->text == "-")) node = node->children[0].get();
    for (const Buffer& buffer : file_.buffers)
      if (node->kind == Node::Kind::name && buffer.within.stride != 0 && buffer.within.memory == node->text) return structures_argument(*expression.root(), buffer.within);
    std::optional<tensor::Dtype> dtype;
    bool input = false;
    for (const Buffer& buffer : file_.buffers)
      if (buffer.name == node->text) dtype = buffer.dtype, input = buffer.role == Buffer::Role::input;
    for (const Scratch& scratch : file_.scratches)
      if (scratch.name == node->text) dtype = scratch.dtype;
    if (node->kind != Node::Kind::name || !dtype) return text(expression);
    bool same = false;
    if (signature != nullptr && index < signature->parameters.size()) {
      const std::string& type = signature->parameters[index].type;
      TypeNames types = aliases_;
      const KernelName name = split_kernel_name(launch.kernel);
      for (std::size_t i = 0; i < signature->template_parameters.size(); ++i) {
        const TemplateParameter parameter = split_template_parameter(signature->template_parameters[i]);
        types[parameter.name] = i < name.template_arguments.size() ? name.template_arguments[i] : parameter.fallback;
      }
      const std::size_t star = type.find('*');
      const bool one_star = star != std::string::npos && type.find('*', star + 1) == std::string::npos;
      const bool constant = type.substr(0, star).find("const") != std::string::npos;
      same = one_star && plain_type(type, types) == tensor::cuda_name(*dtype) && (constant || !input);
    }
    if (same) return text(expression);
    needs_pointer_ = true;
    return fmt::format("cudal1_host::pointer{{{}}}", text(expression));
  }

  std::string text(const Expression& expression) { return expressions_.text(expression); }

  const File& file_;
  Assignment sizes_;  // of the first workload
  std::vector<Signature> signatures_;
  TypeNames aliases_;
  LauncherExpressions expressions_;
  std::set<std::string> repeat_variables_;
  std::string body_;
  int nesting_ = 0;
  int maps_ = 0;
  bool needs_pointer_ = false, needs_fill_ = false;
};

}  // namespace

std::string host_launcher(const File& file) { return Writer(file).run(); }

}  // namespace cudal1::kernel
