// SPDX-License-Identifier: Apache-2.0
#include "cuda/prepared_plan.hpp"

#include "cuda/tensor_map.hpp"
#include "tensor/dtype.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include <fmt/format.h>

namespace cudal1::cuda {

namespace {

constexpr unsigned portable_cluster = 8;

}  // namespace

tl::expected<PreparedPlan, std::string> PreparedPlan::make(
    const device::BoundPlan& plan, const std::function<CUdeviceptr(const device::Region&)>& address) {
  const auto& module = dynamic_cast<const LoadedModule&>(*plan.module);
  PreparedPlan result;
  for (std::size_t i = 0; i < plan.plan->buffers.size(); ++i) {
    const kernel::PlanBuffer& buffer = plan.plan->buffers[i];
    if (!buffer.initial || buffer.bytes == 0) continue;
    std::byte element[8]{};
    tensor::store(buffer.dtype, *buffer.initial, element);
    Fill fill;
    fill.address = address(plan.buffers[i]);
    fill.width = tensor::size_of(buffer.dtype);
    fill.count = buffer.bytes / fill.width;
    std::memcpy(&fill.value, element, sizeof element);
    fill.fill64 = module.fill64;
    result.steps_.push_back({fill, std::nullopt, std::nullopt});
  }
  for (const kernel::PlanStep& step : plan.plan->steps) {
    if (const auto* memset = std::get_if<kernel::Memset>(&step)) {
      const device::Region& region = plan.buffers[memset->buffer];
      if (region.bytes == 0) continue;
      result.steps_.push_back({Fill{address(region), region.bytes, 1, memset->value, nullptr}, std::nullopt, std::nullopt});
      continue;
    }
    if (const auto* copy = std::get_if<kernel::Copy>(&step)) {
      const device::Region& from = plan.buffers[copy->buffer];
      const auto into = std::find_if(module.constants.begin(), module.constants.end(), [&](const auto& v) { return outcome::names_variable(copy->variable, v.symbol); });
      if (into == module.constants.end()) continue;  // no kernel uses it, and the compiler has left it out
      if (into->bytes != from.bytes)
        return tl::unexpected(fmt::format("{} has {} bytes, but {} has {}", copy->variable, into->bytes, plan.plan->buffers[copy->buffer].name, from.bytes));
      result.steps_.push_back({std::nullopt, std::nullopt, Copy{into->address, address(from), from.bytes}});
      continue;
    }
    const auto& asked = std::get<kernel::Launch>(step);
    const auto function = module.functions.find(asked.kernel);
    assert(function != module.functions.end());
    Launch launch;
    launch.name = asked.kernel;
    launch.function = function->second;
    CUlaunchConfig& config = launch.config;
    config.gridDimX = asked.grid[0];
    config.gridDimY = asked.grid[1];
    config.gridDimZ = asked.grid[2];
    config.blockDimX = asked.block[0];
    config.blockDimY = asked.block[1];
    config.blockDimZ = asked.block[2];
    config.sharedMemBytes = asked.shared_bytes;
    // A kernel gets 48 KiB without asking, its static arrays included.
    if (asked.shared_bytes > 0 &&
        driver().func_set_attribute(launch.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                    static_cast<int>(asked.shared_bytes)) != CUDA_SUCCESS)
      return tl::unexpected(fmt::format("kernel {} asks for {} bytes of dynamic shared memory, more than this GPU gives a block",
                                        asked.kernel, asked.shared_bytes));
    if (asked.cooperative) {
      CUlaunchAttribute& attribute = launch.attributes[config.numAttrs++];
      attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
      attribute.value.cooperative = 1;
    }
    if (asked.cluster[0] != 0) {
      CUlaunchAttribute& attribute = launch.attributes[config.numAttrs++];
      attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      attribute.value.clusterDim.x = asked.cluster[0];
      attribute.value.clusterDim.y = std::max(asked.cluster[1], 1U);
      attribute.value.clusterDim.z = std::max(asked.cluster[2], 1U);
      const unsigned blocks =
          attribute.value.clusterDim.x * attribute.value.clusterDim.y * attribute.value.clusterDim.z;
      if (blocks > portable_cluster)
        driver().func_set_attribute(launch.function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    }
    for (const kernel::Argument& argument : asked.arguments) {
      auto& bytes = launch.arguments.emplace_back().bytes;
      if (const auto* buffer = std::get_if<kernel::BufferArgument>(&argument)) {
        const CUdeviceptr pointer =
            address(plan.buffers[buffer->buffer]) + static_cast<CUdeviceptr>(buffer->byte_offset);
        std::memcpy(bytes.data(), &pointer, sizeof pointer);
      } else if (const auto* map = std::get_if<kernel::TensorMapArgument>(&argument)) {
        const auto encoded = encode(*map, address(plan.buffers[map->buffer]) + static_cast<CUdeviceptr>(map->byte_offset));
        if (!encoded) return tl::unexpected(fmt::format("kernel {}: {}", asked.kernel, encoded.error()));
        std::memcpy(bytes.data(), &*encoded, sizeof *encoded);
      } else {
        const auto& scalar = std::get<kernel::ScalarArgument>(argument).bytes;
        std::memcpy(bytes.data(), scalar.data(), scalar.size());
      }
    }
    result.steps_.push_back({std::nullopt, std::move(launch), std::nullopt});
  }
  return result;
}

CUresult PreparedPlan::queue(Step& step, CUstream stream) {
  if (step.launch) {
    Launch& launch = *step.launch;
    std::vector<void*> arguments;
    for (auto& argument : launch.arguments) arguments.push_back(argument.bytes.data());
    launch.config.hStream = stream;
    launch.config.attrs = launch.attributes.data();
    return driver().launch_kernel_ex(&launch.config, launch.function, arguments.data(), nullptr);
  }
  if (step.copy) return driver().memcpy_device_to_device_async(step.copy->to, step.copy->from, step.copy->bytes, stream);
  const Fill& fill = *step.fill;
  switch (fill.width) {
    case 1: return driver().memset8_async(fill.address, static_cast<unsigned char>(fill.value), fill.count, stream);
    case 2: return driver().memset16_async(fill.address, static_cast<unsigned short>(fill.value), fill.count, stream);
    case 4: return driver().memset32_async(fill.address, static_cast<unsigned>(fill.value), fill.count, stream);
    default: break;
  }
  if (fill.value == 0) return driver().memset32_async(fill.address, 0, 2 * fill.count, stream);
  CUdeviceptr address = fill.address;
  std::uint64_t count = fill.count;
  std::uint64_t value = fill.value;
  void* arguments[] = {&address, &count, &value};
  CUlaunchConfig config{};
  config.gridDimX = static_cast<unsigned>(std::min<std::size_t>(1024, fill.count / 256 + 1));
  config.blockDimX = 256;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  return driver().launch_kernel_ex(&config, fill.fill64, arguments, nullptr);
}

PreparedPlan::Failure PreparedPlan::enqueue(CUstream stream) {
  if (graph_) return {driver().graph_launch(graph_.get(), stream), "the plan's graph"};
  for (Step& step : steps_)
    if (const CUresult status = queue(step, stream); status != CUDA_SUCCESS)
      return {status, step.launch ? "kernel " + step.launch->name : step.copy ? "a copy" : "a memset"};
  return {};
}

std::string PreparedPlan::first_kernel() const {
  for (const Step& step : steps_)
    if (step.launch) return step.launch->name;
  return "";
}

CUresult PreparedPlan::make_graph(CUstream stream) {
  CUgraph graph = nullptr;
  CUresult status = driver().stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
  if (status != CUDA_SUCCESS) return status;
  const Failure failure = enqueue(stream);
  status = driver().stream_end_capture(stream, &graph);
  if (failure.status != CUDA_SUCCESS) status = failure.status;
  CUgraphExec executable = nullptr;
  if (status == CUDA_SUCCESS) status = driver().graph_instantiate(&executable, graph, 0);
  if (graph != nullptr) driver().graph_destroy(graph);
  if (status != CUDA_SUCCESS) return status;
  graph_.reset(executable);
  return driver().graph_upload(executable, stream);
}

}  // namespace cudal1::cuda
