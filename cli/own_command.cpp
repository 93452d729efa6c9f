// SPDX-License-Identifier: Apache-2.0
#include "own_command.hpp"

#include "base/process.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

constexpr base::Seconds limit{24 * 3600.0};
constexpr std::size_t output_limit = std::size_t{64} << 20;

// Events out of pieces of text.
class Lines {
 public:
  explicit Lines(const std::function<void(const std::string&)>& take) : take_(take) {}
  void add(std::string_view piece) {
    rest_ += piece;
    for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n')) {
      const std::string line = base::printable(rest_.substr(0, end));
      rest_.erase(0, end + 1);
      if (line.starts_with("{")) take_(line);
    }
  }

 private:
  const std::function<void(const std::string&)>& take_;
  std::string rest_;
};

// What a command that failed wrote last, without what it showed of its progress.
std::string last_words(const base::Finished& finished) {
  std::string words;
  for (const auto& line : base::split_lines(base::printable(finished.err)))
    if (!line.empty() && line.front() != '{') words += (words.empty() ? "" : "\n") + std::string(line);
  return words.empty() ? fmt::format("it ended with exit code {}", finished.exit_code) : words;
}

}  // namespace

ToolResult own_command(const ToolCall& call, std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--json", "--no-input", "--progress", "json"});
  Lines lines(call.progress);
  const auto finished = base::run({base::own_executable(), arguments}, "", limit, output_limit, call.stop, [&](std::string_view piece) { lines.add(piece); });
  if (finished.stopped) return {{}, "cancelled"};
  json value = json::parse(finished.out, nullptr, false);
  if (value.is_discarded() || !value.is_object()) return {{}, last_words(finished)};
  if (const auto error = value.find("error"); error != value.end() && error->is_object()) return {{}, error->value("message", last_words(finished))};
  value["exit_code"] = finished.exit_code;
  return {std::move(value), ""};
}

void add_options(std::vector<std::string>& command, const json& arguments) {
  for (const auto& [option, name] : {std::pair{"--device", "device"}, {"--gpu", "gpu"}})
    if (arguments.contains(name)) command.insert(command.end(), {option, arguments[name].get<std::string>()});
  const json sizes = arguments.value("sizes", json::object());
  for (const auto& [name, value] : sizes.items()) command.insert(command.end(), {"--set", fmt::format("{}={}", name, value.get<long long>())});
  for (const auto& option : arguments.value("options", json::array())) command.push_back(option.get<std::string>());
}

}  // namespace cudal1::cli
