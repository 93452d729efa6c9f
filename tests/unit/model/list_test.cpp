// SPDX-License-Identifier: Apache-2.0
#include "asking.hpp"
#include "catch.hpp"

#include "base/error.hpp"
#include "model/service.hpp"

#include <thread>

using namespace cudal1;
using namespace served;

namespace {

std::vector<model::Served> list(const std::string& name, const std::string& url) {
  model::Settings settings;
  settings.base_url = url;
  return model::served_models(*model::open(name, settings, model::providers()));
}

base::Fault fault_of(const Exchange& exchange) {
  const Server server({exchange});
  try {
    list("vllm/m", server.url());
  } catch (const base::Error& error) {
    CHECK_THAT(error.what(), containing(server.url()));
    return error.fault();
  }
  return base::Fault::internal;
}

}  // namespace

TEST_CASE("what a service has is asked where each protocol keeps its list") {
  const std::string open = R"({"object":"list","data":[{"id":"a/b","max_model_len":4096},{"object":"model"},{"id":"c"}]})";
  const std::string tags = R"({"models":[{"name":"a/b","size":1},{"name":"c"}]})";
  for (const auto& [name, body, line, context] :
       {std::tuple{"vllm/m", open, "GET /v1/models HTTP/1.1", 4096}, {"anthropic/m", open, "GET /v1/models?limit=1000 HTTP/1.1", 4096},
        {"ollama/m", tags, "GET /api/tags HTTP/1.1", 0}}) {
    const Server server({answer(body, "application/json")});
    const auto models = list(name, server.url());
    REQUIRE(models.size() == 2);
    CHECK(models[0].name == "a/b");
    CHECK(models[0].context_tokens == context);
    CHECK(models[1].name == "c");
    CHECK(server.requests()[0].line == line);
    CHECK(server.requests()[0].body.empty());
  }
}

TEST_CASE("a service that tells no list says why, and where it was asked") {
  CHECK(fault_of(failure(401, R"({"error":{"message":"who are you"}})")) == base::Fault::credentials);
  CHECK(fault_of(failure(404, "")) == base::Fault::model_unreachable);
  CHECK(fault_of(answer("<html>", "text/html")) == base::Fault::model_unreachable);
  CHECK(fault_of({reset}) == base::Fault::model_unreachable);
  model::Settings settings;
  CHECK_THROWS_WITH(model::served_models(*model::open("cmd:true", settings, model::providers())), containing("cmd:"));
}

TEST_CASE("how far replies have come is told while they come") {
  const auto& chat = all_spoken()[0];
  const auto whole = chat.thought("Tile by 64.", "the text");
  const auto cut = whole.find("\n\n", whole.find("Tile")) + 2;
  const Server server({{send(head(200, chat.type)), pause(0.3), send(chunk(whole.substr(0, cut))), pause(0.3),
                        send(chunk(whole.substr(cut))), send(std::string(last_chunk))}});
  Desk desk;
  std::vector<std::string> seen;
  std::jthread watcher([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      auto text = desk.settings.arrivals->text();
      if (!text.empty() && (seen.empty() || seen.back() != text)) seen.push_back(std::move(text));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  CHECK(ask(server, chat.name, desk).text == "the text");
  watcher = {};
  REQUIRE(seen.size() >= 2);
  CHECK(seen[0] == "1 waits for a first token");
  CHECK(seen[1] == "1 reasons (about 3 tokens)");
  CHECK(desk.settings.arrivals->text().empty());
}

TEST_CASE("replies under way are counted by what they are at") {
  model::Arrivals arrivals;
  arrivals.tell({1, 1, 0}, 0, 0);
  arrivals.tell({1, 2, 0}, 0, 0);
  arrivals.tell({1, 3, 0}, 4000, 0);
  arrivals.tell({1, 4, 0}, 4000, 800);
  CHECK(arrivals.text() == "2 wait for a first token, 1 reasons (about 1000 tokens), 1 writes (about 200 tokens)");
  arrivals.end({1, 1, 0});
  arrivals.end({1, 3, 0});
  CHECK(arrivals.text() == "1 waits for a first token, 1 writes (about 200 tokens)");
}
