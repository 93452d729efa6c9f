// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "kernel/output.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

namespace cudal1::kernel {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_file = std::size_t{4} << 20;
constexpr int deepest = 16;

// What stands between the quotation marks of `#include "…"`; empty for any other line.
std::string quoted_file(std::string_view line) {
  line = base::trim(line);
  if (!line.starts_with('#')) return "";
  line = base::trim(line.substr(1));
  if (!line.starts_with("include")) return "";
  line = base::trim(line.substr(7));
  if (!line.starts_with('"')) return "";
  const std::size_t end = line.find('"', 1);
  return end == std::string_view::npos ? "" : std::string(line.substr(1, end - 1));
}

class Reader {
 public:
  explicit Reader(std::vector<std::string>& includes) : includes_(includes) {}

  std::string read(const std::string& source, const fs::path& folder, int depth) {
    std::string out;
    for (const std::string& line : base::split_lines(source)) {
      const std::string name = quoted_file(line);
      const fs::path file = name.empty() || depth > deepest ? fs::path() : find(folder, name);
      if (file.empty()) {
        if (name.empty() || base::trim(line) != "#pragma once") out += line + "\n";
        continue;
      }
      if (!seen_.insert(fs::weakly_canonical(file).string()).second) continue;
      try {
        const std::string text = base::read_file(file, largest_file);
        includes_.push_back(file.string());
        out += read(without_once(text), file.parent_path(), depth + 1);
      } catch (const base::Error&) {
        out += line + "\n";
      }
    }
    return out;
  }

 private:
  static std::string without_once(const std::string& text) {
    std::string out;
    for (const std::string& line : base::split_lines(text))
      if (base::trim(line) != "#pragma once") out += line + "\n";
    return out;
  }

  // Beside the file, or in an include folder beside one of the folders above it.
  static fs::path find(const fs::path& folder, const std::string& name) {
    std::error_code none;
    if (fs::is_regular_file(folder / name, none)) return folder / name;
    fs::path at = fs::absolute(folder, none).lexically_normal();
    for (int up = 0; up < 4 && at.has_parent_path() && at != at.root_path(); ++up) {
      for (const char* place : {"include", "inc"})
        if (fs::is_regular_file(at / place / name, none)) return at / place / name;
      at = at.parent_path();
    }
    return {};
  }

  std::vector<std::string>& includes_;
  std::set<std::string> seen_;
};

}  // namespace

std::string with_local_includes(const std::string& source, const std::string& name, std::vector<std::string>& includes) {
  if (source.find("#") == std::string::npos || source.find("include") == std::string::npos) return source;
  const fs::path folder = fs::path(name).parent_path().empty() ? fs::path(".") : fs::path(name).parent_path();
  std::string result = Reader(includes).read(source, folder, 0);
  return includes.empty() ? source : result;
}

}  // namespace cudal1::kernel
