// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/text.hpp"
#include "kernel/directive_lines.hpp"
#include "kernel/drafter.hpp"
#include "kernel/host_source.hpp"
#include "kernel/macros.hpp"
#include "kernel/needed_definitions.hpp"
#include "kernel/output.hpp"
#include "kernel/signature.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& why) { throw base::Error(base::Fault::bad_task, fmt::format("{}: {}", name, why)); }

void require_text(const std::string& source, const std::string& name) {
  if (base::trim(source).empty()) refuse(name, "the file is empty; expected CUDA source with a __global__ function");
  if (source.find('\0') != std::string::npos) refuse(name, "this is not a text file: it holds a zero byte; expected CUDA source");
}

std::string kernel_list(const std::vector<std::string>& kernels) {
  constexpr std::size_t most = 20;
  const std::vector<std::string> shown(kernels.begin(), kernels.begin() + static_cast<std::ptrdiff_t>(std::min(most, kernels.size())));
  return fmt::format("{}{}", fmt::join(shown, ", "), kernels.size() > most ? ", …" : "");
}

}  // namespace

Draft draft(const std::string& given, const std::string& name, const std::string& kernel) {
  require_text(given, name);
  if (!directive_lines(given).empty()) {
    Draft same;
    same.text = given;
    return same;
  }
  std::vector<std::string> includes;
  std::string source = with_local_includes(given.starts_with("\xef\xbb\xbf") ? given.substr(3) : given, name, includes);
  const std::vector<std::string> definitions = needed_definitions(source);
  for (const std::string& definition : definitions) source = fmt::format("#define {}  // guessed\n{}", definition, source);
  const HostSource host = split_host(source);
  const std::vector<Signature> kernels = signatures(source);
  if (kernels.empty())
    refuse(name, "no `__global__` function was found in it, nor in the files beside it that it includes; give the file that defines the kernel");
  std::vector<std::string> names;
  for (const Signature& signature : kernels) names.push_back(signature.name);
  if (!kernel.empty() && std::none_of(names.begin(), names.end(), [&](const std::string& other) { return other == kernel || other.ends_with("::" + kernel); })) {
    const auto near = base::nearest(kernel, names);
    throw base::Error(base::Fault::usage, fmt::format("--kernel {}: there is no such kernel in {}{}; its kernels are {}", kernel, name,
                                                      near ? fmt::format(" (did you mean {}?)", *near) : "", kernel_list(names)));
  }
  const std::string text = with_macros(source);
  const KernelSource expanded(text);

  std::vector<DraftChoice> choices;
  if (kernel.empty()) {
    std::set<std::size_t> functions;
    for (const HostLaunch& launch : find_launches(host)) {
      const std::string launched = split_kernel_name(launch.kernel).name;
      const bool here = std::any_of(names.begin(), names.end(), [&](const std::string& other) { return other == launched || other.ends_with("::" + launched); });
      if (here && functions.insert(launch.function).second) choices.push_back({launch.function, ""});
    }
    for (const std::string& each : names) choices.push_back({std::nullopt, each});
  } else {
    choices.push_back({std::nullopt, kernel});
  }
  constexpr std::size_t most = 24;  // drafts that are tried
  DraftedFile file(source);
  std::optional<Draft> first;
  for (std::size_t i = 0; i < std::min(choices.size(), most); ++i) {
    Drafter drafter(source, name, host, kernels, expanded, file, choices[i]);
    const bool straight = drafter.straight();
    if (first && !straight) continue;
    Draft one = drafter.run();
    const bool whole = one.complete() && straight;
    if (!first || whole) first = std::move(one);
    if (whole) break;
  }
  Draft result = *std::move(first);
  result.kernels = names;
  for (const std::string& definition : definitions) result.guessed.push_back(fmt::format("#define {}: the code uses macros that are defined only where the build defines it", definition));
  for (const std::string& include : includes) result.remarks.push_back("put in: " + include);
  for (const SetAside& piece : host.set_aside)
    if (piece.what.starts_with("#include \""))
      result.remarks.push_back(fmt::format("{} was not found near the file: what it defines is missing here", piece.what));
  if (kernel.empty() && names.size() > 1) result.remarks.push_back(fmt::format("of {} kernels {} is drafted; another: --kernel NAME, of {}", names.size(), result.kernel, kernel_list(names)));
  return result;
}

}  // namespace cudal1::kernel
