// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/result.hpp"
#include "store/identity.hpp"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cudal1::store {

struct AskedEvent {
  model::Key key;
  std::string model;
  std::vector<std::string> exemplars;  // ids, by rising score
  std::string failure;                 // id; empty: none shown
  std::vector<std::string> cut;        // what the prompt left out to fit
};

struct ReplyEvent {
  model::Key key;
  std::string model;
  model::Reply reply;
};

struct ConfirmationEvent {
  std::string id;
  outcome::Judgement judgement;
};

struct StopEvent {
  search::Stop because = search::Stop::rounds;
  std::string reason;
  std::string best;                    // id; empty: nothing is right
  model::Usage usage;
};

// One line of the journal.
struct Event {
  std::string at;  // UTC
  std::variant<Identity, search::Start, AskedEvent, ReplyEvent, search::Variant, search::Race, search::Round, ConfirmationEvent, StopEvent, search::Review>
      body;

  // "reply r01-s02": what happens once in a run has a name of its own.
  std::string name() const;
};

// One line of JSON with its schema number, without a newline. Documented in cudal1-json(5). Times of day and durations
// stand in fields of their own (`at`, `seconds`, `judging_seconds`).
std::string to_line(const Event& event);

// Throws base::Error(bad_input): no JSON, another schema, or a field that is missing.
Event parse_line(std::string_view line);

}  // namespace cudal1::store
