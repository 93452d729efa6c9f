// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "kernel/signature.hpp"
#include "playbook/candidate.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

namespace cudal1::playbook {
namespace {

// The task's plan and code as text, changed by one transformation after the other.
struct Draft {
  std::vector<std::string> tunables, plan;  // directive lines without `//@`
  std::string code;
  std::vector<KernelFile::Technique> techniques;
};

bool word_at(const std::string& text, std::size_t at, std::size_t length) {
  const auto letter = [&](std::size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
  };
  return (at == 0 || !letter(at - 1)) && !letter(at + length);
}

bool mentions(const std::string& text, const std::string& word) {
  for (std::size_t i = text.find(word); i != std::string::npos; i = text.find(word, i + 1))
    if (word_at(text, i, word.size())) return true;
  return false;
}

// `__global__ … name(…) { … }` as a range of the code; empty when its braces are not found.
std::pair<std::size_t, std::size_t> body_of(const std::string& code, const std::string& name) {
  for (std::size_t i = code.find(name); i != std::string::npos; i = code.find(name, i + 1)) {
    if (!word_at(code, i, name.size()) || code.rfind("__global__", i) == std::string::npos) continue;
    const std::size_t open = code.find('{', i);
    if (open == std::string::npos) break;
    int depth = 0;
    for (std::size_t k = open; k < code.size(); ++k) {
      depth += code[k] == '{' ? 1 : code[k] == '}' ? -1 : 0;
      if (depth == 0) return {i, k + 1};
    }
    break;
  }
  return {0, 0};
}

// Blocks of one plain size, `k<<<ceil_div(E, 256), 256>>>`, in a kernel that asks for blockDim: any size will do.
bool geometry(const task::Task& task, Draft& draft) {
  bool any = false;
  for (std::string& line : draft.plan) {
    const std::size_t open = line.find("<<<"), close = line.find(">>>");
    if (line.rfind("launch", 0) != 0 || open == std::string::npos || close == std::string::npos) continue;
    const std::string name(base::trim(std::string_view(line).substr(6, open - 6)));
    const std::string geometry = line.substr(open + 3, close - open - 3);
    const std::size_t comma = geometry.rfind(',');
    if (comma == std::string::npos) continue;
    const std::string block(base::trim(std::string_view(geometry).substr(comma + 1)));
    const std::string grid(base::trim(std::string_view(geometry).substr(0, comma)));
    if (block.empty() || !std::all_of(block.begin(), block.end(), [](unsigned char c) { return std::isdigit(c); }))
      continue;
    const std::string ending = ", " + block + ")";
    if (grid.rfind("ceil_div(", 0) != 0 || grid.size() < ending.size() ||
        grid.compare(grid.size() - ending.size(), ending.size(), ending) != 0)
      continue;
    const auto [from, to] = body_of(draft.code, name);
    const std::string body = draft.code.substr(from, to - from);
    if (!mentions(body, "blockDim") || mentions(body, block) || mentions(body, "__shared__") ||
        mentions(body, "__launch_bounds__"))
      continue;
    const std::string tunable = any ? fmt::format("BLOCK_{}", draft.tunables.size() + 1) : "BLOCK";
    if (mentions(task.file.source, tunable)) continue;
    line = line.substr(0, open + 3) + grid.substr(0, grid.size() - ending.size()) +
           fmt::format(", {0}), {0}", tunable) + line.substr(close);
    draft.tunables.push_back(fmt::format("{} = {}", tunable, any ? block : "128 | 64 | 256 | 512"));
    any = true;
  }
  if (any) draft.techniques.push_back({"launch geometry", "The block size is left to measurement."});
  return any;
}

// Pointers that the plan never gives the same buffer twice cannot alias: the compiler may keep and reorder loads.
bool read_only(const task::Task& task, Draft& draft) {
  bool any = false;
  for (const kernel::Signature& signature : kernel::signatures(draft.code)) {
    bool distinct = true;
    for (const kernel::Step& step : task.file.plan) {
      const auto* launch = std::get_if<kernel::LaunchStep>(&step.step);
      if (launch == nullptr) return false;
      if (launch->kernel != signature.name) continue;
      std::set<std::string> buffers;
      for (std::size_t i = 0; i < launch->arguments.size() && i < signature.parameters.size(); ++i) {
        if (!signature.parameters[i].pointer) continue;
        const std::vector<std::string> names = launch->arguments[i].names();
        for (const kernel::Buffer& buffer : task.file.buffers)
          if (std::find(names.begin(), names.end(), buffer.name) != names.end())
            distinct = buffers.insert(buffer.name).second && distinct;
        for (const kernel::Scratch& scratch : task.file.scratches)
          if (std::find(names.begin(), names.end(), scratch.name) != names.end())
            distinct = buffers.insert(scratch.name).second && distinct;
      }
    }
    if (!distinct || signature.parameters.empty()) continue;
    const auto [from, to] = body_of(draft.code, signature.name);
    if (to == 0) continue;
    const std::size_t open = draft.code.find('(', from), close = draft.code.find(')', open);
    if (close == std::string::npos || draft.code.find('{', from) < close) continue;
    std::string list = draft.code.substr(open, close - open);
    if (list.find("__restrict__") != std::string::npos || list.find('(', 1) != std::string::npos) continue;
    std::string changed;
    for (char c : list) changed += c == '*' ? "* __restrict__" : std::string(1, c);
    if (changed == list) continue;
    for (std::size_t i = changed.find("__restrict__"); i != std::string::npos; i = changed.find("__restrict__", i + 12))
      if (i + 12 < changed.size() && changed[i + 12] != ' ') changed.insert(i + 12, " ");
    draft.code.replace(open, close - open, changed);
    any = true;
  }
  if (any)
    draft.techniques.push_back({"read-only access",
                                "No two pointers of a launch meet, which `__restrict__` tells the compiler: it may "
                                "load early and through the read-only path."});
  return any;
}

// Innermost counted loops, several steps at a time, so that their loads overlap.
bool unrolled(Draft& draft, int factor) {
  const std::vector<std::string> lines = base::split_lines(draft.code);
  std::string result;
  bool any = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string text(base::trim(lines[i]));
    const auto is_loop = [](std::string_view line) { return line.rfind("for (", 0) == 0; };
    bool innermost = is_loop(text);
    const std::size_t indent = lines[i].find_first_not_of(' ');
    for (std::size_t k = i + 1; innermost && k < lines.size(); ++k) {
      const std::size_t other = lines[k].find_first_not_of(' ');
      if (other != std::string::npos && other <= indent) break;
      if (is_loop(base::trim(lines[k]))) innermost = false;
    }
    const bool marked = i > 0 && base::trim(lines[i - 1]).rfind("#pragma", 0) == 0;
    if (innermost && !marked && text.find("__syncthreads") == std::string::npos) {
      result += fmt::format("#pragma unroll {}\n", factor);
      any = true;
    }
    result += lines[i] + "\n";
  }
  if (any) {
    draft.code = result;
    draft.techniques.push_back(
        {"unrolling", fmt::format("Innermost loops take {} steps at a time, so that their loads overlap.", factor)});
  }
  return any;
}

}  // namespace

std::vector<Candidate> own_kernel_candidates(const task::Task& task) {
  Draft original;
  for (const std::string& line : base::split_lines(task.file.source)) {
    const std::string text(base::trim(line));
    if (text.rfind("//@", 0) != 0) continue;
    const std::string directive(base::trim(std::string_view(text).substr(3)));
    for (const char* kept : {"scratch", "launch", "memset", "for", "tune", "}"})
      if (directive.rfind(kept, 0) == 0) original.plan.push_back(directive);
  }
  original.code = kernel::code(task.file);

  std::vector<Candidate> result;
  std::set<std::string> seen{original.code};
  const auto offer = [&](const std::string& id, Draft draft) {
    if (draft.techniques.empty()) return;
    Candidate candidate;
    candidate.id = "own kernel/" + id;
    candidate.source = fmt::format("//@ of      {} sha256:{}\n", task.path.filename().string(), task.digest);
    for (const std::string& each : draft.tunables) candidate.source += "//@ tune    " + each + "\n";
    for (const std::string& each : draft.plan) candidate.source += "//@ " + each + "\n";
    candidate.source += "// playbook: " + candidate.id + "\n\n" + draft.code;
    if (!seen.insert(candidate.source.substr(candidate.source.find("\n\n")) + fmt::format("{}", draft.tunables.size()))
             .second)
      return;
    candidate.techniques = std::move(draft.techniques);
    result.push_back(std::move(candidate));
  };
  Draft some = original;
  geometry(task, some);
  read_only(task, some);
  offer("geometry, read-only", some);
  Draft all = original;
  geometry(task, all);
  read_only(task, all);
  unrolled(all, 4);
  offer("geometry, read-only, unrolled", all);
  Draft shape = original;
  geometry(task, shape);
  offer("geometry", shape);
  Draft loops = original;
  read_only(task, loops);
  unrolled(loops, 8);
  offer("read-only, unrolled by 8", loops);
  return result;
}

}  // namespace cudal1::playbook
