// SPDX-License-Identifier: Apache-2.0
#include "model/pause.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>

#include <curl/curl.h>

namespace cudal1::model {

namespace {

using base::Seconds;

// A number from the front of the text.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || !std::isfinite(value) || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<Seconds> plain_seconds(std::string_view text) {
  const auto value = take_number(text);
  if (!value || !text.empty()) return std::nullopt;
  return Seconds(*value);
}

// "6m0s", "1h2m", "250ms", "1s"
std::optional<Seconds> duration(std::string_view text) {
  static constexpr std::pair<std::string_view, double> units[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
  Seconds sum{};
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const auto value = take_number(text);
    if (!value) return std::nullopt;
    const auto unit = std::find_if(std::begin(units), std::end(units), [&](const auto& row) { return text.starts_with(row.first); });
    if (unit == std::end(units)) return std::nullopt;
    text.remove_prefix(unit->first.size());
    sum += Seconds(*value * unit->second);
  }
  return sum;
}

Seconds from_now(std::time_t then, std::time_t now) { return Seconds(std::max(0.0, std::difftime(then, now))); }

// "2026-01-31T12:00:00Z"
std::optional<Seconds> until_timestamp(const std::string& text, std::time_t now) {
  std::tm time{};
  char zone = 0;
  if (std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%d%c", &time.tm_year, &time.tm_mon, &time.tm_mday, &time.tm_hour, &time.tm_min,
                  &time.tm_sec, &zone) != 7)
    return std::nullopt;
  time.tm_year -= 1900;
  time.tm_mon -= 1;
  return from_now(timegm(&time), now);
}

std::optional<Seconds> until_date(const std::string& text, std::time_t now) {
  const std::time_t then = curl_getdate(text.c_str(), nullptr);
  if (then < 0) return std::nullopt;
  return from_now(then, now);
}

struct Limit {
  const char *remaining, *reset;
};
constexpr Limit limits[] = {
    {"x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"},
    {"x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"},
    {"anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"},
    {"anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"},
    {"anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"},
    {"anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"},
};

}  // namespace

std::optional<Seconds> asked_pause(const std::map<std::string, std::string>& headers, std::time_t now) {
  const auto value = [&](const char* name) {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
  };
  if (const auto pause = plain_seconds(value("retry-after-ms"))) return *pause / 1000;
  const auto after = value("retry-after");
  if (const auto pause = plain_seconds(after)) return pause;
  if (!after.empty())
    if (const auto pause = until_date(after, now)) return pause;
  std::optional<Seconds> longest;
  for (const auto& limit : limits) {
    if (value(limit.remaining) != "0") continue;
    const auto text = value(limit.reset);
    auto pause = duration(text);
    if (!pause) pause = until_timestamp(text, now);
    if (pause) longest = std::max(longest.value_or(Seconds{}), *pause);
  }
  return longest;
}

Seconds own_pause(int attempt, double random) {
  return Seconds(std::min(8.0, 0.5 * std::pow(2.0, std::min(attempt, 10))) * (1 - 0.25 * random));
}

void Pauses::extend(const std::string& service, Seconds pause) {
  const std::lock_guard lock(mutex_);
  until_[service] = std::max(until_[service], base::now() + pause);
}

bool Pauses::wait(const std::string& service, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (Seconds left; !stop.stop_requested() && (left = until_[service] - base::now()) > Seconds{};)
    changed_.wait_for(lock, stop, left, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace cudal1::model
