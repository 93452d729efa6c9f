// SPDX-License-Identifier: Apache-2.0
#include "search/result.hpp"

#include <algorithm>
#include <utility>

namespace cudal1::search {

namespace {

constexpr std::pair<Stop, std::string_view> stops[] = {
    {Stop::rounds, "rounds"},
    {Stop::target_speedup, "target_speedup"},
    {Stop::share_of_limit, "share_of_limit"},
    {Stop::stagnation, "stagnation"},
    {Stop::wall_limit, "wall_limit"},
    {Stop::token_limit, "token_limit"},
    {Stop::cost_limit, "cost_limit"},
    {Stop::replies_exhausted, "replies_exhausted"},
    {Stop::pending, "pending"},
    {Stop::interrupted, "interrupted"},
    {Stop::model_unreachable, "model_unreachable"},
    {Stop::no_credit, "no_credit"},
    {Stop::key_denied, "key_denied"},
    {Stop::request_rejected, "request_rejected"},
};

constexpr std::pair<Variant::Status, std::string_view> statuses[] = {
    {Variant::Status::judged, "judged"},       {Variant::Status::duplicate, "duplicate"},
    {Variant::Status::malformed, "malformed"}, {Variant::Status::refused, "refused"},
    {Variant::Status::truncated, "truncated"},
};

template <typename Rows, typename Value>
std::string_view name_in(const Rows& rows, Value value) {
  for (const auto& [key, text] : rows)
    if (key == value) return text;
  return "";
}

template <typename Value, typename Rows>
std::optional<Value> value_in(const Rows& rows, std::string_view name) {
  for (const auto& [key, text] : rows)
    if (text == name) return key;
  return std::nullopt;
}

}  // namespace

std::string_view name(Stop stop) { return name_in(stops, stop); }
std::optional<Stop> parse_stop(std::string_view name) { return value_in<Stop>(stops, name); }
bool resumable(Stop stop) {
  return stop == Stop::pending || stop == Stop::interrupted || model_failed(stop);
}
bool model_failed(Stop stop) {
  return stop == Stop::model_unreachable || stop == Stop::no_credit || stop == Stop::key_denied ||
         stop == Stop::request_rejected;
}

std::string_view name(Variant::Status status) { return name_in(statuses, status); }
std::optional<Variant::Status> parse_status(std::string_view name) { return value_in<Variant::Status>(statuses, name); }

bool Variant::right() const {
  if (status != Status::judged && status != Status::duplicate) return false;
  return outcome::is_right(verdict().verdict);
}

double Variant::score() const { return right() ? verdict().score() : 0; }

int Result::judged() const {
  return static_cast<int>(std::count_if(variants.begin(), variants.end(), [](const Variant& variant) {
    return variant.status == Variant::Status::judged;
  }));
}

}  // namespace cudal1::search
