// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "base/file.hpp"
#include "kernel/names.hpp"
#include "playbook/candidate.hpp"
#include "cuda_code/parameter_names.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

using namespace cudal1;

namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Calls `word` with every word of a source but for comments, which stay as they are; it returns what goes there.
template <typename Word>
std::string replaced(const std::string& source, Word word) {
  std::string result;
  for (std::size_t i = 0, end = 0; i < source.size(); i = end) {
    end = i + 1;
    if (in_word(source[i])) {
      while (end < source.size() && in_word(source[end])) ++end;
      const std::string text = source.substr(i, end - i);
      result += std::isdigit(static_cast<unsigned char>(text[0])) ? text : word(text);
      continue;
    }
    if (source[i] == '/' && source.compare(i, 2, "//") == 0) {
      const std::size_t line = i == 0 ? 0 : source.rfind('\n', i - 1) + 1;  // in a directive, // may be an operator
      if (source.compare(line, 3, "//@") != 0) end = std::min(source.find('\n', i), source.size());
    }
    result.append(source, i, end - i);
  }
  return result;
}

std::string renamed(const std::string& source, const std::map<std::string, std::string>& names) {
  return replaced(source, [&](const std::string& word) {
    const auto found = names.find(word);
    return found == names.end() ? word : found->second;
  });
}

std::vector<std::string> names_of(const task::Task& task) {
  std::vector<std::string> result;
  for (const auto& buffer : task.file.buffers) result.push_back(buffer.name);
  for (const auto& [name, value] : task.file.sizes.front().values) result.push_back(name);
  for (const auto& scalar : task.file.scalars) result.push_back(scalar.name);
  return result;
}

// The words of every function, in order.
std::vector<std::vector<std::string>> functions(const std::string& source) {
  std::vector<std::vector<std::string>> result;
  const std::string code = source.substr(source.find("// playbook:"));
  for (std::size_t i = 0; i < code.size();) {
    const std::size_t end = std::min({code.find("\n}\n", i), code.find("\n};\n", i), code.size() - 3}) + 3;
    result.emplace_back();
    replaced(code.substr(i, end - i), [&](const std::string& word) {
      result.back().push_back(word);
      return word;
    });
    i = end;
  }
  return result;
}

using Functions = std::vector<std::vector<std::string>>;

std::vector<Functions> functions(const playbook::Candidates& candidates) {
  std::vector<Functions> result;
  for (const auto& candidate : candidates.list) result.push_back(functions(candidate.source));
  return result;
}

// The two words of which one means two things, if there are any.
std::string two_meanings(const std::vector<std::string>& from, const std::vector<std::string>& to) {
  std::unordered_map<std::string_view, std::string_view> there, back;
  for (std::size_t w = 0; w < from.size(); ++w)
    if (there.emplace(from[w], to[w]).first->second != to[w] || back.emplace(to[w], from[w]).first->second != from[w])
      return from[w] + " is " + to[w];
  return "";
}

// Different words stay different: nothing that `names` brought in means two things within a function.
void check_same_but_for_names(const std::vector<Functions>& before, const playbook::Candidates& after) {
  REQUIRE(before.size() == after.list.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Functions &from = before[i], to = functions(after.list[i].source);
    bool same = from.size() == to.size();
    std::string clash;
    for (std::size_t f = 0; same && clash.empty() && f < from.size(); ++f) {
      same = from[f].size() == to[f].size();
      if (same) clash = two_meanings(from[f], to[f]);
    }
    if (!same || !clash.empty()) FAIL("a name means two things: " << clash << "\n" << after.list[i].id << "\n" << after.list[i].source);
  }
}

}  // namespace

TEST_CASE("a parameter whose name the kernel has already gets an underscore") {
  using cuda_code::marked;
  CHECK(cuda_code::without_marks("f(" + marked("out") + ") { Pack out = " + marked("out") + "[0]; }") ==
        "f(out_) { Pack out = out_[0]; }");
  CHECK(cuda_code::without_marks("f(" + marked("X") + ") { float " + marked("X") + "_line = " + marked("X") + "; }") ==
        "f(X) { float X_line = X; }");
  CHECK(cuda_code::without_marks(marked("X") + "_line " + marked("X_line") + " " + marked("Y")) == "X_line X_line_ Y");
  CHECK(cuda_code::without_marks(marked("out") + " // the out of " + marked("out")) == "out // the out of out");
}

TEST_CASE("no name of a task clashes with a name of the kernels generated for it") {
  std::set<std::vector<std::string>> tried;   // functions that kernels share
  for (const auto& entry : std::filesystem::directory_iterator(std::string(CUDAL1_SOURCE_DIR) + "/tests/unit/playbook/golden")) {
    const std::string path = entry.path().string();
    if (path.find(".before.cu") == std::string::npos) continue;
    const task::Task task = task::load(entry.path());
    if (!task.torch) continue;
    const std::vector<Functions> before = functions(playbook::candidates_for(task));
    const std::vector<std::string> names = names_of(task);
    std::set<std::string> words;
    for (const Functions& candidate : before)
      for (const auto& function : candidate)
        if (tried.insert(function).second) words.insert(function.begin(), function.end());
    std::vector<std::string> free;
    const std::string source = base::read_file(entry.path());
    std::set<std::string> own;
    replaced(source, [&](const std::string& word) {
      own.insert(word);
      return word;
    });
    for (const std::string& word : words)
      if (own.count(word) == 0 && kernel::reserved_for(word).empty()) free.push_back(word);
    for (std::size_t first = 0; first < free.size(); first += names.size()) {
      std::map<std::string, std::string> table;
      for (std::size_t i = 0; i < names.size() && i < free.size(); ++i) table[names[i]] = free[(first + i) % free.size()];
      INFO(path << " with " << table.begin()->second);
      check_same_but_for_names(before, playbook::candidates_for(task::from_source(renamed(source, table), "renamed.cu")));
    }
  }
  CHECK(tried.size() > 500);
}
