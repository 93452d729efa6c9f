// SPDX-License-Identifier: Apache-2.0
#include "pytorch/answer_worker.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/spawn.hpp"
#include "base/text.hpp"
#include "sandbox/launch.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <unistd.h>

namespace cudal1::pytorch {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::json;

// What a program with PyTorch, its compilers and CUDA may want to know; nothing else of the user's environment.
constexpr const char* variables[] = {"PATH",         "LANG",        "LANGUAGE",       "TZ",          "USER",        "LOGNAME",     "TERM",
                                     "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME",  "VIRTUAL_ENV", "CONDA_PREFIX", "CC",          "CXX",
                                     "CUDAHOSTCXX",  "NVCC_CCBIN",  "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "MAX_JOBS", "TORCH_CUDA_ARCH_LIST",
                                     "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"};
constexpr const char* families[] = {"LC_", "OMP_", "KMP_", "GOMP_", "CUDA_", "NVIDIA_", "CUBLAS_", "CUDNN_"};
constexpr const char* in_own[] = {"HOME", "TMPDIR", "CUDA_CACHE_PATH", "XDG_CACHE_HOME"};
constexpr const char* in_built[] = {"TORCH_EXTENSIONS_DIR", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"};   // nobody reads these before the answer does

std::vector<std::string> environment(const std::string& folder, const std::string& built) {
  std::vector<std::string> result;
  for (char** each = ::environ; *each != nullptr; ++each) {
    const std::string_view text(*each);
    const std::string_view name = text.substr(0, text.find('='));
    const bool wanted = std::any_of(std::begin(variables), std::end(variables), [&](const char* one) { return name == one; }) ||
                        std::any_of(std::begin(families), std::end(families), [&](const char* one) { return name.starts_with(one); });
    const auto named = [&](const char* one) { return name == one; };
    const bool own = std::any_of(std::begin(in_own), std::end(in_own), named) || std::any_of(std::begin(in_built), std::end(in_built), named);
    if (wanted && !own && !base::named_like_a_key(text)) result.emplace_back(text);
  }
  for (const char* name : in_own) result.push_back(std::string(name) + "=" + folder);
  for (const char* name : in_built) result.push_back(std::string(name) + "=" + built);
  return result;
}

void add_listed(std::vector<fs::path>& paths, const char* variable) {
  const char* value = std::getenv(variable);
  for (std::string_view rest = value != nullptr ? value : ""; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) paths.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

// Where the interpreter and its packages lie, as it says itself.
void add_python(std::vector<fs::path>& paths, const std::string& python) {
  constexpr const char* asked = "import os, sys; print(*sys.path[1:], sys.prefix, sys.base_prefix, sys.exec_prefix, "
                                "os.path.dirname(os.path.dirname(os.path.realpath(sys.executable))), sep='\\n')";
  const base::Finished said = base::run({python, {"-B", "-c", asked}}, "", base::Seconds(60));
  for (const auto& line : base::split_lines(said.out))
    if (!base::trim(line).empty()) paths.emplace_back(std::string(base::trim(line)));
}

// A task may import what lies beside it. Whose folder holds the user's whole home shows no more than its modules.
void add_beside(sandbox::FileRules& rules, const fs::path& task) {
  const fs::path folder = fs::absolute(task).lexically_normal().parent_path();
  const char* home = std::getenv("HOME");
  const std::string all = folder.string() == "/" ? "/" : folder.string() + "/";
  if (folder.string() != "/" && (home == nullptr || !(std::string(home) + "/").starts_with(all))) {
    rules.readable.push_back(folder);
    return;
  }
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".py") rules.readable.push_back(entry.path());
}

sandbox::FileRules files(const json& setup) {
  sandbox::FileRules rules;
  std::vector<fs::path> found;
  for (const char* path : {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/run/opengl-driver"}) rules.runnable.emplace_back(path);
  add_python(found, setup.at("python"));
  for (const char* variable : {"PATH", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"}) add_listed(found, variable);
  const char* home = std::getenv("HOME");
  for (const fs::path& path : found)
    if (path.is_absolute() && path != "/" && (home == nullptr || path.lexically_normal() != fs::path(home).lexically_normal())) rules.runnable.push_back(path);
  for (const char* path : {"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/alternatives", "/etc/localtime", "/etc/timezone",
                           "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/os-release", "/etc/debian_version", "/etc/locale.alias", "/etc/mime.types",
                           "/etc/python3", "/etc/python3.11", "/etc/OpenCL", "/etc/nvidia", "/sys"})
    rules.readable.emplace_back(path);
  rules.readable.push_back(fs::path(setup.at("program").get<std::string>()).parent_path());
  add_beside(rules, setup.at("task").get<std::string>());
  if (setup.contains("answer")) rules.readable.emplace_back(setup["answer"].get<std::string>());
  const std::string folder = setup.at("folder");
  rules.writable.emplace_back(folder);
  rules.writable.emplace_back(setup.value("built", folder));
  for (const char* path : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}) rules.devices.emplace_back(path);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/dev", ignored))
    if (entry.path().filename().string().starts_with("nvidia")) rules.devices.push_back(entry.path());
  rules.devices.emplace_back("/dev/dri");
  if (setup.value("reads_everything", false)) rules.readable.emplace_back("/");
  rules.other_sockets = setup.value("other_sockets", false);
  return rules;
}

int held(const std::string& text) {
  const int file = ::memfd_create("filter", MFD_CLOEXEC);
  if (file < 0 || ::write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) throw base::Error(base::Fault::internal, "no memory for a filter");
  return file;
}

}  // namespace

int answer_worker_main() {
  base::Channel channel = base::worker_channel();
  std::string message;
  if (channel.receive(message) != base::Channel::Status::message) return 0;
  const json setup = json::parse(message);
  sandbox::Launch launch;
  launch.arguments = {setup.at("python"), "-B", "-s", "-u", setup.at("program")};
  launch.folder = setup.at("folder").get<std::string>();
  launch.counted = setup.value("counted", launch.folder.string());
  launch.environment = environment(launch.folder, setup.value("built", launch.folder.string()));
  launch.files = files(setup);
  launch.descriptors = {3, held(sandbox::without_sockets())};
  for (const auto& path : setup.at("memory")) {
    launch.descriptors.push_back(::open(path.get<std::string>().c_str(), O_RDWR | O_CLOEXEC));
    if (launch.descriptors.back() < 0) throw base::Error(base::Fault::internal, "shared memory cannot be opened");
  }
  launch.namespaces = setup.at("namespaces");
  launch.own_processes = setup.at("own_processes");
  launch.shared_memory = setup.value("shared_memory", false);
  launch.local_sockets = setup.at("local_sockets");
  launch.unconfined = setup.at("unconfined");
  return sandbox::launch(launch, [&](const sandbox::Confined& told) {
    json reply = {{"means", told.means}, {"lacking", told.lacking}};
    if (!told.failed.empty()) reply = {{"refused", fmt::format("the answer cannot be confined here ({}); --no-sandbox runs it all the same", told.failed)}};
    channel.send(reply.dump());
    ::close(3);   // the program has its own, so that its end is seen
  });
}

}  // namespace cudal1::pytorch
