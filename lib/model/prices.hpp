// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace cudal1::model {

struct Usage;

// US dollars for a million tokens.
struct Price {
  double input = 0, cached_input = 0, cache_write = 0, output = 0;

  double of(const Usage& usage, long long cache_writes = 0) const;
};

// What services ask for their models. The built-in table goes out of date; a file of the user's adds to it and wins.
class Prices {
 public:
  // Throws base::Error(usage) for a file that is missing or no such table.
  explicit Prices(const std::filesystem::path& users = {});

  // "openai/gpt-…"; a model with a date at its end has the price of the one without, unless the table has both.
  std::optional<Price> find(const std::string& model) const;

 private:
  void read(const std::string& text, const std::string& where);

  std::map<std::string, Price> prices_;
};

}  // namespace cudal1::model
