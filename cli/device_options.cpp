// SPDX-License-Identifier: Apache-2.0
#include "device_options.hpp"

#include "remote_device.hpp"
#include "suggestion.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "cuda/cuda.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::cli {

namespace {

std::optional<std::size_t> gpu_index(const std::string& device) {
  if (device == "cuda") return 0;
  if (!device.starts_with("cuda:")) return std::nullopt;
  std::size_t index = 0;
  const char* end = device.data() + device.size();
  const auto [stop, error] = std::from_chars(device.data() + 5, end, index);
  if (error != std::errc() || stop != end) return std::nullopt;
  return index;
}

DeviceChoice real_gpu(const cuda::Inventory& inventory, std::size_t index) {
  if (!inventory.problem.empty()) throw base::Error(base::Fault::no_device, inventory.problem);
  if (index >= inventory.devices.size())
    throw base::Error(base::Fault::no_device, fmt::format("there is no GPU cuda:{}; `cudal1 devices` lists the {} that "
                                                          "there {}",
                                                          index, inventory.devices.size(),
                                                          inventory.devices.size() == 1 ? "is" : "are"));
  DeviceChoice choice{fmt::format("cuda:{}", index), "", inventory.devices[index], false, ""};
  choice.statement = fmt::format("measuring on {} ({})", choice.facts.name, choice.device);
  return choice;
}

// What a prediction depends on.
std::string digest_of(const outcome::DeviceFacts& facts) {
  const auto numbers = {static_cast<double>(facts.major), static_cast<double>(facts.minor), static_cast<double>(facts.sm_count), facts.clock_hz,
                        static_cast<double>(facts.memory_bytes), facts.memory_bytes_per_second, static_cast<double>(facts.l2_bytes),
                        static_cast<double>(facts.shared_bytes_per_sm), static_cast<double>(facts.shared_bytes_per_block_optin),
                        static_cast<double>(facts.registers_per_sm), static_cast<double>(facts.max_threads_per_sm), static_cast<double>(facts.max_blocks_per_sm),
                        facts.fp32_flops, facts.fp64_flops, facts.fp16_tensor_flops, facts.tf32_tensor_flops};
  return base::sha256(fmt::format("{}", fmt::join(numbers, " "))).substr(0, 8);
}

}  // namespace

void add_device_options(Arguments app, DeviceOptions& options) {
  app.add_option("--device", options.device, "Where kernels run: a GPU, or the simulator")
      ->option_text("auto|cuda:N[,cuda:N…]|sim|ssh:HOST[:cuda:N]")
      ->group("Device");
  app.add_option("--gpu", options.gpu, "The GPU whose times the simulator predicts, from `cudal1 devices` or FILE.toml; `bench` takes several, or all")
      ->option_text("NAME")
      ->group("Device");
}

std::string DeviceChoice::identity() const {
  if (device != "sim") return facts.name;
  return "sim:" + gpu + (own_gpu ? "@" + digest_of(*own_gpu) : "");
}

namespace {

DeviceChoice choose_one(const DeviceOptions& options) {
  if (options.device == "sim") return predicting_for(gpu_record(options.gpu));
  if (const auto index = gpu_index(options.device)) return real_gpu(cuda::inventory(), *index);
  if (options.device != "auto")
    throw base::Error(base::Fault::usage,
                      fmt::format("--device {}: expected auto, cuda:N, sim or ssh:HOST{}", options.device,
                                  did_you_mean(options.device, {"auto", "cuda:0", "sim"})));
  const auto inventory = cuda::inventory();
  if (inventory.problem.empty() && !inventory.devices.empty()) return real_gpu(inventory, 0);
  auto choice = predicting_for(gpu_record(options.gpu));
  choice.fallback = true;
  choice.statement = fmt::format("no GPU is used ({}); simulating instead, and times are predictions for {}",
                                 inventory.problem, choice.gpu);
  return choice;
}

}  // namespace

DeviceChoice predicting_for(const GpuRecord& record) {
  DeviceChoice choice{"sim", record.name, record.facts, false, ""};
  choice.statement = fmt::format("simulating; times are predictions for {}", record.name);
  if (record.own) choice.own_gpu = record.facts;
  return choice;
}

DeviceChoice choose_device(const DeviceOptions& options) {
  if (names_another_machine(options.device)) return remote_device(options);
  std::istringstream names(options.device);
  DeviceOptions one = options;
  if (!std::getline(names, one.device, ',')) one.device = options.device;
  auto choice = choose_one(one);
  while (std::getline(names, one.device, ',')) {
    const auto further = choose_one(one);
    const bool twice = further.device == choice.device ||
                       std::find(choice.others.begin(), choice.others.end(), further.device) != choice.others.end();
    if (twice && !further.facts.simulated)
      throw base::Error(base::Fault::usage, fmt::format("--device {}: {} is named twice", options.device, further.device));
    if (further.facts.name != choice.facts.name || further.facts.simulated != choice.facts.simulated)
      throw base::Error(base::Fault::usage,
                        fmt::format("--device {}: {} is {} and {} is {}; the devices of one run must be alike", options.device,
                                    choice.device, choice.facts.name, further.device, further.facts.name));
    choice.others.push_back(further.device);
  }
  if (!choice.others.empty())
    choice.statement += fmt::format(", with {} beside it", fmt::join(choice.others, ", "));
  return choice;
}

std::vector<DeviceChoice> choose_devices(const DeviceOptions& options, int jobs) {
  const auto named = choose_device(options);
  const auto count = static_cast<std::size_t>(jobs);
  if (jobs == 1) return {named};
  if (!named.host.empty()) throw base::Error(base::Fault::usage, fmt::format("--device {}: over ssh one task is judged at a time", options.device));
  std::vector<std::string> devices = {named.device};
  devices.insert(devices.end(), named.others.begin(), named.others.end());
  if (const auto first = gpu_index(named.device); first && options.device == "auto")
    for (const auto inventory = cuda::inventory(); devices.size() < std::min(count, inventory.devices.size() - *first);) {
      const std::size_t next = *first + devices.size();
      if (inventory.devices[next].name != named.facts.name) break;
      devices.push_back(fmt::format("cuda:{}", next));
    }
  std::vector<DeviceChoice> choices;
  for (std::size_t job = 0; job < count; ++job) {
    DeviceOptions mine = options;
    mine.device = devices[job % devices.size()];
    for (std::size_t next = job + count; next < devices.size(); next += count) mine.device += "," + devices[next];
    choices.push_back(choose_device(mine));
    choices.back().sharers = static_cast<int>((count - job % devices.size() + devices.size() - 1) / devices.size());
  }
  return choices;
}

}  // namespace cudal1::cli
