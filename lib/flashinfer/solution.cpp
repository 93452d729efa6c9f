// SPDX-License-Identifier: Apache-2.0
#include "flashinfer/solution.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "flashinfer/kernel_task.hpp"
#include "kernel/file.hpp"
#include "kernel/workload.hpp"

#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace cudal1::flashinfer {

namespace {

using json = nlohmann::ordered_json;
using Kind = Definition::Axis::Kind;

// How one of the two frameworks is spoken to.
struct Dialect {
  const char *includes, *tensor, *size, *dimensions, *data, *on_gpu, *contiguous, *stream, *demand;
};

const Dialect& dialect(Binding binding) {
  static const Dialect tvm{
      "#include <tvm/ffi/container/tensor.h>\n#include <tvm/ffi/error.h>\n#include <tvm/ffi/extra/c_env_api.h>\n#include <tvm/ffi/function.h>\n",
      "tvm::ffi::TensorView", "{}.size({})", "{}.ndim()", "{}.data_ptr()", "{}.device().device_type == kDLCUDA", "{}.IsContiguous()",
      "static_cast<cudaStream_t>(TVMFFIEnvGetStream({0}.device().device_type, {0}.device().device_id))", "TVM_FFI_ICHECK({}) << \"{}\";"};
  static const Dialect torch{"#include <ATen/cuda/CUDAContext.h>\n#include <c10/cuda/CUDAGuard.h>\n#include <torch/extension.h>\n", "torch::Tensor", "{}.size({})", "{}.dim()",
                             "{}.data_ptr()", "{}.is_cuda()", "{}.is_contiguous()", "at::cuda::getCurrentCUDAStream({}.device().index())", "TORCH_CHECK({}, \"{}\");"};
  return binding == Binding::tvm_ffi ? tvm : torch;
}

std::string type_test(const Definition::Tensor& tensor, Binding binding) {
  const std::string name(tensor::name(tensor.dtype));
  if (binding == Binding::torch) {
    static const std::map<std::string, std::string> types{{"float64", "kDouble"}, {"float32", "kFloat"}, {"float16", "kHalf"}, {"bfloat16", "kBFloat16"}, {"int64", "kLong"},
                                                          {"int32", "kInt"},      {"int16", "kShort"},   {"int8", "kChar"},    {"uint8", "kByte"},        {"bool", "kBool"}};
    return fmt::format("{}.scalar_type() == torch::{}", tensor.name, types.at(name));
  }
  const char* code = name == "bool" ? "kDLBool" : name == "bfloat16" ? "kDLBfloat" : name == "uint8" ? "kDLUInt" : tensor::is_floating(tensor.dtype) ? "kDLFloat" : "kDLInt";
  return fmt::format("{0}.dtype().code == {1} && {0}.dtype().bits == {2}", tensor.name, code, 8 * tensor::size_of(tensor.dtype));
}

// The entry point: checks, then the host function of the kernel file.
class Binder {
 public:
  Binder(const Definition& definition, const kernel::File& file, Binding binding) : definition_(definition), file_(file), binding_(binding), words_(dialect(binding)), function_(file.task) {
    if (file.source.find(fmt::format("cudaError_t {}_launch(", file.task)) != std::string::npos) function_ += "_launch";
  }

  std::string text() {
    std::vector<std::string> parameters;
    for (const auto& input : definition_.inputs) parameters.push_back(fmt::format("{} {}", input.scalar ? scalar_type(input) : words_.tensor, input.name));
    for (const auto& output : definition_.outputs) parameters.push_back(fmt::format("{} {}", words_.tensor, output.name));
    std::string body;
    for (const auto* tensors : {&definition_.inputs, &definition_.outputs})
      for (const auto& tensor : *tensors)
        if (!tensor.scalar) body += checked(tensor);
    for (const auto& axis : definition_.axes)
      if (axis.kind == Kind::variable && !known_.contains(axis.name)) body += fmt::format("  const long long {} = 0;\n", axis.name);
    body += shapes_;
    std::vector<std::string> arguments;
    for (const kernel::Buffer& buffer : file_.buffers)
      arguments.push_back(fmt::format("static_cast<{}{}*>({})", buffer.role == kernel::Buffer::Role::input ? "const " : "", tensor::cuda_name(buffer.dtype), fmt::format(fmt::runtime(words_.data), buffer.name)));
    const auto sizes = kernel::workloads(file_).front();
    for (const auto& [name, value] : sizes.values)
      if (value.names().empty()) arguments.push_back(is_axis(name) ? name : "0");
    for (const kernel::Scalar& scalar : file_.scalars)
      if (scalar.value.names().empty()) arguments.push_back(scalar.name);
    std::string first;
    for (const auto& output : definition_.outputs) first = first.empty() ? output.name : first;
    arguments.push_back(fmt::format(fmt::runtime(words_.stream), first));
    body += fmt::format("  const cudaError_t status = ::{}({});\n  {}\n", function_, fmt::join(arguments, ", "), demand("status == cudaSuccess", "the kernel could not be launched"));
    const std::string exported = binding_ == Binding::tvm_ffi ? "TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, cudal1_solution::run);\n"
                                                              : "PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) { module.def(\"run\", &cudal1_solution::run); }\n";
    return fmt::format("{}\nnamespace cudal1_solution {{\n\nvoid run({}) {{\n{}}}\n\n}}  // namespace cudal1_solution\n\n{}", words_.includes, fmt::join(parameters, ", "), body, exported);
  }

 private:
  static std::string scalar_type(const Definition::Tensor& input) {
    if (input.dtype == tensor::Dtype::bool_) return "bool";
    return tensor::is_floating(input.dtype) ? "double" : "int64_t";
  }

  bool is_axis(const std::string& name) const {
    for (const auto& axis : definition_.axes)
      if (axis.name == name) return true;
    return false;
  }

  std::string demand(const std::string& what, const std::string& said) const { return fmt::format(fmt::runtime(words_.demand), what, said); }

  // The first tensor with a variable axis says how large it is; constants and further tensors are held to it.
  std::string checked(const Definition::Tensor& tensor) {
    std::string text = fmt::format("  {}\n", demand(fmt::format("{} && {} && {} && {} == {}", fmt::format(fmt::runtime(words_.on_gpu), tensor.name), fmt::format(fmt::runtime(words_.contiguous), tensor.name),
                                                              type_test(tensor, binding_), fmt::format(fmt::runtime(words_.dimensions), tensor.name), tensor.shape.size()),
                                                  fmt::format("{} must be contiguous, on the GPU, of {} and of {} dimensions", tensor.name, tensor::name(tensor.dtype), tensor.shape.size())));
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      const auto& axis = definition_.axis(tensor.shape[i]);
      const std::string extent = fmt::format(fmt::runtime(words_.size), tensor.name, i);
      if (axis.kind == Kind::variable && known_.insert({axis.name, 0}).second) text += fmt::format("  const long long {} = {};\n", axis.name, extent);
      else if (axis.kind == Kind::variable) shapes_ += fmt::format("  {}\n", demand(fmt::format("{} == {}", extent, axis.name), fmt::format("{} does not fit the others", tensor.name)));
      else if (axis.kind == Kind::constant) shapes_ += fmt::format("  {}\n", demand(fmt::format("{} == {}", extent, axis.value), fmt::format("{} must have {} = {}", tensor.name, axis.name, axis.value)));
    }
    return text;
  }

  const Definition& definition_;
  const kernel::File& file_;
  Binding binding_;
  const Dialect& words_;
  std::string function_;               // the host function
  std::map<std::string, int> known_;   // variable axes that have a value
  std::string shapes_;
};

}  // namespace

std::string solution(const Definition& definition, const std::string& kernel_file, const std::string& hardware, const std::string& description, Binding binding) {
  const auto file = kernel::parse(kernel_file, "the kernel file");
  if (!file) throw base::Error(base::Fault::bad_input, base::render(file.error()));
  const std::string source = fmt::format("{}\n{}", kernel_file, Binder(definition, *file, binding).text());
  json spec;
  if (binding == Binding::tvm_ffi) spec["language"] = "cuda";
  else spec["languages"] = {"cuda_cpp"};
  spec["target_hardware"] = {binding == Binding::tvm_ffi ? hardware : "LOCAL"};
  spec["entry_point"] = "kernel.cu::run";
  spec["dependencies"] = json::array();
  spec["destination_passing_style"] = true;
  if (binding == Binding::torch) spec["compile_options"] = {{"cuda_cflags", {"-O3"}}};   // without fast arithmetic, as it was verified
  spec["binding"] = binding == Binding::tvm_ffi ? "tvm-ffi" : "torch";
  const json result{{"name", fmt::format("cudal1_{}_{}", task_name(definition), base::sha256(source).substr(0, 8))},
                    {"definition", definition.name},
                    {"author", "cudal1"},
                    {"description", description},
                    {"spec", spec},
                    {"sources", json::array({{{"path", "kernel.cu"}, {"content", source}}})}};
  return result.dump(2) + "\n";
}

}  // namespace cudal1::flashinfer
