// SPDX-License-Identifier: Apache-2.0
// What every service can do to a client, served on this machine.
#include "asking.hpp"
#include "catch.hpp"

#include "base/error.hpp"

#include <atomic>
#include <chrono>
#include <future>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace cudal1;
using namespace served;
using Status = model::Reply::Status;

namespace {

const std::string text = "__global__ void k(float* C) { C[0] = 1; }  // ✓ läuft\n";

// Passes the test for each kind of service.
template <typename Test>
void for_all(const Test& test) {
  for (const auto& spoken : all_spoken()) {
    INFO(spoken.name);
    test(spoken);
  }
}

}  // namespace

TEST_CASE("a reply arrives, with its usage and its end") {
  for_all([](const Spoken& spoken) {
    const Server server({answer(spoken.said(text, "stop"), spoken.type)});
    Desk desk;
    const auto reply = ask(server, spoken.name, desk);
    CHECK(reply.status == Status::ok);
    CHECK(reply.text == text);
    CHECK(reply.reason.empty());
    CHECK(reply.served == "m-1");
    CHECK((reply.finish == "stop" || reply.finish == "end_turn"));
    CHECK(reply.usage.input_tokens == 812);
    CHECK(reply.usage.output_tokens == 240);
    CHECK(reply.usage.priced);
    CHECK(reply.usage.cost == 0);
    REQUIRE(server.requests().size() == 1);
    CHECK(server.requests()[0].line == "POST " + spoken.path + " HTTP/1.1");
    CHECK(desk.notes.empty());
  });
}

TEST_CASE("a reply arrives however its bytes are cut") {
  for_all([](const Spoken& spoken) {
    const Server server({bytewise(spoken.thought("Tile by 64 – or 128.", text), spoken.type)});
    Desk desk;
    const auto reply = ask(server, spoken.name, desk);
    CHECK(reply.status == Status::ok);
    CHECK(reply.text == text);
    CHECK(reply.reasoning == "Tile by 64 – or 128.");
  });
}

TEST_CASE("reasoning is kept apart from the answer, also when it stands in the text") {
  for_all([](const Spoken& spoken) {
    const Server server({answer(spoken.thought("Tile.", text), spoken.type), bytewise(spoken.said("<think>Tile.</think>" + text, "stop"), spoken.type),
                         answer(spoken.said("<think>Tile by 64, or", "length"), spoken.type),
                         answer(spoken.thought("Only this.", ""), spoken.type)});
    Desk desk;
    for (int i = 0; i < 2; ++i) {
      const auto reply = ask(server, spoken.name, desk);
      CHECK(reply.status == Status::ok);
      CHECK(reply.text == text);
      CHECK(reply.reasoning == "Tile.");
    }
    for (int i = 0; i < 2; ++i) {
      const auto reply = ask(server, spoken.name, desk);
      CHECK(reply.status == Status::truncated);
      CHECK_THAT(reply.reason, containing("spent the whole reply on reasoning"));
      CHECK_FALSE(reply.reasoning.empty());
    }
  });
}

TEST_CASE("a reply that reached a limit, or ended for an unknown reason, is truncated and says why") {
  for_all([](const Spoken& spoken) {
    const Server server({answer(spoken.said(text, "length"), spoken.type), answer(spoken.said(text, "tired"), spoken.type)});
    Desk desk;
    auto reply = ask(server, spoken.name, desk);
    CHECK(reply.status == Status::truncated);
    CHECK_THAT(reply.reason, containing("--output-tokens"));
    CHECK(reply.text == text);
    reply = ask(server, spoken.name, desk);
    CHECK(reply.status == Status::truncated);
    CHECK_THAT(reply.reason, containing("not known: «tired»"));
    CHECK(server.requests().size() == 2);
  });
}

TEST_CASE("a reply of a megabyte arrives whole") {
  for_all([](const Spoken& spoken) {
    std::string large;
    while (large.size() < (1 << 20)) large += text;
    const Server server({answer(spoken.said(large, "stop"), spoken.type)});
    Desk desk;
    CHECK(ask(server, spoken.name, desk).text == large);
  });
}

TEST_CASE("a stream that is cut, reset or garbage is asked for again, and none of it is kept") {
  for_all([](const Spoken& spoken) {
    const std::string begun = head(200, spoken.type) + chunk(spoken.begun("half of"));
    const Exchange good = answer(spoken.said(text, "stop"), spoken.type);
    const std::vector<std::pair<Exchange, std::string>> cases = {
        {{send(begun)}, "broke off"},
        {{send(begun), pause(0.02), reset}, "broke off"},
        {{send(begun + std::string(last_chunk))}, "ended its answer before it was complete"},
        {answer("data: {\"choices\": [{\n\n", spoken.type), "no JSON"},
        {answer("", spoken.type), "ended its answer before it was complete"},
    };
    for (const auto& [broken, why] : cases) {
      INFO(why);
      const Server server({broken, good});
      Desk desk;
      desk.settings.retries = 1;
      const auto reply = ask(server, spoken.name, desk);
      CHECK(reply.status == Status::ok);
      CHECK(reply.text == text);
      CHECK(server.requests().size() == 2);
      CHECK_THAT(desk.said(), containing(why));
    }
  });
}

TEST_CASE("what is no model's answer at all ends the run's question with its reason") {
  for_all([](const Spoken& spoken) {
    const Server page({answer("<html>Welcome</html>", "text/html")});
    Desk desk;
    desk.settings.retries = 3;
    const auto reply = ask(page, spoken.name, desk);
    CHECK(reply.status != Status::ok);
    CHECK((reply.status == Status::rejected || reply.reason.find("no JSON") != std::string::npos));
    const Server other({{send("SSH-2.0-OpenSSH_9.2\r\n")}});
    CHECK(ask(other, spoken.name, desk).status == Status::rejected);
  });
}

TEST_CASE("the timers: no connection, a late first byte, silence, and a connection that is only kept alive") {
  for_all([](const Spoken& spoken) {
    const std::string begun = head(200, spoken.type) + chunk(spoken.begun("half of"));
    const std::string alive = spoken.type == "text/event-stream" ? ": keep-alive\n\n" : "\n";
    const auto after = [&](double least, double first_byte, double idle, const Exchange& exchange) {
      const Server server({exchange});
      Desk desk;
      desk.settings.first_byte_limit = Seconds(first_byte);
      desk.settings.idle_limit = Seconds(idle);
      const auto begin = base::now();
      const auto reply = ask(server, spoken.name, desk);
      const auto took = (base::now() - begin).count();
      CHECK(took >= least);
      CHECK(took < 10);
      CHECK(reply.status == Status::unreachable);
      CHECK(reply.text.empty());
      return reply.reason;
    };
    CHECK_THAT(after(0.29, 0.3, 20, {hang}), containing("no part of an answer for 0.3 s"));
    CHECK_THAT(after(0.29, 0.3, 20, {send(head(200, spoken.type)), hang}), containing("no part of an answer for 0.3 s"));
    CHECK_THAT(after(0.14, 20, 0.15, {send(begun), hang}), containing("fell silent for 0.15 s"));
    Exchange kept_alive = {send(head(200, spoken.type))};
    for (int i = 0; i < 40; ++i) kept_alive.insert(kept_alive.end(), {send(chunk(alive)), pause(0.02)});
    kept_alive.push_back(hang);
    CHECK_THAT(after(0.29, 0.3, 20, kept_alive), containing("no part of an answer for 0.3 s"));
  });
}

TEST_CASE("a first byte that is late but within its limit is waited for") {
  // Ten minutes, a thousand times faster; the idle limit of five minutes does not count yet.
  for_all([](const Spoken& spoken) {
    const Server server({{pause(0.6), send(head(200, spoken.type) + chunk(spoken.said(text, "stop")) + std::string(last_chunk))}});
    Desk desk;
    desk.settings.first_byte_limit = Seconds(5);
    desk.settings.idle_limit = Seconds(0.3);
    CHECK(ask(server, spoken.name, desk).text == text);
  });
}

TEST_CASE("a server that is not there is unreachable and named") {
  std::string url;
  {
    const Server gone({{hang}});
    url = gone.url();
  }
  Desk desk;
  desk.settings.base_url = url;
  desk.settings.retries = 1;
  const auto reply = model::open("compat/m", desk.settings, model::providers())->answer(question(), {});
  CHECK(reply.status == Status::unreachable);
  CHECK_THAT(reply.reason, containing(url + "/v1/chat/completions could not be reached") && containing("tried 2 times"));
}

TEST_CASE("a stop ends a question at once, whatever it waits for") {
  for_all([](const Spoken& spoken) {
    const std::vector<Exchange> waits = {{hang}, {send(head(200, spoken.type) + chunk(spoken.begun("half"))), hang}, failure(503, "", {"Retry-After: 30"})};
    for (const auto& exchange : waits) {
      const Server server({exchange});
      Desk desk;
      desk.settings.retries = 6;
      std::stop_source source;
      const std::jthread user([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        source.request_stop();
      });
      const auto begin = base::now();
      const auto reply = ask(server, spoken.name, desk, source.get_token());
      CHECK(base::now() - begin < Seconds(4));
      CHECK(reply.status == Status::unreachable);
      CHECK_THAT(reply.reason, containing("interrupted"));
    }
  });
}

TEST_CASE("what a server is asked to wait is waited, in every form of saying so") {
  const auto in_two_seconds = [](const std::string& form) {
    char buffer[128];
    const std::time_t at = std::time(nullptr) + 2;
    std::strftime(buffer, sizeof buffer, form.c_str(), std::gmtime(&at));
    return std::string(buffer);
  };
  struct Case {
    std::vector<std::string> headers;  // the last one's form of a time is filled when it is sent
    double least;
  };
  std::vector<Case> cases = {
      {{"Retry-After: 1"}, 1},
      {{"Retry-After: 0.2"}, 0.2},
      {{"retry-after-ms: 150", "Retry-After: 30"}, 0.15},
      {{"Retry-After: %a, %d %b %Y %H:%M:%S GMT"}, 0.9},
      {{"x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 200ms"}, 0.2},
      {{"x-ratelimit-remaining-tokens: 0", "x-ratelimit-reset-tokens: 0m0.3s"}, 0.3},
      {{"anthropic-ratelimit-requests-remaining: 0", "anthropic-ratelimit-requests-reset: %Y-%m-%dT%H:%M:%SZ"}, 0.9},
      {{}, 0.37},  // its own pause: half a second less a quarter
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& spoken = all_spoken()[i % all_spoken().size()];
    INFO(spoken.name << " " << (cases[i].headers.empty() ? "" : cases[i].headers.back()));
    if (!cases[i].headers.empty()) cases[i].headers.back() = in_two_seconds(cases[i].headers.back());
    const Server server({failure(429, "{\"error\":{\"message\":\"slow down\",\"code\":\"rate_limit_exceeded\"}}", cases[i].headers),
                         answer(spoken.said(text, "stop"), spoken.type)});
    Desk desk;
    desk.settings.retries = 1;
    const auto reply = ask(server, spoken.name, desk);
    CHECK(reply.status == Status::ok);
    const auto requests = server.requests();
    REQUIRE(requests.size() == 2);
    CHECK((requests[1].at - requests[0].at).count() >= cases[i].least);
    CHECK((requests[1].at - requests[0].at).count() < 10);
    CHECK_THAT(desk.said(), containing("answered 429: slow down; trying again in"));
  }
}

TEST_CASE("a pause that is longer than allowed ends the question, and says both") {
  const Server server({failure(429, "", {"Retry-After: 600"})});
  Desk desk;
  desk.settings.retries = 6;
  const auto reply = ask(server, "compat/m", desk);
  CHECK(reply.status == Status::unreachable);
  CHECK_THAT(reply.reason, containing("pause of 600 s") && containing("--longest-wait is 120 s"));
  CHECK(server.requests().size() == 1);
}

TEST_CASE("each status has its consequence") {
  struct Case {
    int status;
    Status expected;
    std::size_t requests;
    std::string says;
  };
  const std::vector<Case> cases = {
      {400, Status::rejected, 1, "answered 400"},       {401, Status::denied, 1, "the key"},
      {402, Status::no_credit, 1, "no credit"},         {403, Status::denied, 1, "the key"},
      {404, Status::rejected, 1, "not found"},          {405, Status::rejected, 1, "answered 405"},
      {408, Status::unreachable, 2, "answered 408"},    {409, Status::unreachable, 2, "answered 409"},
      {413, Status::rejected, 1, "prompt is too long"}, {422, Status::rejected, 1, "answered 422"},
      {429, Status::unreachable, 2, "too many"},        {500, Status::unreachable, 2, "answered 500"},
      {502, Status::unreachable, 2, "answered 502"},    {503, Status::unreachable, 2, "answered 503"},
      {504, Status::unreachable, 2, "answered 504"},    {529, Status::unreachable, 2, "overloaded"}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& spoken = all_spoken()[i % all_spoken().size()];
    INFO(spoken.name << " " << cases[i].status);
    const Server server({failure(cases[i].status, "", {"retry-after-ms: 1"})});
    Desk desk;
    desk.settings.retries = 1;
    const auto reply = ask(server, spoken.name, desk);
    CHECK(reply.status == cases[i].expected);
    CHECK_THAT(reply.reason, containing(cases[i].says) && containing(server.url() + spoken.path));
    CHECK(server.requests().size() == cases[i].requests);
  }
}

TEST_CASE("a service's word on whether to try again is heard") {
  Desk desk;
  desk.settings.retries = 2;
  const Server no({failure(500, "", {"x-should-retry: false"})});
  CHECK(ask(no, "compat/m", desk).status == Status::rejected);
  CHECK(no.requests().size() == 1);
  const Server yes({failure(400, "", {"x-should-retry: true", "retry-after-ms: 1"})});
  CHECK(ask(yes, "compat/m", desk).status == Status::unreachable);
  CHECK(yes.requests().size() == 3);
}

TEST_CASE("used-up credit is never asked twice") {
  for (const std::string code : {"credit_balance_exhausted", "organization_spend_limit_exceeded", "project_spend_limit_exceeded",
                                 "organization_usage_limit_exceeded", "insufficient_quota"}) {
    const Server server({failure(429, R"({"error":{"message":"no more","type":"x","param":null,"code":")" + code + "\"}}", {"retry-after-ms: 1"})});
    Desk desk;
    desk.settings.retries = 3;
    CHECK(ask(server, "compat/m", desk).status == Status::no_credit);
    CHECK(server.requests().size() == 1);
  }
  const Server spent({failure(400, R"({"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}})")});
  Desk desk;
  CHECK(ask(spent, "anthropic/m", desk).status == Status::no_credit);
}

TEST_CASE("the message of every kind of error body is shown") {
  const std::vector<std::string> bodies = {
      R"({"error":{"message":"the cause","type":"x","param":null,"code":null}})",
      R"({"error":{"message":"the cause","type":"x","param":"p","code":"word"}})",
      R"({"error":{"code":400,"message":"the cause","type":"x"}})",
      R"({"error":{"code":400,"message":"upstream","metadata":{"raw":"the cause"}}})",
      R"([{"error":{"code":400,"message":"the cause","status":"INVALID_ARGUMENT"}}])",
      R"({"type":"error","error":{"type":"invalid_request_error","message":"the cause"},"request_id":"r"})",
      R"({"error":"the cause"})",
      R"({"detail":"the cause"})",
      "<html><body>the cause</body></html>",
      "the cause \x1b[31m in red",
  };
  for (const auto& body : bodies) {
    INFO(body);
    const Server server({failure(400, body)});
    Desk desk;
    const auto reply = ask(server, "compat/m", desk);
    CHECK(reply.status == Status::rejected);
    CHECK_THAT(reply.reason, containing("answered 400") && containing("the cause"));
    CHECK(reply.reason.find('\x1b') == std::string::npos);
  }
}

TEST_CASE("a prompt that is too long is said to be, in every service's words") {
  for (const std::string body : {R"({"error":{"message":"too many tokens","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}})",
                                 R"({"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}})",
                                 R"({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}})"}) {
    const Server server({failure(400, body)});
    Desk desk;
    const auto reply = ask(server, "compat/m", desk);
    CHECK(reply.status == Status::rejected);
    CHECK_THAT(reply.reason, containing("the prompt is too long for it"));
  }
}

TEST_CASE("eight questions at once are not mixed, and a pause for one is a pause for all") {
  const Server server({failure(429, "", {"retry-after-ms: 400"}), {pause(0.05), send(head(200, "text/event-stream") + chunk(all_spoken()[0].said(text, "stop")) + std::string(last_chunk))}});
  Desk desk;
  desk.settings.retries = 1;
  desk.settings.base_url = server.url();
  const auto model = model::open("compat/m", desk.settings, model::providers());
  CHECK(model->parallel() == 8);
  const auto begin = base::now();
  std::vector<std::future<model::Reply>> replies;
  replies.push_back(std::async(std::launch::async, [&] { return model->answer(question(1), {}); }));
  while (desk.said().find("trying again") == std::string::npos && base::now() - begin < Seconds(2)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  for (int sample = 2; sample <= 8; ++sample)
    replies.push_back(std::async(std::launch::async, [&, sample] { return model->answer(question(sample), {}); }));
  for (auto& reply : replies) CHECK(reply.get().text == text);
  const auto requests = server.requests();
  REQUIRE(requests.size() == 9);
  for (std::size_t i = 1; i < requests.size(); ++i) CHECK((requests[i].at - requests[0].at).count() >= 0.39);
}

TEST_CASE("a redirect is not followed, and the key goes nowhere else") {
  const Server elsewhere({answer(all_spoken()[0].said(text, "stop"))});
  const Server server({failure(307, "", {"Location: " + elsewhere.url() + "/v1/chat/completions"})});
  ::setenv("PLANTED_KEY", "sk-planted-0123456789abcdef", 1);
  Desk desk;
  desk.settings.key_variable = "PLANTED_KEY";
  const auto reply = ask(server, "compat/m", desk);
  CHECK(reply.status == Status::rejected);
  CHECK_THAT(reply.reason, containing("answered 307") && containing("not followed") && containing(elsewhere.url()));
  CHECK(elsewhere.requests().empty());
  CHECK(server.requests()[0].headers.at("authorization") == "Bearer sk-planted-0123456789abcdef");
}

TEST_CASE("a key that a service sends back is in nothing that is kept or shown") {
  const std::string key = "sk-planted-0123456789abcdef";
  ::setenv("PLANTED_KEY", key.c_str(), 1);
  for_all([&](const Spoken& spoken) {
    const Server server({failure(500, R"({"error":{"message":"bad key )" + key + "\"}}", {"retry-after-ms: 1"}),
                         answer(spoken.thought("I was sent " + key, "and say " + key + "!"), spoken.type),
                         failure(401, "Incorrect API key provided: " + key)});
    Desk desk;
    desk.settings.key_variable = "PLANTED_KEY";
    desk.settings.retries = 1;
    const auto reply = ask(server, spoken.name, desk);
    CHECK(reply.text == "and say [key]!");
    CHECK(reply.reasoning == "I was sent [key]");
    const auto denied = ask(server, spoken.name, desk);
    CHECK(denied.status == Status::denied);
    for (const auto& said : {reply.text, reply.reasoning, reply.reason, denied.reason, desk.said()}) {
      CHECK(said.find(key) == std::string::npos);
      CHECK(said.find("0123456789abcdef") == std::string::npos);
    }
    for (const auto& request : server.requests()) CHECK(request.body.find(key) == std::string::npos);
  });
}
