// SPDX-License-Identifier: Apache-2.0
// Kernel files as models write them, at their check sizes: on the simulator with every check, where nothing may be found and the
// outputs must be right, and with --gpu on a GPU too, whose outputs must agree with the simulator's under the verify rule.
//   kernels_on_devices [--gpu] [--arch sm_80] FILE.cu…
#include "base/parallel.hpp"
#include "cuda/cuda.hpp"
#include "compile/compiler.hpp"
#include "sim/sim.hpp"
#include "verify/check.hpp"

#include <cstdio>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

using namespace cudal1;

namespace {

struct Compiled {
  std::optional<task::Task> task;
  outcome::Binary binary;
  std::vector<kernel::Plan> plans;  // one for each check size
  std::string problem;
};

Compiled compiled(const std::string& path, compile::Compiler& compiler, const std::string& arch) {
  Compiled result;
  try {
    result.task = task::load(path);
    std::set<std::string> kernels;
    for (const task::Workload& check : result.task->checks) {
      auto plan = kernel::resolve(result.task->file, check.environment);
      if (!plan) return result.problem = plan.error().message, result;
      for (std::string& kernel : plan->kernels()) kernels.insert(std::move(kernel));
      result.plans.push_back(*std::move(plan));
    }
    compile::Request request;
    request.source = result.task->file.source;
    request.name = result.task->file.name;
    request.kernels.assign(kernels.begin(), kernels.end());
    request.arch = arch;
    auto built = compiler.compile(request);
    if (built) result.binary = std::move(built->binary);
    else result.problem = built.error().message;
  } catch (const std::exception& problem) {
    result.problem = problem.what();
  }
  return result;
}

// What is wrong with a kernel on these devices; empty: nothing. `said` says what it was held against.
std::string complaint(const Compiled& one, device::Device& simulator, device::Device* gpu, std::string& said) {
  if (!one.problem.empty()) return one.problem;
  const task::Task& task = *one.task;
  const auto module = simulator.load(one.binary);
  if (!module) return module.error().message;
  std::unique_ptr<device::Module> on_gpu;
  if (gpu) {
    auto loaded = gpu->load(one.binary);
    if (!loaded) return "GPU: " + loaded.error().message;
    on_gpu = std::move(*loaded);
  }
  base::Random random(3);
  double worst = 0;
  for (std::size_t check = 0; check < task.checks.size(); ++check)
    for (const reference::Trial trial : {reference::Trial{reference::Pattern::declared, 11}, reference::Trial{reference::Pattern::integers, 12}}) {
      verify::CaseOptions options;
      options.assignment = task.workloads.size() + check;
      const kernel::Plan& plan = one.plans[check];
      const auto subject = verify::make_case(simulator, task, task.checks[check], trial, {module->get(), &plan}, random, options);
      if (!subject) return subject.error();
      said = subject->oracle ? "oracle" : "-";
      if (!gpu) continue;
      reference::Buffers buffers(*gpu, plan, random);
      const auto evidence = verify::check(*gpu, task.file, {on_gpu.get(), &plan}, *subject, buffers, false);
      if (evidence.fault) return fmt::format("GPU, {}: {}", subject->label(), evidence.message);
      worst = std::max(worst, evidence.errors.relative_l2);
    }
  if (gpu) said += fmt::format(", GPU {:.1e}", worst);
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "compile") return compile::worker_main();
  bool with_gpu = false;
  std::string arch = "sm_90a";
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--gpu") with_gpu = true;
    else if (option == "--arch" && i + 1 < argc) arch = argv[++i];
    else files.emplace_back(option);
  }
  std::unique_ptr<device::Device> gpu;
  if (with_gpu) {
    const auto present = cuda::inventory();
    if (present.devices.empty()) {
      fmt::print("skipped: {}\n", present.problem);
      return 77;
    }
    gpu = cuda::open(0);
  }
  if (compile::find_nvrtc().library.empty()) {
    fmt::print("skipped: NVRTC is not installed\n");
    return 77;
  }
  compile::CompilerOptions options;
  options.worker = {"/proc/self/exe", {"compile"}};
  options.sandbox = compile::sandbox_state().available;
  compile::Compiler compiler(options);
  std::vector<Compiled> kernels(files.size());
  base::in_parallel(files.size(), [&](std::size_t i) { kernels[i] = compiled(files[i], compiler, arch); });
  auto simulator = sim::open({.gpu = "H200", .threads = 2});
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::string said;
    const std::string problem = complaint(kernels[i], *simulator, gpu.get(), said);
    wrong += !problem.empty();
    fmt::print("{:32} {}\n", files[i].substr(files[i].rfind('/') + 1), problem.empty() ? "right (" + said + ")" : "WRONG: " + problem);
    std::fflush(stdout);
  }
  fmt::print("{} of {} right on {}\n", files.size() - wrong, files.size(), gpu ? "the simulator and the GPU" : "the simulator");
  return wrong != 0;
}
