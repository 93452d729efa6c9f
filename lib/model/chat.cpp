// SPDX-License-Identifier: Apache-2.0
#include "model/chat.hpp"

#include "base/text.hpp"
#include "model/json_access.hpp"
#include "model/request_fields.hpp"
#include "model/server_events.hpp"

#include <cstdlib>
#include <optional>

#include <fmt/format.h>

namespace cudal1::model {

namespace {

using nlohmann::json;
using End = Transcript::End;

// A text, or a list of parts with texts.
std::string content(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  std::string text;
  if (value.is_array())
    for (const auto& part : value) text += text_at(part, "text");
  return text;
}

// Servers have put reasoning into three places; some fill two of them with the same.
std::string reasoning(const json& delta) {
  for (const char* name : {"reasoning_content", "reasoning"})
    if (auto text = text_at(delta, name); !text.empty()) return text;
  std::string text;
  for (const auto& detail : member(delta, "reasoning_details")) {
    text += text_at(detail, "text");
    text += text_at(detail, "summary");
  }
  return text;
}

End end_of(const std::string& finish) {
  if (finish == "stop") return End::stop;
  if (finish == "length") return End::length;
  if (finish == "content_filter") return End::filter;
  return End::unknown;
}

// A stream of events. A server that does not stream sends one object, perhaps after empty lines that keep the connection.
class ChatReader final : public Reader {
 public:
  bool feed(std::string_view bytes) override {
    if (!streams_) {
      whole_.append(bytes);
      const auto begin = base::trim(whole_);
      if (begin.empty()) return false;
      if (begin.front() == '{' || begin.front() == '[') return true;
      streams_ = true;
      const auto before = parts_;
      events_.feed(std::exchange(whole_, {}));
      return parts_ > before;
    }
    const auto before = parts_;
    events_.feed(bytes);
    return parts_ > before;
  }

  void finish() override {
    if (streams_) {
      events_.finish();
      if (!done_) transcript.end = End::none;
    } else if (!base::trim(whole_).empty()) {
      take(whole_);
    }
    if (transcript.end == End::stop && !transcript.refusal.empty()) transcript.end = End::refusal;
  }

 private:
  void take(const std::string& data) {
    ++parts_;
    if (done_ || transcript.trouble) return;
    if (base::trim(data) == "[DONE]") {
      done_ = true;
      if (transcript.end == End::none) transcript.end = End::unknown;
      return;
    }
    const auto chunk = json::parse(data, nullptr, false);
    if (!chunk.is_object() && !chunk.is_array()) {
      transcript.trouble = Trouble{Trouble::Kind::passing, "sent what is no JSON: " + beginning(data), "", {}};
      return;
    }
    if (chunk.is_array() || !member(chunk, "error").is_null()) {
      transcript.trouble = trouble_within(data);
      return;
    }
    if (auto served = text_at(chunk, "model"); !served.empty()) transcript.served = std::move(served);
    take_usage(member(chunk, "usage"));
    for (const auto& choice : member(chunk, "choices"))
      if (count_at(choice, "index").value_or(0) == 0) take_choice(choice);
  }

  void take_choice(const json& choice) {
    for (const char* name : {"delta", "message"}) {
      const auto& delta = member(choice, name);
      transcript.text += content(member(delta, "content"));
      transcript.refusal += text_at(delta, "refusal");
      transcript.reasoning += reasoning(delta);
    }
    if (auto finish = text_at(choice, "finish_reason"); !finish.empty()) {
      transcript.end = end_of(finish);
      transcript.finish = std::move(finish);
    }
  }

  void take_usage(const json& usage) {
    if (!usage.is_object()) return;
    auto& counts = transcript.usage;
    if (const auto input = count_at(usage, "prompt_tokens")) {
      counts.input_tokens = *input;
      transcript.counted = true;
    }
    counts.output_tokens = count_at(usage, "completion_tokens").value_or(counts.output_tokens);
    const auto& input = member(usage, "prompt_tokens_details");
    counts.cached_tokens = count_at(input, "cached_tokens").value_or(count_at(usage, "prompt_cache_hit_tokens").value_or(0));
    transcript.cache_writes = count_at(input, "cache_write_tokens").value_or(0);
    counts.reasoning_tokens = count_at(member(usage, "completion_tokens_details"), "reasoning_tokens").value_or(0);
    if (const auto& cost = member(usage, "cost"); cost.is_number() && cost.get<double>() >= 0) transcript.cost = cost.get<double>();
  }

  bool streams_ = false, done_ = false;
  std::string whole_;
  int parts_ = 0;
  ServerEvents events_{[this](const std::string&, const std::string& data) { take(data); }};
};

class Chat final : public Dialect {
 public:
  Chat(const ChatServer& server, std::string model, const Settings& settings)
      : server_(server), model_(std::move(model)), settings_(settings) {}

  std::string path() const override { return "/chat/completions"; }
  std::string list_path() const override { return "/models"; }

  std::vector<std::string> headers(const Secret* key) const override {
    std::vector<std::string> headers;
    if (key == nullptr) return headers;
    headers.push_back("Authorization: Bearer " + key->reveal());
    if (server_.prefix == "openai/")
      for (const auto& [variable, name] : {std::pair{"OPENAI_ORG_ID", "OpenAI-Organization"}, {"OPENAI_PROJECT_ID", "OpenAI-Project"}})
        if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
          headers.push_back(fmt::format("{}: {}", name, base::printable(value)));
    return headers;
  }

  std::string body(const Question& question) const override {
    nlohmann::ordered_json request = {{"model", model_}, {"stream", true}, {"stream_options", {{"include_usage", true}}}};
    if (server_.pads) request["stream_options"]["include_obfuscation"] = false;
    request[server_.limit_field] = settings_.output_tokens;
    if (server_.asks_for_cost) request["usage"] = {{"include", true}};
    if (!settings_.effort.empty()) {
      if (server_.effort == ChatServer::Effort::object) request["reasoning"] = {{"effort", settings_.effort}};
      else request["reasoning_effort"] = settings_.effort;
      if (server_.effort == ChatServer::Effort::thinking) request["thinking"] = {{"type", "enabled"}};
    }
    if (settings_.send_seed) request["seed"] = question.seed >> 33;  // servers want it to fit 32 bits with a sign
    add_request_fields(settings_, request);
    request["messages"] = {{{"role", server_.rules_role}, {"content", question.system}}, {{"role", "user"}, {"content", question.user}}};
    return request.dump(-1, ' ', false, json::error_handler_t::replace);
  }

  std::unique_ptr<Reader> reader(const Question&) const override { return std::make_unique<ChatReader>(); }

 private:
  const ChatServer& server_;
  std::string model_;
  Settings settings_;
};

}  // namespace

std::unique_ptr<Dialect> chat_dialect(const ChatServer& server, const std::string& model, const Settings& settings) {
  return std::make_unique<Chat>(server, model, settings);
}

}  // namespace cudal1::model
