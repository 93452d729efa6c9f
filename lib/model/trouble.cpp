// SPDX-License-Identifier: Apache-2.0
#include "model/trouble.hpp"

#include "base/text.hpp"
#include "model/pause.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::model {

namespace {

using nlohmann::json;
using Kind = Trouble::Kind;

constexpr std::size_t longest_message = 500;

// What the services' error objects have in common.
struct ErrorBody {
  std::string message, type, code, param;
};

std::string shown_at(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump(-1, ' ', false, json::error_handler_t::replace);
}

ErrorBody error_body(const json& body) {
  if (body.is_array()) return body.empty() ? ErrorBody{} : error_body(body.front());
  if (body.is_string()) return {body.get<std::string>(), "", "", ""};
  if (!body.is_object()) return {};
  const auto inner = body.find("error");
  if (inner != body.end() && (inner->is_object() || inner->is_string())) return error_body(*inner);
  ErrorBody error{shown_at(body, "message"), shown_at(body, "type"), shown_at(body, "code"), shown_at(body, "param")};
  if (error.message.empty()) error.message = shown_at(body, "detail");
  if (error.type.empty()) error.type = shown_at(body, "status");
  // A router quotes the service behind it.
  if (const auto behind = body.find("metadata"); behind != body.end() && behind->is_object())
    if (const auto raw = shown_at(*behind, "raw"); !raw.empty()) error.message += ": " + raw;
  return error;
}

template <std::size_t N>
bool one_of(const std::string& word, const std::string_view (&words)[N]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

template <std::size_t N>
bool mentions(std::string text, const std::string_view (&phrases)[N]) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::any_of(std::begin(phrases), std::end(phrases),
                     [&](std::string_view phrase) { return text.find(phrase) != std::string::npos; });
}

constexpr std::string_view no_credit_words[] = {
    "credit_balance_exhausted",          "organization_spend_limit_exceeded", "project_spend_limit_exceeded",
    "organization_usage_limit_exceeded", "insufficient_quota",                "billing_error"};
constexpr std::string_view no_credit_phrases[] = {"credit balance is too low", "spend limit", "insufficient balance"};
constexpr std::string_view too_long_words[] = {"context_length_exceeded", "exceed_context_size_error", "request_too_large"};
constexpr std::string_view too_long_phrases[] = {"prompt is too long",     "context length",  "context size",
                                                 "exceeds the context",    "context window",  "prompt too long",
                                                 "input length exceeds"};
constexpr std::string_view field_words[] = {"unsupported_parameter", "unsupported_value", "unknown_parameter"};

Kind kind_of(int status, const ErrorBody& error) {
  for (const auto& word : {error.code, error.type})
    if (one_of(word, no_credit_words)) return Kind::no_credit;
  const bool refuses = status >= 400 && status < 500 && status != 408 && status != 409 && status != 429;
  if (refuses && mentions(error.message, no_credit_phrases)) return Kind::no_credit;
  for (const auto& word : {error.code, error.type})
    if (one_of(word, too_long_words)) return Kind::too_long;
  if (refuses && mentions(error.message, too_long_phrases)) return Kind::too_long;
  if (status == 400 && one_of(error.code, field_words) && !error.param.empty()) return Kind::field;
  switch (status) {
    case 401:
    case 403: return Kind::denied;
    case 402: return Kind::no_credit;
    case 413: return Kind::too_long;
    case 408:
    case 409:
    case 429: return Kind::passing;
    default: return status >= 500 ? Kind::passing : Kind::rejected;
  }
}

std::string shortened(const std::string& text) {
  std::string result = base::printable(base::trim(text));
  std::replace(result.begin(), result.end(), '\n', ' ');
  if (result.size() > longest_message) result = result.substr(0, longest_message) + "…";
  return result;
}

std::string_view meaning(int status) {
  switch (status) {
    case 401: return "the key is missing or not accepted";
    case 403: return "the key may not do this";
    case 402: return "no credit";
    case 404: return "not found";
    case 429: return "too many requests";
    case 529: return "overloaded";
    default: return "";
  }
}

Trouble described(int status, const std::string& body, bool within) {
  Trouble trouble;
  const auto value = json::parse(body, nullptr, false);
  const ErrorBody error = value.is_discarded() ? ErrorBody{} : error_body(value);
  trouble.kind = kind_of(status, error);
  if (trouble.kind == Kind::field) trouble.field = error.param;
  trouble.message = within ? "answered with an error" : fmt::format("answered {}", status);
  const auto said = shortened(error.message.empty() ? body : error.message);
  if (!said.empty()) trouble.message += ": " + said;
  else if (!meaning(status).empty()) trouble.message += fmt::format(": {}", meaning(status));
  return trouble;
}

int status_within(const ErrorBody& error) {
  int status = 0;
  std::from_chars(error.code.data(), error.code.data() + error.code.size(), status);
  if (status >= 400 && status < 600) return status;
  static constexpr std::pair<std::string_view, int> types[] = {
      {"invalid_request_error", 400}, {"authentication_error", 401}, {"billing_error", 402}, {"permission_error", 403},
      {"not_found_error", 404},       {"conflict", 409},             {"request_too_large", 413}, {"rate_limit_error", 429},
      {"rate_limit_exceeded", 429},   {"timeout_error", 504},        {"overloaded_error", 529}};
  for (const auto& [type, known] : types)
    if (error.type == type || error.code == type) return known;
  return 500;
}

}  // namespace

Trouble trouble_of(const HttpResponse& response) {
  const auto header = [&](const char* name) {
    const auto found = response.headers.find(name);
    return found == response.headers.end() ? std::string() : found->second;
  };
  if (response.status >= 300 && response.status < 400) {
    const auto target = header("location");
    return {Kind::rejected, fmt::format("answered {}, which leads to {}; that is not followed, because keys and source go to the "
                                        "address that was named only (--base-url)",
                                        response.status, target.empty() ? "nowhere" : base::printable(target.substr(0, 300))), "", {}};
  }
  auto trouble = described(response.status, response.body, false);
  // The service knows best, except that no pause mends a request that it does not take.
  if (header("x-should-retry") == "true") trouble.kind = Kind::passing;
  if (header("x-should-retry") == "false" && trouble.kind == Kind::passing) trouble.kind = Kind::rejected;
  if (trouble.kind == Kind::passing)
    trouble.wait = asked_pause(response.headers, std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
  return trouble;
}

Trouble trouble_within(std::string_view error) {
  const std::string body(error);
  const auto value = json::parse(body, nullptr, false);
  return described(value.is_discarded() ? 500 : status_within(error_body(value)), body, true);
}

}  // namespace cudal1::model
