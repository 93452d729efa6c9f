// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "device_options.hpp"
#include "workbench.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "compile/compiler.hpp"
#include "kernel/file.hpp"
#include "kernel/plan.hpp"
#include "kernel/signature.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

struct CompileOptions {
  std::string file, arch, gpu = "H200", ptx, cubin;
  WorkbenchOptions workbench;
  bool as_json = false;
};

void collect_kernels(const std::vector<kernel::Step>& steps, std::vector<std::string>& kernels) {
  for (const auto& step : steps) {
    if (const auto* launch = std::get_if<kernel::LaunchStep>(&step.step)) {
      if (std::find(kernels.begin(), kernels.end(), launch->kernel) == kernels.end()) kernels.push_back(launch->kernel);
    } else if (const auto* repeat = std::get_if<kernel::RepeatStep>(&step.step)) {
      collect_kernels(repeat->body, kernels);
    }
  }
}

// "sm_80", "compute_80", or the number alone.
std::string architecture(const std::string& given) {
  const auto digits = [](std::string_view text) {
    if (text.size() > 2 && (text.back() == 'a' || text.back() == 'f')) text.remove_suffix(1);
    return text.size() >= 2 && text.size() <= 3 && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (digits(given)) return "sm_" + given;
  for (const std::string_view prefix : {"sm_", "compute_"})
    if (given.starts_with(prefix) && digits(std::string_view(given).substr(prefix.size()))) return given;
  throw base::Error(base::Fault::usage, fmt::format("--arch {}: expected an architecture such as sm_80", given));
}

// A kernel file compiles what its plan launches, at the first values of its tunables; other CUDA source compiles every
// __global__ function that is no template.
compile::Request make_request(const CompileOptions& options) {
  compile::Request request;
  request.source = base::read_file(options.file);
  request.name = options.file;
  request.arch = options.arch.empty() ? gpu_record(options.gpu).facts.arch() : architecture(options.arch);
  if (request.source.find("//@") != std::string::npos) {
    const auto file = kernel::parse(request.source, options.file);
    if (!file) throw base::Error(base::Fault::bad_input, base::render(file.error()));
    collect_kernels(file->plan, request.kernels);
    if (!file->tunables.empty()) {
      const auto members = kernel::family(*file);
      if (!members) throw base::Error(base::Fault::bad_input, base::render(members.error()));
      request.prelude = kernel::tunable_prelude(members->front());
    }
    request.options = file->options;
    for (const auto& folder : file->includes)
      request.include_folders.push_back(std::filesystem::path(options.file).parent_path() / folder);
  } else {
    for (const auto& signature : kernel::signatures(request.source))
      if (signature.template_parameters.empty()) request.kernels.push_back(signature.name);
  }
  if (request.kernels.empty())
    throw base::Error(base::Fault::bad_input,
                      fmt::format("{}: no kernel to compile: no launch directive, and no __global__ function that is not "
                                  "a template",
                                  options.file));
  return request;
}

std::string resource_table(const compile::Compiled& compiled, const outcome::DeviceFacts* device) {
  std::string text = fmt::format("{:<40} {:>9} {:>9} {:>9} {:>9}{}\n", "kernel", "registers", "shared", "local", "spilled",
                                 device != nullptr ? "  occupancy at 256 threads" : "");
  for (const auto& facts : compiled.binary.resources) {
    text += fmt::format("{:<40} {:>9} {:>7} B {:>7} B {:>7} B", facts.kernel, facts.registers, facts.shared_bytes,
                        facts.local_bytes, facts.spill_store_bytes + facts.spill_load_bytes);
    if (device != nullptr) {
      const auto occupancy = outcome::occupancy(*device, facts.registers, facts.shared_bytes, 256);
      text += fmt::format("  {:.0f} %, limited by {}", 100 * occupancy.fraction, occupancy.limited_by);
    }
    text += '\n';
  }
  return text;
}

json diagnostics_json(const base::Diagnostics& diagnostics) {
  static constexpr const char* severities[] = {"error", "warning", "note"};
  json list = json::array();
  for (const auto& diagnostic : diagnostics)
    list.push_back({{"severity", severities[static_cast<std::size_t>(diagnostic.severity)]},
                    {"file", diagnostic.file},
                    {"line", diagnostic.line},
                    {"column", diagnostic.column},
                    {"message", diagnostic.message},
                    {"hint", diagnostic.hint}});
  return list;
}

json compiled_json(const compile::Compiled& compiled) {
  json kernels = json::array();
  for (const auto& facts : compiled.binary.resources)
    kernels.push_back({{"kernel", facts.kernel},
                       {"symbol", compiled.binary.entries.contains(facts.kernel) ? compiled.binary.entries.at(facts.kernel) : ""},
                       {"registers", facts.registers},
                       {"shared_bytes", facts.shared_bytes},
                       {"local_bytes", facts.local_bytes},
                       {"spill_store_bytes", facts.spill_store_bytes},
                       {"spill_load_bytes", facts.spill_load_bytes},
                       {"constant_bytes", facts.constant_bytes}});
  return {{"schema", 1},
          {"compiled", true},
          {"arch", compiled.binary.arch},
          {"from_cache", compiled.from_cache},
          {"seconds", compiled.seconds.count()},
          {"kernels", kernels},
          {"constants", compiled.binary.constants},
          {"diagnostics", diagnostics_json(compiled.warnings)}};
}

ExitCode run_compile(const CompileOptions& options, const Console& console) {
  const auto request = make_request(options);
  compile::Compiler compiler(compiler_options(options.workbench));
  const auto compiled = compiler.compile(request);
  if (!compiled) {
    const auto& rejection = compiled.error();
    if (options.as_json) {
      console.result(json{{"schema", 1}, {"compiled", false}, {"message", rejection.message},
                          {"diagnostics", diagnostics_json(rejection.diagnostics)}}
                         .dump(2, ' ', false, json::error_handler_t::replace) +
                     "\n");
      console.warn(base::render(rejection.diagnostics) + rejection.message);
      return ExitCode::bad_input;
    }
    throw base::Error(base::Fault::bad_input, base::render(rejection.diagnostics) + rejection.message);
  }
  const auto& binary = compiled->binary;
  const auto record = options.arch.empty() ? std::optional(gpu_record(options.gpu)) : std::nullopt;
  if (!options.cubin.empty()) base::write_file(options.cubin, binary.cubin);
  if (options.ptx == "-") {
    console.result(binary.ptx);
    return ExitCode::success;
  }
  if (!options.ptx.empty()) base::write_file(options.ptx, binary.ptx);
  if (!compiled->warnings.empty()) console.warn(base::render(compiled->warnings));
  console.result(options.as_json ? compiled_json(*compiled).dump(2) + "\n"
                                 : resource_table(*compiled, record ? &record->facts : nullptr));
  return ExitCode::success;
}

}  // namespace

void add_compile(CommandLine& line) {
  auto options = std::make_shared<CompileOptions>();
  Arguments app = line.add("compile", "Compile with NVRTC: messages, PTX and resource use", manual_group,
                           [options, &line] { return run_compile(*options, line.console); });
  app.add_option("FILE", options->file, "A kernel file or other device code")->required();
  app.add_option("--gpu", options->gpu, "The GPU to compile for; see `cudal1 devices`")->option_text("NAME");
  app.add_option("--arch", options->arch, "An architecture, such as sm_80, instead of a GPU")->option_text("ARCH");
  app.add_option("--ptx", options->ptx, "Write the PTX here; - is standard output")->option_text("FILE");
  app.add_option("--cubin", options->cubin, "Write the cubin here")->option_text("FILE");
  app.add_flag("--json", options->as_json, "Print one JSON object");
  add_compile_options(app, options->workbench);
}

}  // namespace cudal1::cli
