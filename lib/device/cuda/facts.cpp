// SPDX-License-Identifier: Apache-2.0
#include "cuda/facts.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "cuda/cuda.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

namespace cudal1::cuda {

namespace {

int attribute(CUdevice device, CUdevice_attribute which) {
  int value = 0;
  return driver().device_get_attribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

// Multiply-adds per SM and clock, from the throughput table of the CUDA C++ programming guide; 0 where not listed.
struct Throughput {
  int major, minor;
  double fp32, fp64, fp16_tensor;
};
constexpr Throughput throughputs[] = {
    {7, 5, 64, 2, 512},     {8, 0, 64, 32, 1024},  {8, 6, 128, 2, 512},   {8, 7, 128, 2, 1024}, {8, 9, 128, 2, 512},
    {9, 0, 128, 64, 2048},  {10, 0, 128, 64, 4096}, {12, 0, 128, 2, 512}, {12, 1, 128, 2, 512},
};

std::string driver_version() {
  try {
    return std::string(base::trim(base::read_file("/sys/module/nvidia/version", 64)));
  } catch (const base::Error&) {
    int version = 0;
    driver().driver_get_version(&version);
    return fmt::format("for CUDA {}.{}", version / 1000, version % 1000 / 10);
  }
}

std::string text_of(const CUuuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
  }
  return text;
}

}  // namespace

std::size_t memory_limit() {
  const char* given = std::getenv("CUDAL1_GPU_MEMORY_GIB");
  const double gibibytes = given != nullptr ? std::strtod(given, nullptr) : 0;
  return gibibytes > 0 ? static_cast<std::size_t>(gibibytes * 0x1p30) : std::numeric_limits<std::size_t>::max();
}

outcome::DeviceFacts read_facts(CUdevice device) {
  outcome::DeviceFacts facts;
  char name[256] = "";
  driver().device_get_name(name, sizeof name, device);
  facts.name = name;
  CUuuid uuid{};
  if (driver().device_get_uuid(&uuid, device) == CUDA_SUCCESS) facts.uuid = text_of(uuid);
  facts.driver = driver_version();
  facts.major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  facts.minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  facts.sm_count = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  facts.clock_hz = 1e3 * attribute(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  std::size_t bytes = 0;
  driver().device_total_mem(&bytes, device);
  facts.memory_bytes = std::min(bytes, memory_limit());
  facts.l2_bytes = static_cast<std::size_t>(attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  facts.shared_bytes_per_sm =
      static_cast<std::size_t>(attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
  facts.shared_bytes_per_block_optin =
      static_cast<std::size_t>(attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  facts.registers_per_sm = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  facts.max_threads_per_sm = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  facts.max_blocks_per_sm = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  for (const Throughput& row : throughputs) {
    if (row.major != facts.major || row.minor != facts.minor) continue;
    const double per_unit = 2.0 * facts.sm_count * facts.clock_hz;
    facts.fp32_flops = row.fp32 * per_unit;
    facts.fp64_flops = row.fp64 * per_unit;
    facts.fp16_tensor_flops = row.fp16_tensor * per_unit;
    facts.tf32_tensor_flops = row.fp16_tensor / 2 * per_unit;
  }
  return facts;
}

Inventory inventory() {
  Inventory result;
  result.problem = driver().problem;
  if (!driver().path.empty()) result.driver = driver().path;
  if (!result.problem.empty()) return result;
  result.driver = fmt::format("{} {}", driver().path, driver_version());
  int count = 0;
  if (driver().device_get_count(&count) != CUDA_SUCCESS || count == 0) {
    result.problem = "the NVIDIA driver lists no GPU; use --device sim to predict times without one";
    return result;
  }
  for (int index = 0; index < count; ++index) {
    CUdevice device = 0;
    if (driver().device_get(&device, index) == CUDA_SUCCESS) result.devices.push_back(read_facts(device));
  }
  return result;
}

}  // namespace cudal1::cuda
