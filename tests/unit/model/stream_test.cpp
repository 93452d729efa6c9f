// SPDX-License-Identifier: Apache-2.0
#include "base/random.hpp"
#include "catch.hpp"
#include "model/server_events.hpp"
#include "model/thinking.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace cudal1;

namespace {

using Events = std::vector<std::pair<std::string, std::string>>;

// What a stream says when it arrives in pieces that end at these places.
Events events_of(const std::string& stream, const std::vector<std::size_t>& cuts) {
  Events events;
  model::ServerEvents decoder([&](const std::string& name, const std::string& data) { events.emplace_back(name, data); });
  std::size_t begin = 0;
  for (const auto cut : cuts) {
    decoder.feed(std::string_view(stream).substr(begin, cut - begin));
    begin = cut;
  }
  decoder.feed(std::string_view(stream).substr(begin));
  decoder.finish();
  return events;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) text.replace(at, what.size(), with);
  return text;
}

}  // namespace

TEST_CASE("events are decoded as the standard says") {
  CHECK(events_of("data: one\n\n", {}) == Events{{"", "one"}});
  CHECK(events_of("data:one\ndata\ndata: two\n\n", {}) == Events{{"", "one\n\ntwo"}});
  CHECK(events_of(": a comment\n\n:\nevent: ping\nid: 7\nretry: 10\nother: x\ndata:  {}\n\n", {}) == Events{{"ping", " {}"}});
  CHECK(events_of("event: nothing\n\ndata: next\n\n", {}) == Events{{"", "next"}});
  CHECK(events_of("\xef\xbb\xbf" "data: after a mark\n\n", {}) == Events{{"", "after a mark"}});
  CHECK(events_of("data: no end", {}) == Events{{"", "no end"}});
  CHECK(events_of("\n\n\n", {}).empty());
}

TEST_CASE("neither line endings nor the places where a stream is cut change what it says") {
  const std::string stream = "event: a\ndata: {\"text\":\"– ✓\"}\n\n: keep-alive\n\ndata: one\ndata: two\n\nid: 3\ndata:\n\ndata: [DONE]\n\n";
  const Events expected = events_of(stream, {});
  REQUIRE(expected.size() == 4);
  for (const std::string ending : {"\n", "\r", "\r\n"}) {
    const std::string text = replaced(stream, "\n", ending);
    CHECK(events_of(text, {}) == expected);
    for (std::size_t cut = 0; cut <= text.size(); ++cut) CHECK(events_of(text, {cut}) == expected);
    for (std::uint64_t round = 0; round < 200; ++round) {
      std::vector<std::size_t> cuts;
      for (std::size_t at = 0; (at += base::philox(11, round, cuts.size())[0] % 7) < text.size();) cuts.push_back(at);
      CHECK(events_of(text, cuts) == expected);
    }
  }
}

TEST_CASE("any bytes can be fed to the decoders, in any pieces, with one result") {
  static constexpr std::string_view alphabet = "data: event:\r\n{}:\xff\x00x";
  for (std::uint64_t round = 0; round < 2000; ++round) {
    std::string text;
    std::vector<std::size_t> cuts;
    for (std::uint64_t i = 0; i < 60; ++i) {
      const auto words = base::philox(12, round, i);
      text += words[0] % 3 == 0 ? std::string("data: ") : std::string(1, alphabet[words[1] % alphabet.size()]);
      if (words[2] % 4 == 0) cuts.push_back(text.size());
    }
    CHECK(events_of(text, cuts) == events_of(text, {}));
  }
}

TEST_CASE("lines end as they may, and the last one needs no end") {
  std::vector<std::string> lines;
  model::Lines decoder([&](std::string_view line) { lines.emplace_back(line); });
  for (const char* piece : {"one\r", "\ntw", "o\n\r", "three\r\r\nfo", "ur"}) decoder.feed(piece);
  decoder.finish();
  CHECK(lines == std::vector<std::string>{"one", "two", "", "three", "", "four"});
}

TEST_CASE("reasoning in front of an answer is taken apart") {
  CHECK(model::split_thinking("an answer\n").answer == "an answer\n");
  CHECK(model::split_thinking("<think> a </think>\nb").reasoning == "a");
  CHECK(model::split_thinking(" \n<think>a</think>\nb\n").answer == "\nb\n");
  CHECK(model::split_thinking("<think>a").answer.empty());
  CHECK(model::split_thinking("b <think>a</think>").reasoning.empty());
  CHECK(model::split_thinking("").answer.empty());
}
