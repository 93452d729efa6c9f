// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cudal1::cuda {

// What NVML, opened at run time, says about a GPU that this program did not do. Absent on machines without it.
class Management {
 public:
  // `uuid` as in DeviceFacts. Where the library is absent or does not know the GPU, problem() says so.
  explicit Management(const std::string& uuid);

  const std::string& problem() const { return problem_; }

  // Processes that compute on the GPU, as "process 4711, 512 MiB". Ask before this program uses it.
  std::vector<std::string> tenants() const;
  double utilisation() const;                    // share of the last moment in which a kernel ran; 0 unknown
  // Why clocks are held down now: "the power limit", "heat", …; empty when they are not.
  std::string throttle_reason() const;
  // What the GPU has used since the driver was loaded, in millijoules; empty where it has no meter.
  std::optional<double> energy_mj() const;

 private:
  struct Library;
  const Library* library_ = nullptr;
  void* device_ = nullptr;
  std::string problem_;
};

}  // namespace cudal1::cuda
