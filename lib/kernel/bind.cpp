// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "kernel/check.hpp"
#include "kernel/directive_lines.hpp"
#include "kernel/file.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

// Words of a torch line without its white space, so that a repeated line may be laid out differently.
std::string squeezed(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' && c != '\t') out += c;
  return out;
}

bool equal(const SizeLine& a, const SizeLine& b) { return a.values == b.values && a.weight == b.weight; }
bool equal(const std::vector<SizeLine>& a, const std::vector<SizeLine>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const SizeLine& x, const SizeLine& y) { return equal(x, y); });
}
bool equal(const Scalar& a, const Scalar& b) { return a.dtype == b.dtype && a.value == b.value; }
bool equal(const Buffer& a, const Buffer& b) {
  return a.role == b.role && a.dtype == b.dtype && a.shape == b.shape && a.distribution == b.distribution && a.within == b.within;
}
bool equal(const Tolerance& a, const Tolerance& b) { return a.relative == b.relative && a.absolute == b.absolute; }

class Binder {
 public:
  Binder(const File& task, const File& answer) : task_(task), answer_(answer) {}

  base::Diagnostics differences() {
    if (!answer_.task.empty() && answer_.task != task_.task) add(place_of("task"), fmt::format("this answers the task {}, not {}", answer_.task, task_.task));
    if (answer_.torch && (!task_.torch || squeezed(answer_.torch->first) != squeezed(task_.torch->first)))
      add(answer_.torch->second, "the torch line differs from the task's", keep);
    if (!answer_.sizes.empty() && !equal(answer_.sizes, task_.sizes)) add(answer_.sizes[0].place, "the size lines differ from the task's", keep);
    if (!answer_.checks.empty() && !equal(answer_.checks, task_.checks)) add(answer_.checks[0].place, "the check lines differ from the task's", keep);
    repeated("scalar", answer_.scalars, task_.scalars, [](const Scalar& s) { return s.name; });
    repeated("buffer", answer_.buffers, task_.buffers, [](const Buffer& b) { return b.name; });
    repeated("tolerance", answer_.tolerances, task_.tolerances, [](const Tolerance& t) { return t.output; });
    for (const std::string& include : answer_.includes)
      if (!contains(task_.includes, include))
        add(place_of("include"), fmt::format("an answer has no include folders, but names \"{}\"", include), "write what you need into the answer's own code");
    for (const std::string& option : answer_.options)
      if (!contains(task_.options, option))
        add(place_of("option"), fmt::format("an answer has no compiler options, but asks for {}", option),
            "say it in code: __launch_bounds__, intrinsics such as __fdividef, #pragma unroll");
    if (answer_.plan.empty())
      add({}, "the answer launches nothing", "add a line such as //@ launch k<<<ceil_div(N, 256), 256>>>(A, C, N)");
    return std::move(diagnostics_);
  }

 private:
  static constexpr const char* keep = "leave the line out: the task alone decides it";

  static bool contains(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  }

  // Of the first directive with this word, for those whose place the file does not keep.
  Place place_of(std::string_view word) const {
    for (const DirectiveLine& line : directive_lines(answer_.source))
      if (const FirstWord first = first_word(line); first.text == word) return {line.line, first.column};
    return {};
  }

  void add(Place place, std::string message, std::string hint = {}) {
    base::Diagnostic diagnostic;
    diagnostic.file = answer_.name;
    diagnostic.line = place.line;
    diagnostic.column = place.column;
    diagnostic.message = std::move(message);
    diagnostic.hint = std::move(hint);
    diagnostics_.push_back(std::move(diagnostic));
  }

  template <typename T, typename Name>
  void repeated(std::string_view noun, const std::vector<T>& ours, const std::vector<T>& theirs, Name name) {
    for (const T& one : ours) {
      const auto same = std::find_if(theirs.begin(), theirs.end(), [&](const T& other) { return name(other) == name(one); });
      if (same == theirs.end())
        add(one.place, name(one).empty() ? fmt::format("the task has no {} of its own", noun) : fmt::format("the task has no {} {}", noun, name(one)),
            noun == "buffer" ? "declare memory of your own as //@ scratch" : keep);
      else if (!equal(one, *same))
        add(one.place, fmt::format("{} {} differs from the task's", noun, name(one)), keep);
    }
  }

  const File& task_;
  const File& answer_;
  base::Diagnostics diagnostics_;
};

// The interface's places are lines of the task's file, which a message about the answer must not name.
File without_task_places(File file) {
  for (SizeLine& line : file.sizes) line.place = {};
  for (Scalar& scalar : file.scalars) scalar.place = {};
  for (Buffer& buffer : file.buffers) buffer.place = {};
  return file;
}

}  // namespace

tl::expected<File, base::Diagnostics> bind(const File& task, const File& answer) {
  base::Diagnostics diagnostics = Binder(task, answer).differences();
  File whole = answer;
  whole.task = task.task;
  whole.torch = task.torch;
  whole.sizes = task.sizes;
  whole.checks = task.checks;
  whole.scalars = task.scalars;
  whole.structures = task.structures;
  whole.buffers = task.buffers;
  whole.tolerances = task.tolerances;
  whole.includes = task.includes;
  whole.options = task.options;
  if (diagnostics.empty()) diagnostics = check_declarations(without_task_places(whole));
  if (diagnostics.empty()) diagnostics = check_uses(whole);
  if (diagnostics.empty()) return whole;
  add_line_texts(diagnostics, answer.source);
  return tl::unexpected(std::move(diagnostics));
}

}  // namespace cudal1::kernel
