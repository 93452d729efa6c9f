// SPDX-License-Identifier: Apache-2.0
#include "asking.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace served {

using namespace cudal1;

namespace {

std::string chat_event(const std::string& delta, const std::string& finish = "null") {
  return fmt::format("data: {{\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"m-1\",\"obfuscation\":\"xx\",\"choices\":"
                     "[{{\"index\":0,\"delta\":{{{}}},\"finish_reason\":{}}}]}}\n\n",
                     delta, finish);
}

constexpr const char* chat_usage =
    "data: {\"id\":\"c1\",\"choices\":[],\"usage\":{\"prompt_tokens\":812,\"completion_tokens\":240,\"total_tokens\":1052,"
    "\"prompt_tokens_details\":{\"cached_tokens\":512},\"completion_tokens_details\":{\"reasoning_tokens\":128}}}\n\ndata: [DONE]\n\n";

std::string chat_begun(const std::string& text) { return chat_event("\"role\":\"assistant\",\"content\":\"\"") + chat_event("\"content\":" + quoted(text)); }
std::string chat_said(const std::string& text, const std::string& end) {
  return chat_begun(text) + chat_event("", quoted(end)) + chat_usage;
}
std::string chat_thought(const std::string& thought, const std::string& text) {
  return chat_event("\"reasoning_content\":" + quoted(thought)) + chat_said(text, "stop");
}

std::string message_event(const std::string& type, const std::string& rest) {
  return fmt::format("event: {}\ndata: {{\"type\":\"{}\"{}{}}}\n\n", type, type, rest.empty() ? "" : ",", rest);
}
std::string block(int index, const std::string& kind, const std::string& member, const std::string& text) {
  return message_event("content_block_start", fmt::format("\"index\":{},\"content_block\":{{\"type\":\"{}\",\"{}\":\"\"}}", index, kind, member)) +
         message_event("ping", "") +
         message_event("content_block_delta", fmt::format("\"index\":{},\"delta\":{{\"type\":\"{}_delta\",\"{}\":{}}}", index, kind, member, quoted(text))) +
         message_event("content_block_stop", fmt::format("\"index\":{}", index));
}
const std::string message_start = message_event(
    "message_start",
    "\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m-1\",\"content\":[],\"stop_reason\":null,"
    "\"usage\":{\"input_tokens\":300,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":512,\"output_tokens\":1}}");
std::string message_end(const std::string& end) {
  const std::string reason = end == "stop" ? "end_turn" : end == "length" ? "max_tokens" : end;
  return message_event("message_delta",
                       fmt::format("\"delta\":{{\"stop_reason\":{}}},\"usage\":{{\"output_tokens\":240,\"output_tokens_details\":"
                                   "{{\"thinking_tokens\":128}}}}",
                                   quoted(reason))) +
         message_event("message_stop", "");
}
std::string message_begun(const std::string& text) { return message_start + block(0, "text", "text", text); }
std::string message_said(const std::string& text, const std::string& end) { return message_begun(text) + message_end(end); }
std::string message_thought(const std::string& thought, const std::string& text) {
  return message_start + block(0, "thinking", "thinking", thought) +
         message_event("content_block_delta", "\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"c2ln\"}") +
         block(1, "text", "text", text) + message_end("stop");
}

std::string line(const std::string& member, const std::string& text) {
  return fmt::format("{{\"model\":\"m-1\",\"created_at\":\"2026-01-01T00:00:00Z\",\"message\":{{\"role\":\"assistant\",\"{}\":{}}},\"done\":false}}\n",
                     member, quoted(text));
}
std::string line_begun(const std::string& text) { return line("content", text); }
std::string line_said(const std::string& text, const std::string& end) {
  return line_begun(text) +
         fmt::format("{{\"model\":\"m-1\",\"message\":{{\"role\":\"assistant\",\"content\":\"\"}},\"done\":true,\"done_reason\":{},"
                     "\"total_duration\":9,\"prompt_eval_count\":812,\"eval_count\":240}}\n",
                     quoted(end));
}
std::string line_thought(const std::string& thought, const std::string& text) { return line("thinking", thought) + line_said(text, "stop"); }

}  // namespace

Desk::Desk() {
  settings.note = [this](const std::string& text) {
    const std::lock_guard lock(mutex_);
    notes.push_back(text);
  };
  settings.trace = [this](const std::string& text) {
    const std::lock_guard lock(mutex_);
    traces.push_back(text);
  };
  settings.connect_limit = Seconds(2);
  settings.first_byte_limit = Seconds(5);
  settings.idle_limit = Seconds(5);
  settings.retries = 0;
}

std::string Desk::said() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto* list : {&notes, &traces})
    for (const auto& one : *list) text += one + '\n';
  return text;
}

model::Reply ask(const Server& server, const std::string& name, Desk& desk, const std::stop_token& stop) {
  desk.settings.base_url = server.url();
  return model::open(name, desk.settings, model::providers())->answer(question(), stop);
}

model::Question question(int sample) {
  model::Question result;
  result.key = {1, sample, 0};
  result.system = "The rules.";
  result.user = "The task.";
  return result;
}

const std::vector<Spoken>& all_spoken() {
  static const std::vector<Spoken> list = {
      {"compat/m", "/v1/chat/completions", "text/event-stream", chat_said, chat_begun, chat_thought},
      {"anthropic/m", "/v1/messages", "text/event-stream", message_said, message_begun, message_thought},
      {"ollama/m", "/api/chat", "application/x-ndjson", line_said, line_begun, line_thought}};
  return list;
}

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

}  // namespace served
