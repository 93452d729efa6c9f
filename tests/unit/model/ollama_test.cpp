// SPDX-License-Identifier: Apache-2.0
#include "asking.hpp"
#include "catch.hpp"

#include "base/error.hpp"
#include "model/address.hpp"

#include <cstdlib>

#include <nlohmann/json.hpp>

using namespace cudal1;
using namespace served;
using nlohmann::json;
using Status = model::Reply::Status;

namespace {

const std::string type = "application/x-ndjson";
std::string done(const std::string& reason, int input, int output) {
  return json{{"model", "m"}, {"message", {{"content", ""}}}, {"done", true}, {"done_reason", reason}, {"prompt_eval_count", input}, {"eval_count", output}}.dump();
}
const std::string text = "{\"message\":{\"content\":\"text\"},\"done\":false}\n";

model::Reply reply_to(const std::string& lines) {
  Desk desk;
  return ask(Server({answer(lines, type)}), "ollama/m", desk);
}

}  // namespace

TEST_CASE("an Ollama request sets the context and forbids cutting the prompt") {
  const Server server({answer(done("stop", 1, 1), type)});
  Desk desk;
  desk.settings.context_tokens = 8192;
  ask(server, "ollama/qwen3:8b", desk);
  desk.settings.effort = "high";
  desk.settings.output_tokens = 100;
  ask(server, "ollama/hf.co/x/y", desk);
  const auto first = json::parse(server.requests()[0].body), second = json::parse(server.requests()[1].body);
  CHECK(first["model"] == "qwen3:8b");
  CHECK(first["stream"] == true);
  CHECK(first["truncate"] == false);
  CHECK(first["shift"] == false);
  CHECK(first["options"]["num_ctx"] == 8192);
  CHECK(first["options"]["num_predict"] == 8192 - 6);  // what the prompt leaves
  CHECK_FALSE(first.contains("think"));
  CHECK(first["messages"][0] == json{{"role", "system"}, {"content", "The rules."}});
  CHECK(second["model"] == "hf.co/x/y");
  CHECK(second["think"] == "high");
  CHECK(second["options"]["num_predict"] == 256);
}

TEST_CASE("a prompt that does not fit Ollama's context is an error that says what to raise") {
  const Server server({failure(400, R"({"error":"the prompt is longer than the context length"})")});
  Desk desk;
  const auto reply = ask(server, "ollama/m", desk);
  CHECK(reply.status == Status::rejected);
  CHECK_THAT(reply.reason, containing("prompt is too long") && containing("--context-tokens, now 32768"));
}

TEST_CASE("a reply that fills the context is told from one that reached its own limit") {
  CHECK_THAT(reply_to(text + done("length", 32000, 768)).reason, containing("filled its context"));
  CHECK_THAT(reply_to(text + done("length", 100, 200)).reason, containing("--output-tokens"));
  CHECK(reply_to(text + done("load", 0, 0)).status == Status::truncated);
}

TEST_CASE("Ollama's errors, before and within an answer, and a last line without an end") {
  CHECK(reply_to(text + done("stop", 9, 2)).text == "text");
  CHECK(reply_to(text + R"({"error":"out of memory"})").status == Status::unreachable);
  CHECK_THAT(reply_to(text + R"({"error":"out of memory"})").reason, containing("out of memory"));
  CHECK(reply_to(text).status == Status::unreachable);
  Desk desk;
  const Server missing({failure(404, R"({"error":"model 'm' not found"})")});
  CHECK_THAT(ask(missing, "ollama/m", desk).reason, containing("`ollama pull m`"));
  const Server busy({failure(503, R"({"error":"server busy, please try again.  maximum pending requests exceeded"})", {"retry-after-ms: 1"}), answer(text + done("stop", 1, 2), type)});
  desk.settings.retries = 1;
  CHECK(ask(busy, "ollama/m", desk).text == "text");
}

TEST_CASE("a prompt of which Ollama read less than half is remarked on") {
  const Server server({answer(text + done("stop", 2, 1), type), answer(text + done("stop", 3, 1), type)});
  Desk desk;
  CHECK(ask(server, "ollama/m", desk).status == Status::ok);
  REQUIRE(desk.notes.size() == 1);
  CHECK_THAT(desk.notes[0], containing("read 2 tokens of a prompt of about 6") && containing("--context-tokens"));
  CHECK(ask(server, "ollama/m", desk).status == Status::ok);
  CHECK(desk.notes.size() == 1);
}

TEST_CASE("usage is estimated where Ollama leaves it out") {
  const auto usage = reply_to(text + R"({"done":true,"done_reason":"stop"})").usage;
  CHECK(usage.input_tokens == 6);
  CHECK(usage.output_tokens == 1);
}

TEST_CASE("OLLAMA_HOST is read as Ollama reads it") {
  const auto url = [](const char* text_) { return model::parse_ollama_host(text_).url("/api/chat"); };
  CHECK(url("myhost") == "http://myhost:11434/api/chat");
  CHECK(url("1.2.3.4:5678") == "http://1.2.3.4:5678/api/chat");
  CHECK(url("http://myhost") == "http://myhost/api/chat");
  CHECK(url("https://myhost/") == "https://myhost/api/chat");
  CHECK(url("0.0.0.0") == "http://127.0.0.1:11434/api/chat");
  CHECK(url("0.0.0.0:99") == "http://127.0.0.1:99/api/chat");
  CHECK(url("[::1]:99") == "http://[::1]:99/api/chat");
  CHECK(url("::") == "http://[::1]:11434/api/chat");
  CHECK(url("ollama.com") == "https://ollama.com/api/chat");
}
