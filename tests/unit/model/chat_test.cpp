// SPDX-License-Identifier: Apache-2.0
#include "asking.hpp"
#include "catch.hpp"

#include "base/file.hpp"
#include "model/chat_server.hpp"

#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace cudal1;
using namespace served;
using nlohmann::json;
using Status = model::Reply::Status;

namespace {

std::string event(const std::string& choice) { return "data: {\"choices\":[" + choice + "]}\n\n"; }
const std::string stop = event(R"({"index":0,"delta":{},"finish_reason":"stop"})"), done = "data: [DONE]\n\n";

model::Reply reply_to(const std::string& stream, Desk& desk) { return ask(Server({answer(stream)}), "compat/m", desk); }
model::Reply reply_to(const std::string& stream) {
  Desk desk;
  return reply_to(stream, desk);
}

}  // namespace

TEST_CASE("a chat request holds what each server wants and nothing else") {
  Desk desk;
  desk.settings.with_keys = false;
  for (const auto& kind : model::chat_servers()) {
    INFO(kind.prefix);
    const Server server({answer(stop + done)});
    // The server's own row is taken at its own address only, so its settings are tried through the list.
    auto here = kind;
    here.address = server.url() + "/v1";
    desk.settings.base_url = "";
    desk.settings.effort = "high";
    desk.settings.output_tokens = 1234;
    model::open_chat(here, "some/model", desk.settings)->answer(question(), {});
    REQUIRE(server.requests().size() == 1);
    const auto body = json::parse(server.requests()[0].body);
    CHECK(body["model"] == "some/model");
    CHECK(body["stream"] == true);
    CHECK(body["stream_options"]["include_usage"] == true);
    CHECK(body["stream_options"].contains("include_obfuscation") == (kind.prefix == "openai/"));
    CHECK(body[kind.prefix == "openai/" ? "max_completion_tokens" : "max_tokens"] == 1234);
    CHECK(body.contains("max_tokens") != body.contains("max_completion_tokens"));
    CHECK(body["messages"][0] == json{{"role", kind.prefix == "openai/" ? "developer" : "system"}, {"content", "The rules."}});
    CHECK(body["messages"][1] == json{{"role", "user"}, {"content", "The task."}});
    CHECK((kind.prefix == "openrouter/" ? body["reasoning"]["effort"] : body["reasoning_effort"]) == "high");
    CHECK(body.contains("thinking") == (kind.prefix == "deepseek/"));
    for (const char* name : {"temperature", "top_p", "n", "seed"}) CHECK_FALSE(body.contains(name));
  }
}

TEST_CASE("temperature, top-p and fields of the user's own go into every request") {
  for (const Spoken& spoken : all_spoken()) {
    CAPTURE(spoken.name);
    const Server server({answer(spoken.said("Here.", "stop"), spoken.type)});
    Desk desk;
    desk.settings.temperature = 0.6;
    desk.settings.top_p = 0.95;
    desk.settings.request_fields = {"top_k=40", "options.min_p=0.05", "note=plain words"};
    ask(server, spoken.name, desk);
    REQUIRE_FALSE(server.requests().empty());
    const auto body = json::parse(server.requests()[0].body);
    const json& sampling = spoken.name.starts_with("ollama/") ? body["options"] : body;
    CHECK(sampling["temperature"] == 0.6);
    CHECK(sampling["top_p"] == 0.95);
    CHECK(body["top_k"] == 40);
    CHECK(body["options"]["min_p"] == 0.05);
    CHECK(body["note"] == "plain words");
  }
  CHECK_THROWS(cudal1::model::check_request_field("=3"));
}

TEST_CASE("a seed is sent when it is asked for") {
  const Server server({answer(stop + done)});
  Desk desk;
  desk.settings.send_seed = true;
  ask(server, "compat/m", desk);
  CHECK(json::parse(server.requests()[0].body)["seed"].is_number_integer());
}

TEST_CASE("a base URL may end before or after /v1") {
  for (const std::string end : {"", "/", "/v1", "/v1/", "/v1/chat/completions", "/api/v3"}) {
    const Server server({answer(stop + done)});
    Desk desk;
    desk.settings.base_url = server.url() + end;
    model::open("compat/m", desk.settings, model::providers())->answer(question(), {});
    CHECK(server.requests()[0].line == fmt::format("POST {}/chat/completions HTTP/1.1", end == "/api/v3" ? end : "/v1"));
  }
}

TEST_CASE("reasoning is found in every place, once") {
  const std::string text = event(R"({"index":0,"delta":{"content":"answer"}})");
  for (const std::string delta : {R"("reasoning_content":"why")", R"("reasoning":"why")", R"("reasoning_details":[{"type":"reasoning.text","text":"why"}])",
                                  R"("reasoning_details":[{"type":"reasoning.summary","summary":"why"}])",
                                  R"("reasoning":"why","reasoning_details":[{"text":"why"}])"}) {
    INFO(delta);
    const auto reply = reply_to(event("{\"index\":0,\"delta\":{" + delta + "}}") + text + stop + done);
    CHECK(reply.reasoning == "why");
    CHECK(reply.text == "answer");
  }
}

TEST_CASE("usage is read in each server's form, and estimated where none comes") {
  const std::string text = event(R"({"index":0,"delta":{"content":"12345678"}})");
  const auto usage = [&](const std::string& members) {
    return reply_to(text + stop + "data: {\"choices\":[],\"usage\":{" + members + "}}\n\n" + done).usage;
  };
  auto counted = usage(R"("prompt_tokens":100,"completion_tokens":7,"prompt_cache_hit_tokens":60,"prompt_cache_miss_tokens":40)");
  CHECK(counted.cached_tokens == 60);
  counted = usage(R"("prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":null,"completion_tokens_details":{"reasoning_tokens":3})");
  CHECK(counted.input_tokens == 100);
  CHECK(counted.reasoning_tokens == 3);
  CHECK(usage(R"("prompt_tokens":100,"completion_tokens":7,"cost":0.25)").cost == 0.25);
  CHECK(usage(R"("prompt_tokens":-5,"completion_tokens":"many")").output_tokens == 2);
  CHECK(reply_to(text + stop + done).usage.input_tokens == 6);  // «The rules.» and «The task.»
}

TEST_CASE("other samples, unknown fields and padding do not get into the text") {
  const auto reply = reply_to(R"(data: {"obfuscation":"zz","new":1,"choices":[{"index":1,"delta":{"content":"B"}},{"index":0,"delta":{"content":"A","audio":{}},"logprobs":null}]})"
                              "\n\n" + event(R"({"index":0,"delta":{"content":[{"type":"text","text":"C"}],"tool_calls":[{}]}})") + stop + done + event(R"({"index":0,"delta":{"content":"late"}})"));
  CHECK(reply.status == Status::ok);
  CHECK(reply.text == "AC");
}

TEST_CASE("every end of a chat has its status") {
  const auto ends = [](const std::string& finish, const std::string& delta = "") {
    return reply_to(event(R"({"index":0,"delta":{"content":"text"}})") + event("{\"index\":0,\"delta\":{" + delta + "},\"finish_reason\":\"" + finish + "\"}") + done);
  };
  CHECK(ends("stop").status == Status::ok);
  CHECK(ends("length").status == Status::truncated);
  CHECK(ends("content_filter").status == Status::refused);
  CHECK_THAT(ends("content_filter").reason, containing("content filter"));
  CHECK(ends("tool_calls").status == Status::truncated);
  CHECK(ends("stop", R"("refusal":"I can't help.")").status == Status::refused);
  CHECK_THAT(ends("stop", R"("refusal":"I can't help.")").reason, containing("I can't help."));
  CHECK(reply_to(event(R"({"index":0,"delta":{"content":"text"}})") + done).status == Status::truncated);
  CHECK(reply_to(event(R"({"index":0,"delta":{"content":"text"},"finish_reason":"stop"})")).status == Status::unreachable);  // no [DONE]
}

TEST_CASE("a server that does not stream is understood, also after empty lines") {
  for (const std::string before : {"", "\n\n\n"}) {
    const Server server({bytewise(before + R"({"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"text","reasoning_content":"why"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":6}})",
                                  "application/json")});
    Desk desk;
    const auto reply = ask(server, "compat/m", desk);
    CHECK(reply.status == Status::ok);
    CHECK(reply.text == "text");
    CHECK(reply.reasoning == "why");
    CHECK(reply.usage.output_tokens == 6);
  }
}

TEST_CASE("an error within a stream is classed as its status would be") {
  const std::string text = ": OPENROUTER PROCESSING\n\n" + event(R"({"index":0,"delta":{"content":"half"}})");
  const auto failed = [&](const std::string& error) { return reply_to(text + "data: {\"error\":" + error + ",\"choices\":[]}\n\n" + done); };
  CHECK(failed(R"({"code":502,"message":"upstream"})").status == Status::unreachable);
  CHECK(failed(R"({"code":402,"message":"pay"})").status == Status::no_credit);
  CHECK(failed(R"({"code":"insufficient_quota","message":"pay"})").status == Status::no_credit);
  CHECK(failed(R"({"code":400,"message":"bad"})").status == Status::rejected);
  CHECK(failed(R"({"type":"authentication_error","message":"no"})").status == Status::denied);
  CHECK(failed(R"("just words")").status == Status::unreachable);
  CHECK_THAT(failed(R"({"code":400,"message":"bad"})").reason, containing("answered with an error: bad"));
}

TEST_CASE("a field that a model does not take is renamed or left out, once, and remembered") {
  const base::TemporaryFolder folder;
  const auto refuses = [](const std::string& field) {
    return failure(400, R"({"error":{"message":"no such field","type":"invalid_request_error","param":")" + field + R"(","code":"unsupported_parameter"}})");
  };
  const Server server({refuses("max_tokens"), answer(event(R"({"index":0,"delta":{"content":"text"}})") + stop + done)});
  for (int run = 0; run < 2; ++run) {
    Desk desk;
    desk.settings.quirks = std::make_shared<model::QuirkStore>(folder.path());
    CHECK(ask(server, "compat/m", desk).text == "text");
    CHECK(desk.notes.size() == (run == 0 ? 1U : 0U));
    if (run == 0) CHECK_THAT(desk.notes[0], containing("does not take max_tokens; asking again with max_completion_tokens"));
  }
  const auto requests = server.requests();
  REQUIRE(requests.size() == 3);
  CHECK(json::parse(requests[0].body).contains("max_tokens"));
  for (const std::size_t i : {1U, 2U}) {
    CHECK(json::parse(requests[i].body)["max_completion_tokens"] == 32768);
    CHECK_FALSE(json::parse(requests[i].body).contains("max_tokens"));
  }

  Desk desk;
  const Server stubborn({refuses("stream_options.include_usage")});
  CHECK(ask(stubborn, "compat/m", desk).status == Status::rejected);
  CHECK(stubborn.requests().size() == 2);
  CHECK_FALSE(json::parse(stubborn.requests()[1].body).contains("stream_options"));
  const Server needed({refuses("messages")});
  CHECK(ask(needed, "compat/m", desk).status == Status::rejected);
  CHECK(needed.requests().size() == 1);
}

TEST_CASE("a price that is not known is said once, and a known one is counted") {
  const base::TemporaryFolder folder;
  base::write_file(folder.path() / "prices.json", R"({"usd_per_million_tokens":{"compat/dear":{"input":10,"cached_input":1,"output":100}}})");
  const model::Prices prices(folder.path() / "prices.json");
  model::Usage usage;
  usage.input_tokens = 1000;
  usage.cached_tokens = 400;
  usage.output_tokens = 50;
  CHECK(prices.find("compat/dear")->of(usage) == Approx((600 * 10 + 400 * 1 + 50 * 100) / 1e6));
  CHECK_FALSE(prices.find("compat/other"));
  CHECK(prices.find("openai/gpt-5-2025-08-07")->output == prices.find("openai/gpt-5")->output);
  CHECK(prices.find("anthropic/claude-sonnet-4-5-20250929"));

  Desk desk;
  desk.settings.prices = std::make_shared<model::Prices>(folder.path() / "prices.json");
  const Server server({answer(all_spoken()[0].said("text", "stop"))});
  CHECK(ask(server, "compat/dear", desk).usage.cost == Approx((300 * 10 + 512 * 1 + 240 * 100) / 1e6));
  for (const std::string bad : {"", "[]", R"({"usd_per_million_tokens":{"a/b":{"input":1}}})", R"({"usd_per_million_tokens":{"a/b":{"input":-1,"output":1}}})"}) {
    base::write_file(folder.path() / "bad.json", bad);
    CHECK_THROWS_WITH(model::Prices(folder.path() / "bad.json"), containing("bad.json"));
  }
}
