// SPDX-License-Identifier: Apache-2.0
#include "compile/nvrtc.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "compile/headers.hpp"

#include <new>
#include <set>
#include <string>
#include <type_traits>

#include <dlfcn.h>
#include <nvrtc.h>

namespace cudal1::compile {
namespace {

// A log holds ptxas's facts at its end and a flood of warnings, if there is one, in front.
constexpr std::size_t log_head = std::size_t{4} << 20, log_tail = std::size_t{1} << 20;

// A constant array of 400 MB is 2 GB of PTX; nobody's kernel is.
constexpr std::size_t product_limit = std::size_t{128} << 20;

void bound(std::string& log) {
  if (log.size() > log_head + log_tail) log.replace(log_head, log.size() - log_head - log_tail, "\n");
}

}  // namespace

struct Nvrtc::Functions {
  decltype(&nvrtcVersion) version;
  decltype(&nvrtcGetErrorString) error_string;
  decltype(&nvrtcCreateProgram) create;
  decltype(&nvrtcDestroyProgram) destroy;
  decltype(&nvrtcAddNameExpression) add_name;
  decltype(&nvrtcGetLoweredName) lowered_name;
  decltype(&nvrtcCompileProgram) compile;
  decltype(&nvrtcGetProgramLogSize) log_size;
  decltype(&nvrtcGetProgramLog) log;
  decltype(&nvrtcGetPTXSize) ptx_size;
  decltype(&nvrtcGetPTX) ptx;
  decltype(&nvrtcGetCUBINSize) cubin_size;
  decltype(&nvrtcGetCUBIN) cubin;
  decltype(&nvrtcGetNumSupportedArchs) architecture_count;
  decltype(&nvrtcGetSupportedArchs) architectures;
};

Nvrtc::Nvrtc(const std::filesystem::path& library, const std::filesystem::path& builtins)
    : functions_(std::make_unique<Functions>()) {
  if (!builtins.empty()) ::dlopen(builtins.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = ::dlerror();
    throw base::Error(base::Fault::no_device, "cannot open NVRTC: " + std::string(why != nullptr ? why : library.c_str()));
  }
  const auto bind = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
    if (function == nullptr)
      throw base::Error(base::Fault::no_device, library.string() + " has no function " + name + "; CUDA 11.2 or newer is needed");
  };
  bind(functions_->version, "nvrtcVersion");
  bind(functions_->error_string, "nvrtcGetErrorString");
  bind(functions_->create, "nvrtcCreateProgram");
  bind(functions_->destroy, "nvrtcDestroyProgram");
  bind(functions_->add_name, "nvrtcAddNameExpression");
  bind(functions_->lowered_name, "nvrtcGetLoweredName");
  bind(functions_->compile, "nvrtcCompileProgram");
  bind(functions_->log_size, "nvrtcGetProgramLogSize");
  bind(functions_->log, "nvrtcGetProgramLog");
  bind(functions_->ptx_size, "nvrtcGetPTXSize");
  bind(functions_->ptx, "nvrtcGetPTX");
  bind(functions_->cubin_size, "nvrtcGetCUBINSize");
  bind(functions_->cubin, "nvrtcGetCUBIN");
  bind(functions_->architecture_count, "nvrtcGetNumSupportedArchs");
  bind(functions_->architectures, "nvrtcGetSupportedArchs");
  functions_->version(&major_, &minor_);
}

Nvrtc::~Nvrtc() = default;

std::vector<int> Nvrtc::architectures() const {
  int count = 0;
  if (functions_->architecture_count(&count) != NVRTC_SUCCESS || count <= 0) return {};
  std::vector<int> all(static_cast<std::size_t>(count));
  if (functions_->architectures(all.data()) != NVRTC_SUCCESS) return {};
  return all;
}

// A kernel may have the name of a function that CUDA has already, such as `all`: NVRTC then does not know which one a name means.
// Kernels that are no templates are in the PTX all the same, where their symbols are found without it.
Product Nvrtc::compile(const Job& job) const {
  Product product = compile(job, {});
  std::set<std::string> left_out;
  for (const std::string& kernel : job.kernels)
    if (!product.compiled && product.log.find("overloaded function \"" + kernel + "\"") != std::string::npos) left_out.insert(kernel);
  return left_out.empty() ? product : compile(job, left_out);
}

Product Nvrtc::compile(const Job& job, const std::set<std::string>& left_out) const {
  const Functions& f = *functions_;
  std::vector<const char*> texts, names, options;
  for (const std::string_view name : embedded_headers())
    if (const auto text = embedded_text(name.substr(name.rfind('/') + 1))) {
      texts.push_back(text->data());  // both end with a null character: literals and generated arrays
      names.push_back(name.data());
    }
  for (const std::string& option : job.options) options.push_back(option.c_str());

  const base::Seconds start = base::now();
  Product product;
  nvrtcProgram raw = nullptr;
  nvrtcResult status = f.create(&raw, job.source.c_str(), job.name.c_str(), static_cast<int>(texts.size()), texts.data(), names.data());
  const auto destroy = [&f](nvrtcProgram program) { f.destroy(&program); };
  const std::unique_ptr<_nvrtcProgram, decltype(destroy)> program(raw, destroy);
  for (const std::string& kernel : job.kernels)
    if (status == NVRTC_SUCCESS && !left_out.contains(kernel)) status = f.add_name(raw, kernel.c_str());
  if (status == NVRTC_SUCCESS) status = f.compile(raw, static_cast<int>(options.size()), options.data());
  product.compiled = status == NVRTC_SUCCESS;
  product.out_of_memory = status == NVRTC_ERROR_OUT_OF_MEMORY;
  product.status = f.error_string(status);

  // Sizes count a final null character, except that of a cubin.
  const auto text = [raw](auto size_of, auto fill, bool terminated) {
    std::size_t size = 0;
    std::string bytes;
    if (size_of(raw, &size) != NVRTC_SUCCESS || size == 0) return bytes;
    if (size > product_limit) throw std::bad_alloc();
    bytes.resize(size);
    if (fill(raw, bytes.data()) != NVRTC_SUCCESS) return std::string();
    if (terminated) bytes.resize(size - 1);
    return bytes;
  };
  if (raw != nullptr) {
    product.log = text(f.log_size, f.log, true);
    bound(product.log);
  }
  if (product.compiled) {
    product.ptx = text(f.ptx_size, f.ptx, true);
    if (job.cubin) product.cubin = text(f.cubin_size, f.cubin, false);
    for (const std::string& kernel : job.kernels) {
      const char* lowered = nullptr;
      const bool found = !left_out.contains(kernel) && f.lowered_name(raw, kernel.c_str(), &lowered) == NVRTC_SUCCESS && lowered != nullptr;
      product.lowered.emplace_back(found ? lowered : "");
    }
  }
  product.seconds = (base::now() - start).count();
  return product;
}

}  // namespace cudal1::compile
