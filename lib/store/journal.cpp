// SPDX-License-Identifier: Apache-2.0
#include "store/journal.hpp"

#include "base/error.hpp"
#include "base/file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::store {

namespace {

using json = nlohmann::ordered_json;

void strip_times(json& value) {
  if (value.is_object())
    for (const char* name : {"at", "seconds", "judging_seconds", "step_seconds"}) value.erase(name);
  if (value.is_structured())
    for (auto& item : value) strip_times(item);
}

}  // namespace

JournalText read_journal(const std::filesystem::path& path) {
  const std::string text = base::read_file(path, std::size_t{1} << 30);
  JournalText journal;
  std::size_t number = 0;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    ++number;
    std::string line = text.substr(begin, end - begin);
    if (!json::accept(line)) {
      if (text.find('\n', end + 1) == std::string::npos) break;
      throw base::Error(base::Fault::bad_task,
                        fmt::format("{}:{}: this journal line is damaged; remove it and what follows to go on from there",
                                    path.string(), number));
    }
    journal.lines.push_back(std::move(line));
    journal.valid_bytes = end + 1;
  }
  return journal;
}

std::string without_times(std::string_view line) {
  auto value = json::parse(line);
  strip_times(value);
  return value.dump();
}

}  // namespace cudal1::store
