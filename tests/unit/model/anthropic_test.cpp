// SPDX-License-Identifier: Apache-2.0
#include "asking.hpp"
#include "catch.hpp"

#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace cudal1;
using namespace served;
using nlohmann::json;
using Status = model::Reply::Status;

namespace {

std::string event(const std::string& data) { return "event: " + json::parse(data)["type"].get<std::string>() + "\ndata: " + data + "\n\n"; }
const std::string start = event(R"({"type":"message_start","message":{"model":"m-1","content":[],"usage":{"input_tokens":300,"cache_creation_input_tokens":100,"cache_read_input_tokens":2048,"output_tokens":1}}})");
const std::string text = event(R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":"te"}})") +
                         event(R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"xt"}})");
const std::string stop = event(R"({"type":"message_stop"})");

model::Reply reply_to(const std::string& stream) {
  Desk desk;
  return ask(Server({answer(stream)}), "anthropic/m", desk);
}
model::Reply ended(const std::string& delta) {
  return reply_to(start + text + event(R"({"type":"message_delta","delta":)" + delta + R"(,"usage":{"output_tokens":7}})") + stop);
}

}  // namespace

TEST_CASE("a Messages request holds what it must, and thinking only when an effort is asked for") {
  const Server server({answer(start + stop)});
  Desk desk;
  desk.settings.output_tokens = 1234;
  ask(server, "anthropic/claude-x", desk);
  desk.settings.effort = "high";
  ask(server, "anthropic/claude-x", desk);
  const auto requests = server.requests();
  CHECK(requests[0].headers.at("anthropic-version") == "2023-06-01");
  const auto plain = json::parse(requests[0].body), thinking = json::parse(requests[1].body);
  CHECK(plain["model"] == "claude-x");
  CHECK(plain["max_tokens"] == 1234);
  CHECK(plain["stream"] == true);
  CHECK(plain["system"][0] == json{{"type", "text"}, {"text", "The rules."}, {"cache_control", {{"type", "ephemeral"}}}});
  CHECK(plain["messages"] == json::array({{{"role", "user"}, {"content", "The task."}}}));
  for (const char* name : {"thinking", "output_config", "temperature", "n", "seed"}) CHECK_FALSE(plain.contains(name));
  CHECK(thinking["thinking"] == json{{"type", "adaptive"}, {"display", "summarized"}});
  CHECK(thinking["output_config"]["effort"] == "high");
}

TEST_CASE("the kind of key decides its header, and a base URL may end in /v1") {
  ::setenv("PLANTED_KEY", "sk-ant-planted", 1);
  ::setenv("ANTHROPIC_AUTH_TOKEN", "token-planted", 1);
  const Server server({answer(start + stop)});
  Desk desk;
  for (const std::string variable : {"PLANTED_KEY", "ANTHROPIC_AUTH_TOKEN"}) {
    desk.settings.key_variable = variable;
    desk.settings.base_url = server.url() + "/v1/";
    model::open("anthropic/m", desk.settings, model::providers())->answer(question(), {});
  }
  ::unsetenv("ANTHROPIC_AUTH_TOKEN");
  const auto requests = server.requests();
  CHECK(requests[0].line == "POST /v1/messages HTTP/1.1");
  CHECK(requests[0].headers.at("x-api-key") == "sk-ant-planted");
  CHECK_FALSE(requests[0].headers.contains("authorization"));
  CHECK(requests[1].headers.at("authorization") == "Bearer token-planted");
}

TEST_CASE("usage adds what was cached, and later counts replace earlier ones") {
  const auto reply = ended(R"({"stop_reason":"end_turn"})");
  CHECK(reply.status == Status::ok);
  CHECK(reply.text == "text");
  CHECK(reply.usage.input_tokens == 2448);
  CHECK(reply.usage.cached_tokens == 2048);
  CHECK(reply.usage.output_tokens == 7);
}

TEST_CASE("a prompt of no tokens, as llama.cpp counts one that it has yet to read, is estimated") {
  const auto reply = reply_to(event(R"({"type":"message_start","message":{"usage":{"input_tokens":0,"output_tokens":0}}})") + text +
                              event(R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}})") + stop);
  CHECK(reply.usage.input_tokens == 6);
  CHECK(reply.usage.output_tokens == 7);
}

TEST_CASE("every stop reason of a message has its status") {
  CHECK(ended(R"({"stop_reason":"stop_sequence"})").status == Status::ok);
  CHECK(ended(R"({"stop_reason":"max_tokens"})").status == Status::truncated);
  CHECK_THAT(ended(R"({"stop_reason":"model_context_window_exceeded"})").reason, containing("filled its context"));
  for (const char* reason : {"tool_use", "pause_turn", "compaction"}) {
    const auto reply = ended(fmt::format("{{\"stop_reason\":\"{}\"}}", reason));
    CHECK(reply.status == Status::truncated);
    CHECK_THAT(reply.reason, containing(reason));
  }
}

TEST_CASE("a refusal is a value with its category") {
  for (const std::string category : {"cyber", "bio", "frontier_llm", "reasoning_extraction", "general_harms"}) {
    const auto reply = ended(R"({"stop_reason":"refusal","stop_details":{"type":"refusal","category":")" + category + R"(","explanation":"because"}})");
    CHECK(reply.status == Status::refused);
    CHECK_THAT(reply.reason, containing("category " + category + ", because"));
  }
  CHECK_THAT(ended(R"({"stop_reason":"refusal","stop_details":{"type":"refusal","category":null,"explanation":null}})").reason, containing("category not told"));
  CHECK_THAT(ended(R"({"stop_reason":"refusal"})").reason, containing("category not told"));
}

TEST_CASE("unknown events and blocks are passed over, and a stream without its end is not complete") {
  const auto reply = reply_to(start + event(R"({"type":"ping"})") + event(R"({"type":"new_thing","x":1})") +
                              event(R"({"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"zz"}})") +
                              event(R"({"type":"content_block_delta","index":0,"delta":{"type":"new_delta","text":"no"}})") + text +
                              event(R"({"type":"message_delta","delta":{"stop_reason":"end_turn"}})") + stop);
  CHECK(reply.text == "text");
  CHECK(reply_to(start + text + event(R"({"type":"message_delta","delta":{"stop_reason":"end_turn"}})")).status == Status::unreachable);
}

TEST_CASE("an error event after some text is classed by its type") {
  const auto failed = [](const std::string& type) {
    return reply_to(start + text + event(R"({"type":"error","error":{"type":")" + type + R"(","message":"m"}})")).status;
  };
  CHECK(failed("overloaded_error") == Status::unreachable);
  CHECK(failed("api_error") == Status::unreachable);
  CHECK(failed("invalid_request_error") == Status::rejected);
  CHECK(failed("authentication_error") == Status::denied);
  CHECK(failed("billing_error") == Status::no_credit);
  CHECK(failed("request_too_large") == Status::rejected);
}

TEST_CASE("a message that is not streamed is understood") {
  const auto reply = reply_to(R"({"type":"message","model":"m-1","content":[{"type":"thinking","thinking":"why","signature":""},{"type":"text","text":"te"},{"type":"text","text":"xt"}],"stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":6}})");
  CHECK(reply.status == Status::ok);
  CHECK(reply.text == "text");
  CHECK(reply.reasoning == "why");
  CHECK(reply.usage.output_tokens == 6);
}
