// SPDX-License-Identifier: Apache-2.0
#include "torch_line.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "sim/sim.hpp"

#include <set>

#include <fmt/format.h>

namespace cudal1::variants {

namespace {

compile::CompilerOptions compiler_options() {
  compile::CompilerOptions options;
  options.worker = {"/proc/self/exe", {"compile"}};
  options.sandbox = compile::sandbox_state().available;
  options.limits.time = base::Seconds(600);  // a busy machine is no fault of a kernel
  return options;
}

}  // namespace

std::vector<TaskText> task_texts(const std::string& path, const std::string& naive) {
  std::vector<TaskText> texts;
  std::string head, code;
  const auto close = [&] {
    if (!texts.empty()) texts.back().source = head + naive + code;
    head.clear();
    code.clear();
  };
  for (const std::string& text : base::split_lines(base::read_file(path))) {
    if (text.starts_with("//@ task ")) {
      close();
      texts.push_back({std::string(base::trim(text.substr(9))), ""});
    }
    (text.starts_with("//@") ? head : code) += text + "\n";
  }
  close();
  return texts;
}

Builder::Builder() : compiler_(compiler_options()) {}

tl::expected<Program, std::string> Builder::build(const task::Task& task, const kernel::File& file, const kernel::Environment& tunables) {
  Program program;
  std::set<std::string> kernels;
  for (const task::Workload& check : task.checks) {
    kernel::Environment environment = check.environment;
    environment.insert(tunables.begin(), tunables.end());
    auto plan = kernel::resolve(file, environment);
    if (!plan) return tl::unexpected(plan.error().message);
    for (std::string& kernel : plan->kernels()) kernels.insert(std::move(kernel));
    program.plans.push_back(*std::move(plan));
  }
  compile::Request request;
  request.source = file.source;
  request.name = "answer.cu";
  request.prelude = kernel::tunable_prelude(tunables);
  request.kernels.assign(kernels.begin(), kernels.end());
  request.arch = "sm_90";
  request.options = task.file.options;
  request.cubin = false;  // the simulator reads PTX
  auto compiled = compiler_.compile(request);
  if (!compiled) return tl::unexpected(compiled.error().message);
  program.binary = std::move(compiled->binary);
  return program;
}

const std::vector<verify::Case>& TorchLine::cases(outcome::Precision precision, Builder& builder) {
  const std::lock_guard lock(mutex_);
  std::vector<verify::Case>& cases = cases_[precision];
  if (cases.empty()) cases = made_cases(precision, builder);
  return cases;
}

std::vector<verify::Case> TorchLine::made_cases(outcome::Precision precision, Builder& builder) const {
  const auto refuse = [](const std::string& why) { throw base::Error(base::Fault::bad_input, "the line's own kernel: " + why); };
  const auto program = builder.build(task_, task_.file, {});
  if (!program) refuse(program.error());
  const auto simulator = sim::open({.gpu = "H200", .threads = 1});
  const auto module = simulator->load(program->binary);
  if (!module) refuse(module.error().message);
  base::Random random(3);
  std::vector<verify::Case> cases;
  for (std::size_t i = 0; i < task_.checks.size(); ++i) {
    verify::CaseOptions options;
    options.assignment = task_.workloads.size() + i;
    options.precision = precision;
    auto subject = verify::make_case(*simulator, task_, task_.checks[i], {reference::Pattern::declared, 11},
                                     {module->get(), &program->plans[i]}, random, options);
    if (!subject) refuse(subject.error());
    if (!subject->oracle) refuse("there is no oracle");
    cases.push_back(*std::move(subject));
  }
  return cases;
}

}  // namespace cudal1::variants
