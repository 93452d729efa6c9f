// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler.hpp"

#include "base/process.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include <dlfcn.h>
#include <link.h>

namespace cudal1::compile {
namespace {

namespace fs = std::filesystem;

// "13.0" behind the prefix as numbers; nothing when the name is another one. The name without a version counts as {}.
std::optional<std::vector<int>> version_behind(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::vector<int> numbers;
  while (!name.empty()) {
    if (name.front() != '.' || name.size() < 2) return std::nullopt;
    name.remove_prefix(1);
    int number = 0;
    std::size_t digits = 0;
    while (digits < name.size() && digits < 6 && name[digits] >= '0' && name[digits] <= '9') number = number * 10 + (name[digits++] - '0');
    if (digits == 0) return std::nullopt;
    numbers.push_back(number);
    name.remove_prefix(digits);
  }
  return numbers;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> all;
  std::error_code code;
  for (fs::directory_iterator i(folder, code), end; !code && i != end; i.increment(code)) all.push_back(i->path());
  std::sort(all.begin(), all.end());
  return all;
}

fs::path real(const fs::path& path) {
  std::error_code code;
  fs::path resolved = fs::canonical(path, code);
  return code ? path : resolved;
}

// The newest library of a folder whose version starts with `like`.
std::pair<fs::path, std::vector<int>> newest(const fs::path& folder, std::string_view prefix, const std::vector<int>& like) {
  std::pair<fs::path, std::vector<int>> best;
  for (const fs::path& path : entries(folder)) {
    const auto version = version_behind(path.filename().string(), prefix);
    if (!version || version->size() < like.size() || !std::equal(like.begin(), like.end(), version->begin())) continue;
    if (best.first.empty() || *version > best.second) best = {path, *version};
  }
  return best;
}

fs::path include_folder_of(const fs::path& library) {
  const fs::path folder = library.parent_path();
  for (const fs::path& candidate : {folder / "../include", folder / "../../include", folder / "../../../include",
                                    folder / "../../cuda_runtime/include", fs::path("/usr/include")}) {
    std::error_code code;
    if (fs::exists(candidate / "cuda_fp16.h", code)) return real(candidate);
  }
  return {};
}

bool look_in(const fs::path& folder, const std::string& why, NvrtcIdentity& identity) {
  auto [library, version] = newest(folder, "libnvrtc.so", {});
  if (library.empty()) {
    identity.searched.push_back(why + folder.string() + ": no libnvrtc.so");
    return false;
  }
  library = real(library);
  const auto own = version_behind(library.filename().string(), "libnvrtc.so");
  if (own) version = *own;
  if (version.size() > 1) version.resize(2);
  auto builtins = newest(folder, "libnvrtc-builtins.so", version);
  if (builtins.first.empty()) builtins = newest(folder, "libnvrtc-builtins.so", {});
  const std::vector<int>& numbers = builtins.second.empty() ? version : builtins.second;
  identity.library = library;
  identity.builtins = builtins.first.empty() ? fs::path() : real(builtins.first);
  identity.major = !numbers.empty() ? numbers[0] : 0;
  identity.minor = numbers.size() > 1 ? numbers[1] : 0;
  identity.include_folder = include_folder_of(library);
  identity.searched.push_back(why + folder.string() + ": found " + library.filename().string());
  return true;
}

// Where the loader (LD_LIBRARY_PATH, the cache of ldconfig) finds it.
bool ask_loader(NvrtcIdentity& identity) {
  for (int major = 19; major >= 11; --major) {
    const std::string name = "libnvrtc.so." + (major == 11 ? std::string("11.2") : std::to_string(major));
    void* handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) continue;
    link_map* map = nullptr;
    const fs::path path = ::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr ? map->l_name : "";
    const bool found = !path.empty() && look_in(path.parent_path(), "the loader: ", identity);
    ::dlclose(handle);
    if (found) return true;
  }
  identity.searched.emplace_back("the loader (LD_LIBRARY_PATH, ldconfig): no libnvrtc.so.19 … 11.2");
  return false;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Folders of installed Python packages: of the environment that this program is installed in, of an active one, of the python3 on
// PATH, the user's and the system's.
std::vector<fs::path> package_folders() {
  std::vector<fs::path> prefixes{base::own_executable().parent_path().parent_path()};
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string value = environment(name); !value.empty()) prefixes.emplace_back(value);
  std::string list = environment("PATH");
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    const fs::path python = fs::path(list.substr(begin, end - begin)) / "python3";
    std::error_code code;
    if (fs::exists(python, code)) {
      prefixes.push_back(python.parent_path().parent_path());
      prefixes.push_back(real(python).parent_path().parent_path());
    }
    begin = end + 1;
  }
  if (const std::string home = environment("HOME"); !home.empty()) prefixes.push_back(fs::path(home) / ".local");
  prefixes.emplace_back("/usr/local");
  prefixes.emplace_back("/usr");
  std::vector<fs::path> folders;
  const auto add = [&folders](const fs::path& folder) {
    std::error_code code;
    if (fs::is_directory(folder / "nvidia", code) && std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(folder);
  };
  for (const fs::path& prefix : prefixes)
    for (const fs::path& python : entries(prefix / "lib"))
      if (python.filename().string().starts_with("python3"))
        for (const char* kind : {"site-packages", "dist-packages"}) add(python / kind);
  return folders;
}

}  // namespace

NvrtcIdentity find_nvrtc() {
  NvrtcIdentity identity;
  for (const char* name : {"CUDA_PATH", "CUDA_HOME"})
    if (const std::string value = environment(name); !value.empty())
      for (const char* below : {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"})
        if (look_in(fs::path(value) / below, std::string(name) + ": ", identity)) return identity;
  if (ask_loader(identity)) return identity;

  std::vector<fs::path> folders = {"/usr/local/cuda/lib64"};
  std::vector<fs::path> toolkits = entries("/usr/local");
  for (auto i = toolkits.rbegin(); i != toolkits.rend(); ++i)
    if (i->filename().string().starts_with("cuda-")) folders.push_back(*i / "lib64");
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib/nvidia-cuda-toolkit/lib64",
                             "/usr/lib/cuda/lib64", "/opt/cuda/lib64"})
    folders.emplace_back(folder);
  for (const fs::path& folder : folders)
    if (look_in(folder, "", identity)) return identity;
  const std::vector<fs::path> packages = package_folders();
  if (packages.empty()) identity.searched.emplace_back("Python packages: no folder nvidia in any site-packages or dist-packages");
  for (const fs::path& package : packages)
    for (const char* below : {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"})
      if (look_in(package / below, "Python package: ", identity)) return identity;
  return identity;
}

}  // namespace cudal1::compile
