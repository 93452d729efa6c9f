// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments.hpp"
#include "console.hpp"
#include "gpu_records.hpp"

#include "outcome/device_facts.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudal1::cli {

// Where kernels run.
struct DeviceOptions {
  std::string device = "auto";  // auto, cuda, cuda:N, sim, ssh:HOST…; several with commas
  std::string gpu = "H200";     // sim: the GPU whose times are predicted
};
void add_device_options(Arguments app, DeviceOptions& options);

// The device that the options mean on this machine.
struct DeviceChoice {
  std::string device;            // "cuda:0" or "sim", on `host`
  std::string gpu;
  outcome::DeviceFacts facts;
  bool fallback = false;         // the simulator stands in because `auto` found no GPU
  std::string statement;         // one line: what is used, and why
  std::vector<std::string> others{};  // further devices that serve the same run: "cuda:1"
  int sharers = 1;               // tasks at a time on this device
  bool alone = false;            // this one has it to itself: its memory did not do for several
  std::string host{};            // another machine, that ssh reaches; empty: this one
  std::optional<outcome::DeviceFacts> own_gpu{};  // of a record that is the user's: `facts` again

  bool shared() const { return sharers > 1 && !alone && !facts.simulated; }

  // "sim:H200", "NVIDIA H200": a run may go on on another GPU of the same name. Behind a record of the user's stands its digest.
  std::string identity() const;
};

DeviceChoice predicting_for(const GpuRecord& record);

// Throws base::Error: no_device for a GPU that is not there (saying why), usage for an unknown name and for several
// devices that are not alike.
DeviceChoice choose_device(const DeviceOptions& options);

// A choice for each of `jobs` tasks at a time. The named devices are dealt out, with `auto` all GPUs that are like the first;
// where there are fewer, tasks share them. Throws as choose_device does.
std::vector<DeviceChoice> choose_devices(const DeviceOptions& options, int jobs);

}  // namespace cudal1::cli
