// SPDX-License-Identifier: Apache-2.0
#include "remote_device.hpp"

#include "base/error.hpp"
#include "cuda/cuda.hpp"
#include "kernel/checker.hpp"
#include "remote/ssh.hpp"
#include "store/device_text.hpp"
#include "task/module.hpp"

#include <charconv>
#include <cstdio>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view prefix = "ssh:";

// What stands behind "ssh:": the machine, and which device there; empty: its first GPU.
struct Name {
  std::string host;
  std::optional<std::size_t> gpu;   // empty: the simulator
};

Name parsed(const std::string& device) {
  std::string rest = device.substr(prefix.size());
  const auto cut = [&](std::string_view end) {
    if (!rest.ends_with(end)) return false;
    rest.resize(rest.size() - end.size());
    return true;
  };
  if (cut(":sim")) return {rest, std::nullopt};
  if (cut(":cuda")) return {rest, 0};
  if (const auto at = rest.rfind(":cuda:"); at != std::string::npos) {
    std::size_t index = 0;
    const char* end = rest.data() + rest.size();
    const auto [stop, error] = std::from_chars(rest.data() + at + 6, end, index);
    if (error == std::errc() && stop == end) return {rest.substr(0, at), index};
  }
  return {rest, 0};
}

}  // namespace

bool names_another_machine(const std::string& device) { return device.starts_with(prefix); }

DeviceChoice remote_device(const DeviceOptions& options) {
  if (options.device.find(',') != std::string::npos) throw base::Error(base::Fault::usage, fmt::format("--device {}: over ssh a run has one device", options.device));
  const Name name = parsed(options.device);
  const remote::Host host(name.host);
  const json found = json::parse(host.ask({"worker", "inventory"}), nullptr, false);
  if (found.is_discarded() || !found.is_object()) throw base::Error(base::Fault::no_device, fmt::format("{}: what came over ssh is not this program's; does its shell print something at the start?", host.name()));
  if (!name.gpu) {
    auto choice = predicting_for(gpu_record(options.gpu));
    choice.host = host.name();
    choice.statement = fmt::format("simulating on {}; times are predictions for {}", host.name(), choice.gpu);
    return choice;
  }
  const json& gpus = found.at("gpus");
  if (*name.gpu >= gpus.size()) {
    const auto problem = found.at("problem").get<std::string>();
    throw base::Error(base::Fault::no_device, problem.empty() ? fmt::format("{} has no GPU cuda:{}; it has {}", host.name(), *name.gpu, gpus.size()) : fmt::format("{}: {}", host.name(), problem));
  }
  DeviceChoice choice{fmt::format("cuda:{}", *name.gpu), "", store::device_from_text(gpus.at(*name.gpu).get<std::string>()), false, ""};
  choice.host = host.name();
  choice.statement = fmt::format("measuring on {} ({} of {})", choice.facts.name, choice.device, host.name());
  return choice;
}

void require_portable(const task::Task& task, const DeviceChoice& choice) {
  if (choice.host.empty()) return;
  const auto refuse = [&](const std::string& what) {
    throw base::Error(base::Fault::bad_task, fmt::format("{}: {} cannot be had over ssh; run cudal1 on {} itself", task.file.name, what, choice.host));
  };
  if (task::is_module(task)) refuse("the PyTorch that a module needs beside the GPU");
  if (kernel::checker(task.file)) refuse("the task's own checker");
  for (const kernel::Buffer& buffer : task.file.buffers)
    if (buffer.distribution && buffer.distribution->kind == tensor::Distribution::Kind::file) refuse(fmt::format("the file that {} is read from", buffer.name));
}

void require_here(const DeviceChoice& choice) {
  if (!choice.host.empty()) throw base::Error(base::Fault::usage, fmt::format("a program is recorded where it runs: run cudal1 on {} itself", choice.host));
}

int print_inventory() {
  const auto inventory = cuda::inventory();
  json gpus = json::array();
  for (const auto& facts : inventory.devices) gpus.push_back(store::device_text(facts));
  std::fputs((json{{"problem", inventory.problem}, {"gpus", gpus}}.dump(-1, ' ', false, json::error_handler_t::replace) + "\n").c_str(), stdout);
  return 0;
}

}  // namespace cudal1::cli
