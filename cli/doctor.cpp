// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "settings.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "compile/compiler.hpp"
#include "cuda/cuda.hpp"
#include "pytorch/host.hpp"
#include "sandbox/launch.hpp"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

struct DoctorOptions {
  bool as_json = false;
};

// One thing that the tool can use.
struct Finding {
  enum class State { there, missing, broken };
  std::string what;
  State state = State::there;
  bool needed = false;                // without it no variant can be judged
  std::string detail;                 // what was found, or why not
  std::string remedy;                 // how to get it; empty when it is there
  std::vector<std::string> searched;  // places
};
constexpr const char* state_names[] = {"ok", "missing", "broken"};
using enum Finding::State;

Finding nvrtc() {
  const auto found = compile::find_nvrtc();
  if (!found.library.empty())
    return {"NVRTC", there, true, fmt::format("{}.{} {}", found.major, found.minor, found.library.string()), "", {}};
  return {"NVRTC", missing, true, "not found",
          "install the CUDA Toolkit (12.0 or newer) from https://developer.nvidia.com/cuda-downloads, or `pip install "
          "nvidia-cuda-nvrtc`; set CUDA_PATH if it lies in an unusual place",
          found.searched};
}

Finding sandbox() {
  const auto state = compile::sandbox_state();
  return {"sandbox", state.available ? there : missing, true, state.description,
          state.available ? "" : "use a kernel with Landlock (5.13 or newer), or agree with --no-sandbox", {}};
}

// Of somebody's published answers, which run as ordinary programs.
Finding confinement() {
  const auto found = sandbox::confinement();
  if (!found.failed.empty())
    return {"confinement", missing, false, found.failed, "published answers run with --no-sandbox only: use a kernel with Landlock (5.13 or newer)", {}};
  return {"confinement", there, false, found.means, found.lacking.empty() ? "" : "published answers are confined without " + found.lacking, {}};
}

Finding gpus() {
  const auto inventory = cuda::inventory();
  if (!inventory.problem.empty())
    return {"GPU", missing, false, inventory.problem,
            "not needed: the simulator predicts times; on a machine with an NVIDIA GPU install its driver", {}};
  std::string names;
  for (const auto& device : inventory.devices) names += (names.empty() ? "" : ", ") + device.name;
  return {"GPU", there, false, fmt::format("{}; driver {}", names, inventory.driver), "", {}};
}

Finding sanitizer() {
  std::vector<fs::path> places;
  if (const char* cuda = std::getenv("CUDA_PATH")) places.push_back(fs::path(cuda) / "bin");
  places.push_back("/usr/local/cuda/bin");
  const char* path = std::getenv("PATH");
  for (std::string_view rest = path != nullptr ? path : ""; !rest.empty();) {
    const auto end = std::min(rest.find(':'), rest.size());
    places.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (const auto& place : places)
    if (access((place / "compute-sanitizer").c_str(), X_OK) == 0)
      return {"compute-sanitizer", there, false, (place / "compute-sanitizer").string(), "", {}};
  return {"compute-sanitizer", missing, false, "not found",
          "not needed on the simulator; on a GPU final verdicts are stricter with it: it comes with the CUDA Toolkit", {}};
}

Finding torch() {
  std::string why = "python3 is not on PATH";
  for (const char* name : pytorch::interpreters) try {
      const auto python = base::run({name, {"-c", "import torch; print(torch.__version__)"}}, "", base::Seconds(30));
      if (python.exit_code == 0) return {"PyTorch", there, false, fmt::format("{} ({})", base::trim(python.out), name), "", {}};
      why = "python3 has no module torch";
    } catch (const base::Error&) {   // there is none of this name
    }
  return {"PyTorch", missing, false, why, "not needed for kernel files; `apt-get install python3-torch` or `pip install torch`", {}};
}

Finding cache() {
  const auto folder = base::cache_folder();
  try {
    base::write_file(folder / "doctor", "");
    std::error_code ignored;
    fs::remove(folder / "doctor", ignored);
    return {"cache folder", there, false, folder.string(), "", {}};
  } catch (const base::Error& error) {
    return {"cache folder", broken, false, error.what(), "make it writable, or set XDG_CACHE_HOME", {}};
  }
}

Finding configuration(const CLI::App& root) {
  try {
    all_settings(root);
    std::string files;
    for (const auto& file : configuration_files())
      if (file.exists) files += (files.empty() ? "" : ", ") + file.path.string();
    return {"configuration", there, false, files.empty() ? "no file; all defaults" : files, "", {}};
  } catch (const base::Error& error) {
    return {"configuration", broken, true, error.what(), "mend the file", {}};
  }
}

std::string as_text(const std::vector<Finding>& findings, bool colour) {
  static constexpr const char* colours[] = {"\033[32m", "\033[33m", "\033[31m"};
  std::string text;
  for (const auto& finding : findings) {
    const auto state = static_cast<std::size_t>(finding.state);
    const auto word = fmt::format("{:<8}", state_names[state]);
    text += fmt::format("{:<18} {}{}\n", finding.what, colour ? colours[state] + word + "\033[0m" : word, finding.detail);
    for (const auto& place : finding.searched) text += fmt::format("{:27}looked at {}\n", "", place);
    if (!finding.remedy.empty()) text += fmt::format("{:27}{}\n", "", finding.remedy);
  }
  return text;
}

std::string as_json(const std::vector<Finding>& findings) {
  json list = json::array();
  for (const auto& finding : findings)
    list.push_back({{"what", finding.what},
                    {"state", state_names[static_cast<std::size_t>(finding.state)]},
                    {"needed", finding.needed},
                    {"detail", finding.detail},
                    {"remedy", finding.remedy},
                    {"searched", finding.searched}});
  return json{{"schema", 1}, {"findings", list}}.dump(2) + "\n";
}

ExitCode run_doctor(const DoctorOptions& options, const CommandLine& line) {
  const std::vector<Finding> findings = {nvrtc(), sandbox(), confinement(), gpus(), sanitizer(), torch(), cache(),
                                         configuration(line.root())};
  line.console.result(options.as_json ? as_json(findings) : as_text(findings, line.console.colour(stdout)));
  if (findings.back().state != there) return ExitCode::usage;
  for (const auto& finding : findings)
    if (finding.needed && finding.state != there) return ExitCode::no_device;
  return ExitCode::success;
}

}  // namespace

void add_doctor(CommandLine& line) {
  auto options = std::make_shared<DoctorOptions>();
  Arguments app = line.add("doctor", "Say what is missing on this machine, and how to get it", surroundings_group,
                           [options, &line] { return run_doctor(*options, line); });
  line.forgive_settings(app);
  app.add_flag("--json", options->as_json, "Print one JSON object");
}

}  // namespace cudal1::cli
