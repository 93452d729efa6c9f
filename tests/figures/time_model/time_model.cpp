// SPDX-License-Identifier: Apache-2.0
// The pairs behind the simulator's model of time, and the model's own error:
//   time_model check   [FAMILY…]          every member on the simulator with all checks, at small sizes
//   time_model measure FILE [FAMILY…]     times on a GPU, appended to FILE
//   time_model count FILE [FAMILY…]       what the model knows of each member, without a GPU
//   time_model fit PROFILES TIMES         the error with the tested family left out; the constants fitted to all
//   time_model compare PROFILES TIMES     the error with the constants as they stand in the sources
//   time_model unfitted PROFILES TIMES    the error with documented round numbers: what to expect of a GPU that nothing was fitted to
// Families are the kernel files of kernels/, or of the folder that TIME_MODEL_KERNELS names; counts and predictions are for the GPU that TIME_MODEL_GPU
// names, an H200 unless it does.
#include "fit.hpp"
#include "members.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/random.hpp"
#include "cuda/cuda.hpp"
#include "reference/buffers.hpp"
#include "reference/truth.hpp"
#include "sim/sim.hpp"
#include "sim/sim_device.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ostream.h>

namespace cudal1::time_model {

namespace {

std::filesystem::path data_folder;  // of the kernel files
std::string gpu_name = "H200";      // that predictions are for

using reference::Buffers;

// The outputs one after another, decoded.
std::vector<double> outputs(const kernel::Plan& plan, const Buffers& buffers) {
  std::vector<double> all;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].role != kernel::PlanBuffer::Role::output) continue;
    const auto values = reference::decode(plan.buffers[i].dtype, buffers.read(i));
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

// Largest difference, relative to the first member's root mean square.
double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double squares = 0, most = 0;
  for (const double v : a) squares += v * v;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::isfinite(b[i]) ? std::max(most, std::abs(a[i] - b[i])) : INFINITY;
  return most / std::sqrt(squares / static_cast<double>(a.size()));
}

int check(const std::vector<std::string>& only) {
  int faults = 0;
  auto device = sim::open({});
  base::Random random(1);
  for (const Family& family : families(data_folder, only)) {
    std::vector<double> first;
    const auto inputs = reference::inputs(family.task, family.task.checks.front(), {reference::Pattern::declared, 1});
    for (const Member& member : family.members) {
      auto module = device->load(member.binary);
      if (!module) {
        fmt::print("{} {}: {}\n", family.name, member.label, module.error().message), ++faults;
        continue;
      }
      Buffers buffers(*device, member.check, random);
      buffers.load(inputs);
      buffers.poison(Buffers::Fill::nan);
      const device::RunResult result = device->run(buffers.bind(**module), {});
      const auto values = outputs(member.check, buffers);
      if (first.empty()) first = values;
      const double apart = difference(first, values);
      if (result.status != device::RunResult::Status::ok || !std::isfinite(apart)) ++faults;
      fmt::print("{:18} {:28} {} regs {} shared  differs {:.1e}  {}{}\n", family.name, member.label, member.binary.resources.front().registers,
                 member.binary.resources.front().shared_bytes, apart, result.message,
                 result.findings.empty() ? "" : fmt::format(" line {}", result.findings.front().line));
    }
  }
  return faults ? 1 : 0;
}

// All members of a family take turns, each on a cold L2.
int measure(const std::string& path, const std::vector<std::string>& only) {
  constexpr std::size_t rounds = 20;
  std::ofstream file(path, std::ios::app);
  auto device = cuda::open(0);
  base::Random random(base::secret_seed());
  for (const Family& family : families(data_folder, only)) {
    const auto inputs = reference::inputs(family.task, family.task.workloads.front(), {reference::Pattern::declared, 1});
    std::vector<std::unique_ptr<Buffers>> sets;
    for (int s = 0; s < 3; ++s) {
      sets.push_back(std::make_unique<Buffers>(*device, family.members.front().plan, random));
      sets.back()->load(inputs);
    }
    device::TimingRequest request;
    std::vector<std::unique_ptr<device::Module>> modules;
    std::vector<std::vector<std::unique_ptr<Buffers>>> bound(family.members.size());
    for (std::size_t m = 0; m < family.members.size(); ++m) {
      auto module = device->load(family.members[m].binary);
      if (!module) throw base::Error(base::Fault::bad_input, module.error().message);
      modules.push_back(*std::move(module));
      device::Arm arm;
      for (const auto& set : sets) {
        bound[m].push_back(std::make_unique<Buffers>(*device, family.members[m].plan, random, *set));
        arm.sets.push_back(bound[m].back()->bind(*modules.back()));
      }
      request.arms.push_back(std::move(arm));
    }
    for (std::size_t r = 0; r < rounds; ++r) {
      std::vector<std::size_t> order(family.members.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
      request.order.insert(request.order.end(), order.begin(), order.end());
    }
    request.seed = random.next();
    request.prepare = [&](std::size_t arm, std::size_t set) { bound[arm][set]->poison(Buffers::Fill::nan); };
    const auto samples = device->time(request);
    for (std::size_t m = 0; m < family.members.size(); ++m) {
      std::vector<double> us;
      for (const device::Sample& sample : *samples)
        if (sample.arm == m) us.push_back(1e3 * sample.ms);
      std::sort(us.begin(), us.end());
      // The 6th and 15th of 20 hold the median with 96 %.
      fmt::print(file, "{}\t{}\t{:.3f}\t{:.3f}\t{:.3f}\n", family.name, family.members[m].label, 0.5 * (us[rounds / 2 - 1] + us[rounds / 2]), us[5],
                 us[14]);
    }
    file.flush();
    fmt::print("{} {}\n", family.name, family.members.size());
    std::fflush(stdout);
  }
  return 0;
}

int count(const std::string& path, const std::vector<std::string>& only) {
  std::ofstream file(path);
  file << profile_header();
  sim::SimDevice device({gpu_name});
  base::Random random(1);
  for (const Family& family : families(data_folder, only)) {
    const auto inputs = reference::inputs(family.task, family.task.workloads.front(), {reference::Pattern::declared, 1});
    Buffers buffers(device, family.members.front().plan, random);
    buffers.load(inputs);
    for (const Member& member : family.members) {
      auto module = device.load(member.binary);
      if (!module) throw base::Error(base::Fault::bad_input, module.error().message);
      const Buffers bound(device, member.plan, random, buffers);
      const base::Seconds begin = base::now();
      const auto parts = device.profile(bound.bind(**module));
      const double seconds = (base::now() - begin).count();
      if (!parts) throw base::Error(base::Fault::bad_input, parts.error().message);
      double other = 0, predicted = 0;
      for (const sim::PlanPart& part : *parts) other += part.seconds;
      std::string limit;
      for (const sim::PlanPart& part : *parts) {
        if (!part.launch) continue;
        file << profile_line(family.name, member.label, *part.launch, other);
        const auto one = sim::predict(*part.launch, device.facts());
        predicted += one.seconds, limit = one.limited_by;
      }
      fmt::print("{:18} {:28} {:9.1f} us  {}  ({:.2f} s)\n", family.name, member.label, 1e6 * (predicted + other), limit, seconds);
      std::fflush(stdout);
    }
  }
  return 0;
}

// Median of the absolute values, and the one that nine of ten stay below.
std::pair<double, double> spread(std::vector<double> errors) {
  for (double& error : errors) error = std::abs(error);
  std::sort(errors.begin(), errors.end());
  return {errors[errors.size() / 2], errors[errors.size() * 9 / 10]};
}

std::vector<std::string> family_names(const std::vector<Pair>& pairs) {
  std::vector<std::string> names;
  for (const Pair& pair : pairs)
    if (names.empty() || names.back() != pair.family) names.push_back(pair.family);
  return names;
}

// The table of a predictor's error, family by family, beside sectors moved and instructions run as predictors; and the points
// of the scatter plot.
void report(const std::vector<Pair>& pairs, const std::vector<std::vector<double>>& times, const std::string& points_path) {
  const auto names = family_names(pairs);
  std::ofstream points(points_path);
  fmt::print("| family | kernels | pairs | model | bytes | instructions | its pick is slower by | bytes | instructions | error |\n");
  fmt::print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  std::array<Ranking, 3> all;
  std::array<std::size_t, 3> good{};
  std::vector<double> ratio_errors, time_errors;
  for (std::size_t f = 0; f < names.size(); ++f) {
    std::vector<double> measured, bytes, instructions;
    for (const Pair& pair : pairs) {
      if (pair.family != names[f]) continue;
      fmt::print(points, "{}\t{}\t{:.6g}\t{:.6g}\n", pair.family, pair.member, pair.measured, times[f][measured.size()]);
      measured.push_back(pair.measured);
      double sectors = 0, warp_instructions = 0;
      for (const auto& launch : pair.launches) {
        sectors += launch.counters.global_load_sectors + launch.counters.global_store_sectors + launch.counters.local_sectors;
        warp_instructions += launch.counters.warp_instructions;
      }
      bytes.push_back(sectors), instructions.push_back(warp_instructions);
    }
    const std::array<Ranking, 3> ranks{rank(measured, times[f]), rank(measured, bytes), rank(measured, instructions)};
    std::vector<double> here;
    for (std::size_t i = 0; i < measured.size(); ++i) {
      time_errors.push_back(std::log(times[f][i] / measured[i]));
      for (std::size_t j = 0; j < i; ++j) here.push_back(std::log(times[f][i] / measured[i]) - std::log(times[f][j] / measured[j]));
    }
    ratio_errors.insert(ratio_errors.end(), here.begin(), here.end());
    for (std::size_t r = 0; r < 3; ++r) all[r].pairs += ranks[r].pairs, all[r].ordered += ranks[r].ordered, good[r] += ranks[r].picked <= 1.1;
    const auto share = [](const Ranking& one) {
      return one.pairs ? fmt::format("{:.0f} %", 100.0 * static_cast<double>(one.ordered) / static_cast<double>(one.pairs)) : std::string("-");
    };
    fmt::print("| {} | {} | {} | {} | {} | {} | {:.2f}x | {:.2f}x | {:.2f}x | {:.2f} |\n", names[f], measured.size(), ranks[0].pairs, share(ranks[0]),
               share(ranks[1]), share(ranks[2]), ranks[0].picked, ranks[1].picked, ranks[2].picked, spread(here).first);
  }
  for (std::size_t r = 0; r < 3; ++r)
    fmt::print("{}: order right in {:.1f} % of {} pairs; pick within 10 % of the best in {} of {} families\n",
               std::array{"model", "bytes only", "instructions only"}[r], 100.0 * static_cast<double>(all[r].ordered) / static_cast<double>(all[r].pairs),
               all[r].pairs, good[r], names.size());
  // The interval of a prediction is meant for nine of ten: that of a ratio has two of them in it.
  const double half_width = std::hypot(1, 1) * (sim::compared(sim::gpu(gpu_name)) ? sim::compared_log_error : sim::uncompared_log_error);
  const auto inside = std::count_if(ratio_errors.begin(), ratio_errors.end(), [&](double error) { return std::abs(error) <= half_width; });
  fmt::print("intervals of ratios, a factor of exp({:.2f}), hold {:.1f} % of {} measured ones\n", half_width, 100.0 * static_cast<double>(inside) / static_cast<double>(ratio_errors.size()), ratio_errors.size());
  const auto [middle, most] = spread(ratio_errors);
  fmt::print("error of log ratios within a family: median {:.3f}, nine of ten below {:.3f}; of log times: {:.3f}, {:.3f}\n", middle, most,
             spread(time_errors).first, spread(time_errors).second);
}

// `fit`: each family's times with constants fitted without it. `compare`: with the constants in the sources. `unfitted`: with those
// from which the fit begins.
int held_against(const std::string& how, const std::string& profiles, const std::string& times) {
  const bool fitting = how == "fit";
  const std::vector<Pair> pairs = read_pairs(profiles, times);
  const outcome::DeviceFacts& gpu = sim::gpu(gpu_name);
  const auto names = family_names(pairs);
  std::vector<std::vector<double>> guessed(names.size());
  base::in_parallel(names.size(), [&](std::size_t f) {
    const sim::TimeConstants constants = fitting ? fit(pairs, gpu, names[f]) : how == "unfitted" ? documented_constants() : sim::fitted_constants();
    for (const Pair& pair : pairs)
      if (pair.family == names[f]) guessed[f].push_back(predicted(pair, gpu, constants));
  });
  report(pairs, guessed, profiles + ".points");
  if (!fitting) return 0;
  const sim::TimeConstants constants = fit(pairs, gpu, "");
  for (const auto& field : sim::time_constant_fields()) fmt::print("      .{} = {:.3g},\n", field.name, constants.*field.member);
  return 0;
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 1 && words[0] == "worker") return compile::worker_main();
  const auto rest = [&](std::size_t from) { return std::vector<std::string>(words.begin() + static_cast<std::ptrdiff_t>(from), words.end()); };
  if (!words.empty() && words[0] == "check") return check(rest(1));
  if (words.size() >= 2 && words[0] == "measure") return measure(words[1], rest(2));
  if (words.size() >= 2 && words[0] == "count") return count(words[1], rest(2));
  if (words.size() == 3 && (words[0] == "fit" || words[0] == "compare" || words[0] == "unfitted")) return held_against(words[0], words[1], words[2]);
  throw base::Error(base::Fault::usage, "say check, measure, count, fit, compare or unfitted; the head of time_model.cpp has the forms");
}

}  // namespace
}  // namespace cudal1::time_model

int main(int argc, char** argv) {
  try {
    const char* folder = std::getenv("TIME_MODEL_KERNELS");
    if (const char* gpu = std::getenv("TIME_MODEL_GPU")) cudal1::time_model::gpu_name = gpu;
    cudal1::time_model::data_folder = folder ? folder : CUDAL1_TIME_MODEL "/kernels";
    return cudal1::time_model::run({argv + 1, argv + argc});
  } catch (const cudal1::base::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
