// SPDX-License-Identifier: Apache-2.0
#include "model/anthropic.hpp"

#include "base/text.hpp"
#include "model/json_access.hpp"
#include "model/request_fields.hpp"
#include "model/server_events.hpp"
#include "model/service.hpp"

#include <cstdlib>

#include <fmt/format.h>

namespace cudal1::model {

namespace {

using nlohmann::json;
using End = Transcript::End;

End end_of(const std::string& reason) {
  if (reason == "end_turn" || reason == "stop_sequence") return End::stop;
  if (reason == "max_tokens") return End::length;
  if (reason == "model_context_window_exceeded") return End::context;
  if (reason == "refusal") return End::refusal;
  return End::unknown;
}

// A stream of events, or the one message of a server that does not stream.
class MessageReader final : public Reader {
 public:
  bool feed(std::string_view bytes) override {
    whole_.append(bytes.substr(0, streams_ ? 0 : bytes.size()));
    const auto begin = base::trim(whole_);
    if (!streams_ && (begin.empty() || begin.front() == '{')) return !begin.empty();
    const auto before = parts_;
    if (streams_) events_.feed(bytes);
    else events_.feed(std::exchange(whole_, {}));
    streams_ = true;
    return parts_ > before;
  }

  void finish() override {
    if (streams_) events_.finish();
    else if (!base::trim(whole_).empty()) take(whole_);
    if (!stopped_) transcript.end = End::none;
    auto& usage = transcript.usage;
    usage.input_tokens = fresh_ + usage.cached_tokens + transcript.cache_writes;  // its own count leaves both out
  }

 private:
  void take(const std::string& data) {
    const auto event = json::parse(data, nullptr, false);
    const auto type = text_at(event, "type");
    if (type == "ping") return;
    ++parts_;
    if (stopped_ || transcript.trouble) return;
    if (!event.is_object()) {
      transcript.trouble = Trouble{Trouble::Kind::passing, "sent what is no JSON: " + beginning(data), "", {}};
    } else if (type == "error") {
      transcript.trouble = trouble_within(data);
    } else if (type == "message") {
      for (const auto& block : member(event, "content")) take_block(block);
      take_message(event);
      take_end(event);
      stopped_ = true;
    } else if (type == "message_start") {
      take_message(member(event, "message"));
    } else if (type == "content_block_start") {
      take_block(member(event, "content_block"));
    } else if (type == "content_block_delta") {
      take_block(member(event, "delta"));
    } else if (type == "message_delta") {
      take_end(member(event, "delta"));
      take_usage(member(event, "usage"));
    } else if (type == "message_stop") {
      stopped_ = true;
      if (transcript.end == End::none) transcript.end = End::unknown;
    }
  }

  void take_message(const json& message) {
    transcript.served = text_at(message, "model");
    take_usage(member(message, "usage"));
  }

  // A block at its beginning, or what is added to one.
  void take_block(const json& block) {
    const auto type = text_at(block, "type");
    if (type == "text" || type == "text_delta") transcript.text += text_at(block, "text");
    if (type == "thinking" || type == "thinking_delta") transcript.reasoning += text_at(block, "thinking");
  }

  void take_end(const json& delta) {
    auto reason = text_at(delta, "stop_reason");
    if (reason.empty()) return;
    transcript.end = end_of(reason);
    transcript.finish = std::move(reason);
    if (transcript.end != End::refusal) return;
    const auto& details = member(delta, "stop_details");
    const auto category = text_at(details, "category");
    const auto explanation = text_at(details, "explanation");
    transcript.refusal = fmt::format("category {}{}{}", category.empty() ? "not told" : category, explanation.empty() ? "" : ", ", explanation);
  }

  // Counts are sums so far: a later one replaces an earlier one.
  void take_usage(const json& usage) {
    if (!usage.is_object()) return;
    transcript.counted = true;
    auto& counts = transcript.usage;
    fresh_ = count_at(usage, "input_tokens").value_or(fresh_);
    counts.cached_tokens = count_at(usage, "cache_read_input_tokens").value_or(counts.cached_tokens);
    transcript.cache_writes = count_at(usage, "cache_creation_input_tokens").value_or(transcript.cache_writes);
    counts.output_tokens = count_at(usage, "output_tokens").value_or(counts.output_tokens);
    const auto& details = member(usage, "output_tokens_details");
    counts.reasoning_tokens = count_at(details, "thinking_tokens").value_or(counts.reasoning_tokens);
  }

  bool streams_ = false, stopped_ = false;
  std::string whole_;
  long long fresh_ = 0;
  int parts_ = 0;
  ServerEvents events_{[this](const std::string&, const std::string& data) { take(data); }};
};

class Messages final : public Dialect {
 public:
  Messages(std::string model, bool bearer, const Settings& settings)
      : model_(std::move(model)), bearer_(bearer), settings_(settings) {}

  std::string path() const override { return "/v1/messages"; }
  std::string list_path() const override { return "/v1/models?limit=1000"; }

  std::vector<std::string> headers(const Secret* key) const override {
    std::vector<std::string> headers = {"anthropic-version: 2023-06-01"};
    if (key != nullptr) headers.push_back((bearer_ ? "Authorization: Bearer " : "x-api-key: ") + key->reveal());
    return headers;
  }

  std::string body(const Question& question) const override {
    nlohmann::ordered_json request = {{"model", model_}, {"max_tokens", settings_.output_tokens}, {"stream", true}};
    // The fixed rules are what requests share, so they are what is worth keeping in the service's cache.
    request["system"] = nlohmann::ordered_json::array(
        {{{"type", "text"}, {"text", question.system}, {"cache_control", {{"type", "ephemeral"}}}}});
    request["messages"] = nlohmann::ordered_json::array({{{"role", "user"}, {"content", question.user}}});
    if (!settings_.effort.empty()) {
      request["thinking"] = {{"type", "adaptive"}, {"display", "summarized"}};
      request["output_config"] = {{"effort", settings_.effort}};
    }
    add_request_fields(settings_, request);
    return request.dump(-1, ' ', false, json::error_handler_t::replace);
  }

  std::unique_ptr<Reader> reader(const Question&) const override { return std::make_unique<MessageReader>(); }

 private:
  std::string model_;
  bool bearer_;
  Settings settings_;
};

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

std::unique_ptr<Model> open_anthropic(const std::string& name, const Settings& settings) {
  ServiceOptions options;
  options.name = "anthropic/" + name;
  options.place = find_place("anthropic/", "https://api.anthropic.com", {"ANTHROPIC_BASE_URL"},
                             {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"}, settings);
  auto& path = options.place.address.path;
  for (const std::string_view end : {"/messages", "/v1"})
    if (path.ends_with(end)) path.resize(path.size() - end.size());
  const bool usual = settings.key_command.empty() && settings.key_variable.empty();
  const bool bearer = settings.key_variable == "ANTHROPIC_AUTH_TOKEN" || (usual && !is_set("ANTHROPIC_API_KEY"));
  options.dialect = std::make_unique<Messages>(name, bearer, settings);
  return open_service(std::move(options), settings);
}

}  // namespace cudal1::model
