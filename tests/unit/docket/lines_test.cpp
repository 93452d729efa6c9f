// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "docket/request.hpp"
#include "docket/ruling.hpp"

#include <nlohmann/json.hpp>

using namespace cudal1;
using docket::parse_request;

TEST_CASE("a request's line is read in all its forms") {
  const auto full = parse_request(R"({"id": 7, "task": {"source": "//@ task", "set": {"N": 64}}, "answer": "x", "mode": "final", "group": "g", "deadline_s": 2.5})");
  REQUIRE(full);
  CHECK(full->id == "7");
  CHECK(full->task.source == "//@ task");
  CHECK(full->task.set.at("N") == 64);
  CHECK(full->mode == docket::Mode::final_);
  CHECK(full->deadline_seconds == 2.5);
  const auto least = parse_request(R"({"task": "a.cu", "answer": ""})");
  REQUIRE(least);
  CHECK(least->task.file == "a.cu");
  CHECK(least->mode == docket::Mode::screen);
  CHECK(least->id == "null");
}

TEST_CASE("what is wrong with a request is one sentence, with its id") {
  const auto reason = [](const char* line) {
    const auto request = parse_request(line);
    REQUIRE_FALSE(request);
    return request.error().id + ": " + request.error().reason;
  };
  CHECK(reason("{") == "null: a request is one line of JSON");
  CHECK(reason("[]") == "null: a request is a JSON object");
  CHECK(reason(R"({"id": "a", "task": "t.cu"})") == "\"a\": `answer` is missing");
  CHECK(reason(R"({"id": "a", "task": "t.cu", "anwser": ""})") == "\"a\": a request has no field `anwser`; `answer`?");
  CHECK(reason(R"({"task": {"file": "a", "source": "b"}, "answer": ""})") == "null: `task` has one of `file`, `source` and `sha256`");
  CHECK(reason(R"({"task": "t.cu", "answer": "", "mode": "fast"})") == "null: `mode` is \"fast\"; it is compile, verify, screen or final");
  CHECK(reason(R"({"task": "t.cu", "answer": "", "deadline_s": 0})") == "null: `deadline_s` is not a number of seconds above 0");
  CHECK(reason(R"({"task": {"file": "t.cu", "set": {"N": "many"}}, "answer": ""})") == "null: `task.set.N` is not a whole number");
}

TEST_CASE("a fault is null where a verdict would be, never a score") {
  docket::Ruling ruling;
  ruling.id = R"({"step":3})";
  ruling.fault = docket::Fault::worker;
  ruling.reason = "the device worker was killed";
  const auto line = nlohmann::json::parse(docket::to_line(ruling, false));
  CHECK(line["id"]["step"] == 3);
  for (const char* field : {"verdict", "executable", "right", "speedup", "score", "judgement"}) CHECK(line[field].is_null());
  CHECK(line["fault"] == "the device worker was killed");
  CHECK(line["fault_kind"] == "worker");
}

TEST_CASE("a verdict's line has its interval, and without its evidence when it is brief") {
  docket::Ruling ruling;
  ruling.judgement.emplace();
  ruling.judgement->verdict = outcome::Verdict::faster;
  ruling.judgement->speedup = outcome::Speedup{2, 1.9, 2.1};
  const auto line = nlohmann::json::parse(docket::to_line(ruling, false));
  CHECK(line["verdict"] == "FASTER");
  CHECK(line["right"] == true);
  CHECK(line["speedup"]["low"] == 1.9);
  CHECK(line["judgement"]["verdict"] == "FASTER");
  CHECK_FALSE(nlohmann::json::parse(docket::to_line(ruling, true)).contains("judgement"));
  ruling.judgement.reset();
  ruling.readable = false;
  ruling.reason = "the reply is empty";
  const auto unreadable = nlohmann::json::parse(docket::to_line(ruling, true));
  CHECK(unreadable["verdict"] == "UNREADABLE");
  CHECK(unreadable["score"] == 0);
  CHECK(unreadable["message"] == "the reply is empty");
}
