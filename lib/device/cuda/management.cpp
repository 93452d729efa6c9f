// SPDX-License-Identifier: Apache-2.0
#include "cuda/management.hpp"

#include <cstdlib>
#include <iterator>
#include <map>
#include <type_traits>

#include <dlfcn.h>
#include <fmt/format.h>

namespace cudal1::cuda {

namespace {

// NVML's own structures, which its header would declare; that header is not part of every toolkit.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};
struct Utilisation {
  unsigned gpu, memory;   // percent
};
constexpr int success = 0;

struct Reason {
  unsigned long long bit;
  const char* name;
};
constexpr Reason reasons[] = {
    {0x40, "heat"}, {0x20, "heat"}, {0x80, "the power supply"}, {0x08, "the hardware's own protection"}, {0x04, "the power limit"},
};

}  // namespace

struct Management::Library {
  int (*initialise)() = nullptr;
  int (*device_by_uuid)(const char*, void**) = nullptr;
  int (*processes)(void*, unsigned*, ProcessInfo*) = nullptr;
  int (*utilisation)(void*, Utilisation*) = nullptr;
  int (*throttle_reasons)(void*, unsigned long long*) = nullptr;
  int (*energy)(void*, unsigned long long*) = nullptr;
  bool usable = false;

  explicit Library(const std::string& path) {
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    const auto find = [&](auto& member, const char* symbol) {
      member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(::dlsym(library, symbol));
    };
    find(initialise, "nvmlInit_v2");
    find(device_by_uuid, "nvmlDeviceGetHandleByUUID");
    find(processes, "nvmlDeviceGetComputeRunningProcesses_v3");
    find(utilisation, "nvmlDeviceGetUtilizationRates");
    find(throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    find(energy, "nvmlDeviceGetTotalEnergyConsumption");
    usable = initialise != nullptr && device_by_uuid != nullptr && initialise() == success;
  }
};

Management::Management(const std::string& uuid) {
  const char* given = std::getenv("CUDAL1_NVML");
  const std::string path = given != nullptr ? given : "libnvidia-ml.so.1";
  static auto* const libraries = new std::map<std::string, Library>;   // never destroyed, as the driver's functions are not
  const Library* const library = &libraries->try_emplace(path, path).first->second;
  if (!library->usable) problem_ = "NVML (libnvidia-ml.so.1) was not found, so other programs on the GPU and held-down clocks go unseen";
  else if (library->device_by_uuid(uuid.c_str(), &device_) != success)
    problem_ = fmt::format("NVML does not show {}, so other programs on it and held-down clocks go unseen", uuid);
  else library_ = library;
}

std::vector<std::string> Management::tenants() const {
  std::vector<std::string> result;
  if (library_ == nullptr || library_->processes == nullptr) return result;
  ProcessInfo list[64];
  unsigned count = std::size(list);
  if (library_->processes(device_, &count, list) != success) return result;
  for (unsigned i = 0; i < count; ++i) {
    constexpr auto unknown = ~0ULL;
    result.push_back(list[i].used_bytes == unknown || list[i].used_bytes == 0
                         ? fmt::format("process {}", list[i].pid)
                         : fmt::format("process {}, {} MiB", list[i].pid, list[i].used_bytes >> 20));
  }
  return result;
}

double Management::utilisation() const {
  Utilisation rates{};
  if (library_ == nullptr || library_->utilisation == nullptr || library_->utilisation(device_, &rates) != success) return 0;
  return 0.01 * rates.gpu;
}

std::string Management::throttle_reason() const {
  unsigned long long bits = 0;
  if (library_ == nullptr || library_->throttle_reasons == nullptr || library_->throttle_reasons(device_, &bits) != success) return "";
  for (const Reason& reason : reasons)
    if ((bits & reason.bit) != 0) return reason.name;
  return "";
}

std::optional<double> Management::energy_mj() const {
  unsigned long long used = 0;
  if (library_ == nullptr || library_->energy == nullptr || library_->energy(device_, &used) != success) return std::nullopt;
  return static_cast<double>(used);
}

}  // namespace cudal1::cuda
