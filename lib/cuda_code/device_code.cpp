// SPDX-License-Identifier: Apache-2.0
#include "cuda_code/device_code.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace cudal1::cuda_code {

std::optional<std::string_view> embedded_text(std::string_view name);

namespace {

constexpr char mark = '$';
constexpr std::string_view with = "//$ with ";

// `$name$` at the start of a text; its length, or 0.
std::size_t hole_at(std::string_view text) {
  if (text.empty() || text[0] != mark) return 0;
  std::size_t end = 1;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
  return end > 1 && end < text.size() && text[end] == mark ? end + 1 : 0;
}

// Calls `code` with what stands between holes, and `hole` with the name of each and whether its line is its own, which then ends with it.
template <typename Code, typename Filled>
void walk(std::string_view text, Code code, Filled hole) {
  bool line_start = true;
  for (std::size_t i = 0, from = 0; i <= text.size();) {
    const std::size_t length = i < text.size() ? hole_at(text.substr(i)) : 0;
    if (length == 0 && i < text.size()) {
      line_start = text[i++] == '\n';
      continue;
    }
    code(text.substr(from, i - from));
    if (length == 0) return;
    const std::string_view name = text.substr(i + 1, length - 2);
    i += length;
    line_start = line_start && i < text.size() && text[i] == '\n';
    hole(name, line_start);
    i += line_start ? 1 : 0;
    from = i;
  }
}

std::string_view source_of(std::string_view file) {
  const auto text = embedded_text(file);
  if (!text) throw std::logic_error(fmt::format("no device code named {}", file));
  return *text;
}

// "FILE; hole = text; …": the code of a file that several kernels share a part of, with some of its holes filled.
std::string part_of(std::string_view line) {
  const std::size_t end = std::min(line.find(';'), line.size());
  const std::string code = read_device_file(source_of(base::trim(line.substr(0, end)))).code;
  std::map<std::string, std::string, std::less<>> texts;
  for (std::size_t from = end + 1; from < line.size();) {
    const std::size_t next = std::min(line.find(';', from), line.size()), equals = line.find('=', from);
    texts.emplace(base::trim(line.substr(from, equals - from)), base::trim(line.substr(equals + 1, next - equals - 1)));
    from = next + 1;
  }
  std::string result;
  walk(code, [&](std::string_view text) { result += text; },
       [&](std::string_view name, bool own_line) {
         const auto found = texts.find(name);
         const std::string text = found != texts.end() ? found->second : fmt::format("{0}{1}{0}", mark, name);
         result += text;
         if (own_line && !text.empty()) result += '\n';
       });
  return result;
}

}  // namespace

const DeviceFile& device_file(std::string_view file) {
  static std::mutex guard;
  static std::map<std::string, DeviceFile, std::less<>> known;
  const std::lock_guard<std::mutex> lock(guard);
  const auto found = known.find(file);
  return found != known.end() ? found->second : known.emplace(file, read_device_file(source_of(file))).first->second;
}

DeviceFile read_device_file(std::string_view text) {
  DeviceFile result;
  bool head = true;
  for (const std::string& line : base::split_lines(text)) {
    if (head && line.rfind("//$", 0) == 0 && line.rfind(with, 0) != 0) {
      std::istringstream words(line.substr(3));
      std::string word;
      if (words >> word && word == "needs")
        while (words >> word) result.needs.push_back(word);
      continue;
    }
    if (head && (line.empty() || line.rfind("// SPDX", 0) == 0)) continue;
    head = false;
    result.code += line.rfind(with, 0) == 0 ? part_of(std::string_view(line).substr(with.size())) : line + "\n";
  }
  return result;
}

std::vector<std::string> holes_of(std::string_view code) {
  std::vector<std::string> result;
  walk(code, [](std::string_view) {}, [&](std::string_view name, bool) {
    if (std::find(result.begin(), result.end(), name) == result.end()) result.emplace_back(name);
  });
  return result;
}

std::vector<Hole> holes_in(std::string_view file, const std::vector<Hole>& holes) {
  const std::vector<std::string> names = holes_of(device_file(file).code);
  std::vector<Hole> result;
  for (const Hole& hole : holes)
    if (std::find(names.begin(), names.end(), hole.name) != names.end()) result.push_back(hole);
  return result;
}

std::string device_code(std::string_view file) { return device_code(file, {}); }

std::string fill(std::string_view code, const std::vector<Hole>& holes) {
  std::vector<char> used(holes.size());
  std::string result;
  walk(code, [&](std::string_view text) { result += text; },
       [&](std::string_view name, bool) {
         const auto found = std::find_if(holes.begin(), holes.end(), [&](const Hole& each) { return each.name == name; });
         if (found == holes.end()) throw std::logic_error(fmt::format("nothing for the hole {}", name));
         used[static_cast<std::size_t>(found - holes.begin())] = 1;
         result += found->text;
       });
  for (std::size_t i = 0; i < holes.size(); ++i)
    if (!used[i]) throw std::logic_error(fmt::format("there is no hole {}", holes[i].name));
  return result;
}

std::string device_code(std::string_view file, const std::vector<Hole>& holes) {
  try {
    return fill(device_file(file).code, holes);
  } catch (const std::logic_error& mistake) {
    throw std::logic_error(fmt::format("{}: {}", file, mistake.what()));
  }
}

}  // namespace cudal1::cuda_code
