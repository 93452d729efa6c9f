// SPDX-License-Identifier: Apache-2.0
// A libnvidia-ml.so.1 with one GPU, "GPU-fake", on which FAKE_NVML=busy says that somebody else computes and that the
// power limit holds the clocks down.
#include <cstdlib>
#include <cstring>

namespace {

bool busy() {
  const char* state = std::getenv("FAKE_NVML");
  return state != nullptr && std::strcmp(state, "busy") == 0;
}

struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};
struct Utilisation {
  unsigned gpu, memory;
};

}  // namespace

extern "C" {

int nvmlInit_v2() { return 0; }

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  *device = nullptr;
  return std::strcmp(uuid, "GPU-fake") == 0 ? 0 : 6;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, ProcessInfo* list) {
  *count = busy() ? 2 : 0;
  if (busy()) {
    list[0] = {4711, 512ULL << 20, 0, 0};
    list[1] = {4712, ~0ULL, 0, 0};
  }
  return 0;
}

int nvmlDeviceGetUtilizationRates(void*, Utilisation* rates) {
  *rates = {busy() ? 37U : 0U, 0};
  return 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = busy() ? 0x4 : 0x1;
  return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* used) {
  *used = 123456;
  return busy() ? 0 : 3;   // not supported
}

}
