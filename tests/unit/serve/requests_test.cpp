// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "serve/batch.hpp"
#include "serve/metrics.hpp"
#include "serve/requests.hpp"
#include "serve/server.hpp"

#include <thread>

#include <nlohmann/json.hpp>

using namespace cudal1;
using docket::BadRequest;
using docket::Request;

namespace {

const serve::Files files = {{"softmax.cu", "/tasks/softmax.cu"}, {"/tasks/softmax.cu", "/tasks/softmax.cu"}};

}  // namespace

TEST_CASE("a body is a request, a list, or an object of items, each with the server's reward") {
  const auto one = serve::read_items(R"({"task": "softmax.cu", "answer": "a"})", files, reward::Shape::log);
  REQUIRE(one.items.size() == 1);
  CHECK_FALSE(one.list);
  CHECK(std::get<Request>(one.items[0]).task.file == "/tasks/softmax.cu");
  CHECK(std::get<Request>(one.items[0]).reward == reward::Shape::log);
  const auto several = serve::read_items(R"({"items": [{"task": {"source": "s"}, "answer": "a", "reward": "paper"}, {"id": 1}]})", files, reward::Shape::log);
  REQUIRE(several.items.size() == 2);
  CHECK(several.list);
  CHECK(std::get<Request>(several.items[0]).reward == reward::Shape::paper);
  CHECK(std::get<BadRequest>(several.items[1]).reason == "`task` is missing");
  for (const char* body : {"", "3", "\"a\"", "{"}) CHECK_FALSE(serve::read_items(body, files, reward::Shape::log).problem.empty());
}

TEST_CASE("no file is read but those that the server was started with") {
  const auto items = serve::read_items(R"([{"id": 7, "task": "/etc/passwd", "answer": "a"}, {"task": {"file": "../softmax.cu"}, "answer": "a"}])", files, {});
  for (const auto& item : items.items) CHECK_THAT(std::get<BadRequest>(item).reason, containing("give the task's text as `source`"));
  CHECK(std::get<BadRequest>(items.items[0]).id == "7");
  CHECK_FALSE(serve::read_task(R"({"task": "/etc/passwd"})", files));
  CHECK(serve::read_task(R"({"task": "softmax.cu"})", files)->file == "/tasks/softmax.cu");
  CHECK(serve::read_task(R"({"task": "softmax.cu"})", files)->source.empty());
}

TEST_CASE("OpenRLHF's queries lose their prompts, and labels name tasks in each form") {
  const std::string digest(64, 'a');
  const nlohmann::json body{{"query", {"<s>Make it faster.\nThus.\n```<|im_end|>\n</s>", "b", "c", "d"}},
                            {"prompts", {"Make it faster.\n", "x", "", ""}},
                            {"labels", {"softmax.cu", digest, R"({"source": "s", "set": {"N": 2}})", nullptr}}};
  const auto items = serve::read_queries(body.dump(), files, reward::Shape::log).items;
  REQUIRE(items.size() == 4);
  CHECK(std::get<Request>(items[0]).answer == "Thus.\n```\n");
  CHECK(std::get<Request>(items[0]).task.file == "/tasks/softmax.cu");
  CHECK(std::get<Request>(items[1]).answer == "b\n");
  CHECK(std::get<Request>(items[1]).task.sha256 == digest);
  CHECK(std::get<Request>(items[2]).task.set.at("N") == 2);
  CHECK(std::get<Request>(items[3]).task.file == "/tasks/softmax.cu");   // the one that there is
  CHECK_FALSE(serve::read_queries("{}", files, reward::Shape::log).problem.empty());
  CHECK(std::holds_alternative<BadRequest>(serve::read_queries(R"({"query": ["a"]})", {}, reward::Shape::log).items[0]));
}

TEST_CASE("rewards keep the order of the queries") {
  docket::Ruling right, cheat;
  right.judgement.emplace().verdict = outcome::Verdict::faster;
  right.judgement->speedup = outcome::Speedup{2, 2, 2};
  right.reward = 1.5;
  cheat.judgement.emplace().verdict = outcome::Verdict::tampered;
  cheat.reward = -0.3;
  const auto reply = nlohmann::json::parse(serve::reward_reply({right, cheat}));
  CHECK(reply["rewards"] == nlohmann::json{1.5, -0.3});
  CHECK(reply["extra_logs"]["cheat"] == nlohmann::json{0.0, 1.0});
  CHECK(reply["extra_logs"]["speedup"] == nlohmann::json{2.0, 0.0});
}

TEST_CASE("a batch is complete once, and gives its rulings as they arrive") {
  serve::Batch batch(2);
  docket::Ruling first, second;
  first.id = "1";
  second.id = "2";
  CHECK_FALSE(batch.wait(0));
  batch.put(1, second);
  CHECK(batch.next(0)->id == "2");
  CHECK_FALSE(batch.next(0));
  CHECK_FALSE(batch.over());
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    batch.put(0, first);
  });
  CHECK(batch.wait(20));
  CHECK(batch.next(0)->id == "1");
  CHECK(batch.over());
  CHECK(batch.rulings()[0]->id == "1");
}

TEST_CASE("jobs are found by ids that nobody guesses") {
  serve::Jobs jobs;
  const auto batch = std::make_shared<serve::Batch>(1);
  const std::string id = jobs.add(batch), other = jobs.add(std::make_shared<serve::Batch>(1));
  CHECK(jobs.find(id) == batch);
  CHECK(id.substr(2) != other.substr(2));
  CHECK(jobs.find("1") == nullptr);
}

TEST_CASE("metrics are Prometheus' text") {
  docket::Counts counts;
  counts.verdicts["FASTER"] = 3;
  counts.faults["worker"] = 1;
  const std::string text = serve::metrics(counts, "0.1");
  CHECK_THAT(text, containing("# TYPE cudal1_verdicts_total counter\ncudal1_verdicts_total{verdict=\"FASTER\"} 3\n"));
  CHECK_THAT(text, containing("cudal1_faults_total{kind=\"worker\"} 1\n"));
  CHECK(text.back() == '\n');
}

TEST_CASE("other machines are served with a token only") {
  docket::Docket docket([](const docket::TaskText&, std::size_t) { return nullptr; }, {});
  serve::Options options;
  options.host = "0.0.0.0";
  options.port = 0;
  CHECK_THROWS_WITH(serve::Server(docket, options), containing("with a token only"));
  CHECK(serve::is_loopback("127.0.0.1"));
  CHECK(serve::is_loopback("localhost"));
  CHECK_FALSE(serve::is_loopback("10.0.0.1"));
}
