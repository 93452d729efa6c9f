// SPDX-License-Identifier: Apache-2.0
// What nvcc's generated code registers, and launches.
#include "connection.hpp"
#include "errors.hpp"
#include "symbols.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

using namespace cudal1::runtime;

namespace {

// As crt/fatbinary.h lays them out: what the registered pointer points to, and what begins the binary itself.
struct Wrapper {
  int magic, version;
  const unsigned char* data;
  void* file;
};
struct FatHeader {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;
};
constexpr std::uint32_t fat_magic = 0xba55ed50;

struct FatBinary {
  const Wrapper* wrapper = nullptr;
  bool loaded = false;
  std::int64_t module = -1;
};

struct Function {
  FatBinary* binary = nullptr;
  std::string symbol;
  bool known = false;
  wire::Kernel facts{};
  std::vector<wire::Parameter> parameters;
};

struct Variable {
  FatBinary* binary = nullptr;
  std::string symbol;
};

struct Configuration {
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
};

struct Registry {
  std::mutex mutex;
  std::map<const void*, Function> functions;
  std::map<const void*, Variable> variables;
  std::vector<std::pair<void**, Variable>> managed;
};
Registry& registry() {
  static auto* const all = new Registry;
  return *all;
}
thread_local std::vector<Configuration> configurations;

std::int64_t module_of(FatBinary& binary) {
  if (binary.loaded) return binary.module;
  binary.loaded = true;
  if (binary.wrapper == nullptr || binary.wrapper->data == nullptr) return -1;
  FatHeader header{};
  std::memcpy(&header, binary.wrapper->data, sizeof header);
  if (header.magic != fat_magic) return -1;
  const std::string_view bytes(reinterpret_cast<const char*>(binary.wrapper->data), header.header_bytes + header.bytes);
  binary.module = Connection::get().ask<wire::Number>(wire::Kind::module, wire::Module{}, bytes).value;
  return binary.module;
}

Function* find(const void* host) {
  Registry& all = registry();
  const auto found = all.functions.find(host);
  if (found == all.functions.end()) return nullptr;
  Function& function = found->second;
  if (function.known) return function.facts.found != 0 ? &function : nullptr;
  function.known = true;
  const std::int64_t module = module_of(*function.binary);
  if (module < 0) return nullptr;
  std::string rest;
  function.facts = Connection::get().ask<wire::Kernel>(wire::Kind::kernel, wire::OfModule{module}, function.symbol, &rest);
  if (function.facts.found == 0) return nullptr;
  function.parameters.resize(function.facts.parameters);
  if (!function.parameters.empty()) std::memcpy(function.parameters.data(), rest.data(), function.parameters.size() * sizeof(wire::Parameter));
  return &function;
}

cudaError_t launch(const void* host, dim3 grid, dim3 block, void** arguments, std::size_t shared, bool cooperative) {
  const std::lock_guard lock(registry().mutex);
  const Function* function = find(host);
  if (function == nullptr) return keep(cudaErrorInvalidDeviceFunction);
  std::size_t bytes = 0;
  for (const wire::Parameter& p : function->parameters) bytes = std::max<std::size_t>(bytes, p.offset + p.bytes);
  std::string rest = function->symbol;
  rest.resize(function->symbol.size() + bytes);
  for (std::size_t i = 0; i < function->parameters.size(); ++i)
    std::memcpy(rest.data() + function->symbol.size() + function->parameters[i].offset, arguments[i], function->parameters[i].bytes);
  wire::Launch message;
  message.module = function->binary->module;
  message.grid[0] = grid.x, message.grid[1] = grid.y, message.grid[2] = grid.z;
  message.block[0] = block.x, message.block[1] = block.y, message.block[2] = block.z;
  message.shared_bytes = static_cast<std::uint32_t>(shared);
  message.cooperative = cooperative ? 1 : 0;
  message.symbol_bytes = static_cast<std::uint32_t>(function->symbol.size());
  std::string printed;
  const auto launched = Connection::get().ask<wire::Launched>(wire::Kind::launch, message, rest, &printed);
  std::fwrite(printed.data(), 1, printed.size(), stdout);
  if (launched.end != 0) {
    std::fflush(nullptr);
    std::_Exit(0);  // what was wanted is recorded
  }
  return keep(static_cast<cudaError_t>(launched.error));
}

}  // namespace

namespace cudal1::runtime {

wire::Place symbol_place(const void* host) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().variables.find(host);
  if (found == registry().variables.end()) return {};
  const std::int64_t module = module_of(*found->second.binary);
  if (module < 0) return {};
  return Connection::get().ask<wire::Place>(wire::Kind::symbol, wire::OfModule{module}, found->second.symbol);
}

}  // namespace cudal1::runtime

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  auto* const binary = new FatBinary;
  binary->wrapper = static_cast<const Wrapper*>(wrapper);
  return reinterpret_cast<void**>(binary);
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}

void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*, int*) {
  const std::lock_guard lock(registry().mutex);
  Function function;
  function.binary = reinterpret_cast<FatBinary*>(handle);
  function.symbol = name;
  registry().functions[host] = std::move(function);
}
void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t, int, int) {
  const std::lock_guard lock(registry().mutex);
  registry().variables[host] = {reinterpret_cast<FatBinary*>(handle), name};
}
void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int, size_t, int, int) {
  const std::lock_guard lock(registry().mutex);
  const Variable variable{reinterpret_cast<FatBinary*>(handle), name};
  registry().variables[host] = variable;
  registry().managed.emplace_back(host, variable);
}
char __cudaInitModule(void** handle) {
  std::vector<void**> hosts;
  {
    const std::lock_guard lock(registry().mutex);
    for (const auto& [host, variable] : registry().managed)
      if (variable.binary == reinterpret_cast<FatBinary*>(handle)) hosts.push_back(host);
  }
  for (void** host : hosts)
    if (const auto place = symbol_place(host); place.address != 0) *host = reinterpret_cast<void*>(place.address);
  return 1;
}
void __cudaRegisterTexture(void**, const struct textureReference*, const void**, const char*, int, int, int) {}
void __cudaRegisterSurface(void**, const struct surfaceReference*, const void**, const char*, int, int) {}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void* stream) {
  configurations.push_back({grid, block, shared, static_cast<cudaStream_t>(stream)});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (configurations.empty()) return keep(cudaErrorInvalidConfiguration);
  const Configuration top = configurations.back();
  configurations.pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  std::memcpy(stream, &top.stream, sizeof top.stream);
  return cudaSuccess;
}
#if CUDART_VERSION >= 12010
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  std::memcpy(kernel, &host, sizeof host);
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t) {
  const void* host = nullptr;
  std::memcpy(&host, &kernel, sizeof host);
  return launch(host, grid, block, arguments, shared, false);
}
#endif

}  // extern "C"

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t) {
  return launch(function, grid, block, arguments, shared, false);
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t) {
  return launch(function, grid, block, arguments, shared, true);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  bool cooperative = false;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    if (config->attrs[i].id == cudaLaunchAttributeCooperative) cooperative = config->attrs[i].val.cooperative != 0;
    if (config->attrs[i].id == cudaLaunchAttributeClusterDimension) return lacks("launches of clusters");
  }
  return launch(function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes, cooperative);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) {
  function(data);
  return keep(cudaSuccess);
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data, unsigned int) {
  function(stream, cudaSuccess, data);
  return keep(cudaSuccess);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* host) {
  const std::lock_guard lock(registry().mutex);
  const Function* function = find(host);
  if (function == nullptr) return keep(cudaErrorInvalidDeviceFunction);
  *attributes = {};
  attributes->sharedSizeBytes = function->facts.shared_bytes;
  attributes->localSizeBytes = function->facts.local_bytes;
  attributes->maxThreadsPerBlock = static_cast<int>(function->facts.max_threads);
  attributes->numRegs = 32;
  const auto& device = Connection::get().device();
  attributes->ptxVersion = attributes->binaryVersion = device.major * 10 + device.minor;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(device.shared_optin - function->facts.shared_bytes);
  return keep(cudaSuccess);
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return keep(cudaSuccess); }
cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return keep(cudaSuccess); }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* host, int threads, size_t shared, unsigned int) {
  const std::lock_guard lock(registry().mutex);
  const Function* function = find(host);
  if (function == nullptr) return keep(cudaErrorInvalidDeviceFunction);
  const wire::Occupancy message{function->binary->module, shared, static_cast<std::uint32_t>(threads)};
  *blocks = static_cast<int>(Connection::get().ask<wire::Number>(wire::Kind::occupancy, message, function->symbol).value);
  return keep(cudaSuccess);
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host, int threads, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared, 0);
}
