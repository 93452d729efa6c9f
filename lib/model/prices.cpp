// SPDX-License-Identifier: Apache-2.0
#include "model/prices.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "model/embedded.hpp"
#include "model/model.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::model {

namespace {

using nlohmann::json;

// "gpt-5-2025-08-07" → "gpt-5", "claude-sonnet-4-5-20250929" → "claude-sonnet-4-5"
std::string without_date(const std::string& name) {
  for (const std::string_view form : {"-dddd-dd-dd", "-dddddddd"}) {
    if (name.size() <= form.size()) continue;
    const auto tail = std::string_view(name).substr(name.size() - form.size());
    const bool fits = std::equal(tail.begin(), tail.end(), form.begin(), [](char c, char wanted) {
      return wanted == 'd' ? std::isdigit(static_cast<unsigned char>(c)) != 0 : c == wanted;
    });
    if (fits) return name.substr(0, name.size() - form.size());
  }
  return name;
}

}  // namespace

double Price::of(const Usage& usage, long long cache_writes) const {
  const auto fresh = std::max(0LL, usage.input_tokens - usage.cached_tokens - cache_writes);
  return (static_cast<double>(fresh) * input + static_cast<double>(usage.cached_tokens) * cached_input +
          static_cast<double>(cache_writes) * cache_write + static_cast<double>(usage.output_tokens) * output) / 1e6;
}

Prices::Prices(const std::filesystem::path& users) {
  read(std::string(embedded_text("prices.json").value_or("{}")), "the built-in table of prices");
  if (users.empty()) return;
  try {
    read(base::read_file(users, std::size_t{1} << 20), users.string());
  } catch (const base::Error& error) {
    throw base::Error(base::Fault::usage, fmt::format("--prices: {}", error.what()));
  }
}

void Prices::read(const std::string& text, const std::string& where) {
  const auto fail = [&](const std::string& why) { throw base::Error(base::Fault::usage, fmt::format("{}: {}", where, why)); };
  const auto table = json::parse(text, nullptr, false);
  if (!table.is_object() || !table.contains("usd_per_million_tokens") || !table["usd_per_million_tokens"].is_object())
    fail("expected {\"usd_per_million_tokens\": {\"PROVIDER/MODEL\": {\"input\": 1, \"output\": 2}}}");
  for (const auto& [name, entry] : table["usd_per_million_tokens"].items()) {
    const auto number = [&](const char* key) {
      if (!entry.is_object() || !entry.contains(key) || !entry[key].is_number() || entry[key].get<double>() < 0)
        fail(fmt::format("{} wants a number \"{}\" of at least 0", name, key));
      return entry[key].get<double>();
    };
    Price price{number("input"), 0, 0, number("output")};
    price.cached_input = entry.contains("cached_input") ? number("cached_input") : price.input;
    price.cache_write = entry.contains("cache_write") ? number("cache_write") : price.input;
    prices_[name] = price;
  }
}

std::optional<Price> Prices::find(const std::string& model) const {
  for (const auto& name : {model, without_date(model)})
    if (const auto found = prices_.find(name); found != prices_.end()) return found->second;
  return std::nullopt;
}

}  // namespace cudal1::model
