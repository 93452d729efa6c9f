// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "gpu_records.hpp"

#include "cuda/cuda.hpp"
#include "sim/sim.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

struct DevicesOptions {
  bool verbose = false, as_json = false;
};

constexpr double gibi = 1024.0 * 1024.0 * 1024.0;

std::string rate(double per_second, double unit, const char* name) {
  return per_second > 0 ? fmt::format("{:.3g} {}", per_second / unit, name) : "?";
}

std::string row(const std::string& id, const outcome::DeviceFacts& facts) {
  return fmt::format("{:<10} {:<28} {:>5} {:>5} SMs {:>9} {:>10} {:>14}\n", id, facts.name,
                     fmt::format("{}.{}", facts.major, facts.minor), facts.sm_count,
                     fmt::format("{:.0f} GiB", static_cast<double>(facts.memory_bytes) / gibi),
                     rate(facts.memory_bytes_per_second, 1e12, "TB/s"), rate(facts.fp32_flops, 1e12, "TFLOP/s"));
}

std::string record(const outcome::DeviceFacts& facts) {
  const auto kib = [](std::size_t bytes) { return fmt::format("{} KiB", bytes / 1024); };
  return fmt::format(
      "           {}, clock {:.0f} MHz, L2 {:.0f} MiB, shared memory {} per SM and {} per block, {} registers, {} threads "
      "and {} blocks per SM\n"
      "           fp64 {}, fp16 tensor {}, tf32 tensor {}\n",
      facts.arch(), facts.clock_hz / 1e6, static_cast<double>(facts.l2_bytes) / (1024 * 1024),
      kib(facts.shared_bytes_per_sm), kib(facts.shared_bytes_per_block_optin), facts.registers_per_sm,
      facts.max_threads_per_sm, facts.max_blocks_per_sm, rate(facts.fp64_flops, 1e12, "TFLOP/s"),
      rate(facts.fp16_tensor_flops, 1e12, "TFLOP/s"), rate(facts.tf32_tensor_flops, 1e12, "TFLOP/s"));
}

json facts_json(const std::string& id, const outcome::DeviceFacts& facts) {
  return {{"id", id},
          {"name", facts.name},
          {"uuid", facts.uuid},
          {"driver", facts.driver},
          {"arch", facts.arch()},
          {"sm_count", facts.sm_count},
          {"clock_hz", facts.clock_hz},
          {"memory_bytes", facts.memory_bytes},
          {"memory_bytes_per_second", facts.memory_bytes_per_second},
          {"l2_bytes", facts.l2_bytes},
          {"shared_bytes_per_sm", facts.shared_bytes_per_sm},
          {"shared_bytes_per_block", facts.shared_bytes_per_block_optin},
          {"registers_per_sm", facts.registers_per_sm},
          {"max_threads_per_sm", facts.max_threads_per_sm},
          {"max_blocks_per_sm", facts.max_blocks_per_sm},
          {"fp32_flops_per_second", facts.fp32_flops},
          {"fp64_flops_per_second", facts.fp64_flops},
          {"fp16_tensor_flops_per_second", facts.fp16_tensor_flops},
          {"tf32_tensor_flops_per_second", facts.tf32_tensor_flops}};
}

std::string as_json(const cuda::Inventory& inventory, bool verbose) {
  json object = {{"schema", 1}, {"driver", inventory.driver}, {"problem", inventory.problem}};
  object["gpus"] = json::array();
  for (std::size_t i = 0; i < inventory.devices.size(); ++i)
    object["gpus"].push_back(facts_json(fmt::format("cuda:{}", i), inventory.devices[i]));
  object["simulated"] = json::array();
  for (const auto& record : gpu_records()) {
    json one = facts_json(record.name, record.facts);
    one["fitted"] = sim::fitted(record.facts);
    one["compared"] = sim::compared(record.facts);
    one["own"] = record.own;
    if (record.own) one["source"] = record.source;
    object["simulated"].push_back(std::move(one));
  }
  if (verbose) object["sim_instructions"] = sim::instructions();
  return object.dump(2) + "\n";
}

std::string as_text(const cuda::Inventory& inventory, bool verbose) {
  std::string text = "GPUs that can be measured here (--device cuda:N):\n";
  if (!inventory.problem.empty()) text += fmt::format("  none: {}\n", inventory.problem);
  for (std::size_t i = 0; i < inventory.devices.size(); ++i) {
    text += row(fmt::format("cuda:{}", i), inventory.devices[i]);
    if (verbose) text += record(inventory.devices[i]);
  }
  text += "\nGPUs that the simulator predicts for (--device sim --gpu NAME):\n";
  for (const auto& one : gpu_records()) {
    text += row(one.name, one.facts);
    if (!verbose) continue;
    text += record(one.facts);
    text += fmt::format("           {}{}\n", sim::fitted(one.facts)     ? "times were measured on it, and the model of time fitted to them"
                        : sim::compared(one.facts) ? "times were measured on it; the model of time was fitted to others and held"
                                                   : "no time was measured on it: intervals are wider",
                        one.own ? fmt::format("; a record of {}{}", own_gpus_file().string(), one.source.empty() ? "" : ": " + one.source) : "");
  }
  text += fmt::format("Others go into {}: man cudal1.toml\n", own_gpus_file().string());
  if (!verbose) return text;
  const auto instructions = sim::instructions();
  text += fmt::format("\nThe {} PTX instructions that the simulator knows:\n", instructions.size());
  std::string line = " ";
  for (const auto& instruction : instructions) {
    if (line.size() + instruction.size() + 1 > 100) {
      text += line + '\n';
      line = " ";
    }
    line += " " + instruction;
  }
  return text + line + '\n';
}

ExitCode run_devices(const DevicesOptions& options, const Console& console) {
  const auto inventory = cuda::inventory();
  console.result(options.as_json ? as_json(inventory, options.verbose) : as_text(inventory, options.verbose));
  return ExitCode::success;
}

}  // namespace

void add_devices(CommandLine& line) {
  auto options = std::make_shared<DevicesOptions>();
  Arguments app = line.add("devices", "List the GPUs of this machine, and those that the simulator predicts", surroundings_group,
                           [options, &line] { return run_devices(*options, line.console); });
  app.add_flag("--verbose", options->verbose, "Also print each GPU's record and the PTX instructions that the simulator knows");
  app.add_flag("--json", options->as_json, "Print one JSON object");
}

}  // namespace cudal1::cli
