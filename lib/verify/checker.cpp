// SPDX-License-Identifier: Apache-2.0
#include "verify/checker.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "tensor/npy.hpp"
#include "verify/embedded.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::verify {

namespace {

using Role = kernel::Buffer::Role;

constexpr base::Seconds longest{300};

std::vector<std::int64_t> shape_of(const kernel::Buffer& buffer, const task::Workload& workload) {
  const auto extents = kernel::extents(buffer.shape, workload.environment);
  if (!extents) throw base::Error(base::Fault::bad_task, base::render(extents.error()));
  return *extents;
}

std::string_view text_of(const reference::Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

nlohmann::json sizes_of(const task::Workload& workload) {
  nlohmann::json sizes = nlohmann::json::object();
  for (const auto& [name, value] : workload.environment) std::visit([&](auto number) { sizes[name] = number; }, value);
  return sizes;
}

base::Program program(const kernel::Checker& checker, const std::filesystem::path& folder) {
  const std::string path = std::filesystem::absolute(checker.path).string();
  if (!checker.is_python()) return {path, {folder.string()}};
  base::write_file(folder / ".call_checker.py", *embedded_text("call_checker.py"));
  return {"python3", {(folder / ".call_checker.py").string(), path, folder.string()}};
}

std::string reason(const base::Finished& finished) {
  for (const std::string* text : {&finished.err, &finished.out}) {
    const auto lines = base::split_lines(*text);
    for (auto line = lines.rbegin(); line != lines.rend(); ++line)
      if (const auto words = base::trim(*line); !words.empty()) return std::string(words.substr(0, 400));
  }
  return finished.signal != 0 ? fmt::format("it ended by signal {}", finished.signal) : fmt::format("it ended with {} and printed no reason", finished.exit_code);
}

}  // namespace

std::string ask(const kernel::Checker& checker, const kernel::File& task, const task::Workload& workload,
                const std::vector<reference::Bytes>& inputs, const reference::Buffers& buffers) {
  if (!std::filesystem::exists(checker.path))
    throw base::Error(base::Fault::missing, fmt::format("{}:{}: the checker {} is missing", task.name, checker.place.line, checker.path.string()));
  const base::TemporaryFolder folder("cudal1-checker");
  nlohmann::json description = {{"sizes", sizes_of(workload)}, {"inputs", nlohmann::json::array()}, {"outputs", nlohmann::json::array()}};
  for (std::size_t i = 0; i < task.buffers.size(); ++i) {
    const kernel::Buffer& buffer = task.buffers[i];
    const auto shape = shape_of(buffer, workload);
    const auto write = [&](const std::string& name, const reference::Bytes& bytes) {
      base::write_file(folder.path() / (name + ".npy"), tensor::write_npy(buffer.dtype, shape, text_of(bytes)));
    };
    if (buffer.role != Role::output) {
      write(buffer.role == Role::inout ? buffer.name + ".before" : buffer.name, inputs[i]);
      description["inputs"].push_back(buffer.name);
    }
    if (buffer.role == Role::input) continue;
    write(buffer.name, buffers.read(i));
    description["outputs"].push_back(buffer.name);
  }
  base::write_file(folder.path() / "sizes.json", description.dump());
  const base::Finished finished = base::run(program(checker, folder.path()), "", longest);
  const std::string name = checker.path.filename().string();
  if (finished.timed_out) throw base::Error(base::Fault::bad_task, fmt::format("the checker {} did not end within {:.0f} s", name, longest.count()));
  if (finished.exit_code == 0) return "";
  return fmt::format("by {}: {}", name, reason(finished));
}

}  // namespace cudal1::verify
