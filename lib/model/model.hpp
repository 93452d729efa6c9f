// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"
#include "kernel/file.hpp"
#include "outcome/device_facts.hpp"
#include "outcome/judgement.hpp"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace cudal1::model {

// Which reply of a run: rounds and samples count from 1; attempt 0 is the answer, 1 its one repair, from 2 on the same
// variant without some of its techniques.
struct Key {
  int round = 1, sample = 1, attempt = 0;
  auto operator<=>(const Key&) const = default;
  std::string text() const;  // "r01-s02", "r01-s02-repair", "r01-s02-without1"
};

// An earlier variant as the prompt shows it.
struct Exemplar {
  std::string id;        // "r01-s02", or "reference"
  std::string source;
  std::string analysis;  // what its author said
  outcome::Judgement judgement;
};

// What a model is asked. Text for those that read, the same content as values for the built-in one.
struct Question {
  Key key;
  std::string system, user;            // the rendered prompt
  std::vector<std::string> cut;        // what was left out of it to fit, one sentence each
  outcome::DeviceFacts device;
  std::vector<Exemplar> exemplars;     // by rising score
  std::optional<Exemplar> failure;     // the latest answer that failed, or the one to repair when key.attempt is 1
  std::vector<std::string> undo;       // techniques that the one exemplar is to lose again; empty: an ordinary question
  std::string hint;                    // the user's
  int samples = 4;                     // answers asked for in each round
  std::vector<Exemplar> earlier;       // every judged answer of earlier rounds, in order; may be empty
  std::uint64_t seed = 0;              // of this reply; equal runs ask with equal seeds
};

struct Usage {
  long long input_tokens = 0;          // the whole prompt, what the service had cached included
  long long output_tokens = 0;         // all that was generated, reasoning included
  long long cached_tokens = 0;         // of the input
  double cost = 0;                     // in US dollars
  long long reasoning_tokens = 0;      // of the output
  bool priced = true;                  // false: nobody knows the price, and `cost` is not all that it cost

  Usage& operator+=(const Usage& other) {
    input_tokens += other.input_tokens;
    output_tokens += other.output_tokens;
    cached_tokens += other.cached_tokens;
    cost += other.cost;
    reasoning_tokens += other.reasoning_tokens;
    priced = priced && other.priced;
    return *this;
  }
};

// What came back. Anything but `ok` is a value that the search acts on.
struct Reply {
  enum class Status {
    ok, refused, truncated, unreachable, no_credit, pending,
    exhausted,  // there is no further reply to give: a replay's end, or the playbook has tried every rule
    denied,     // the service does not accept the key
    rejected,   // the service does not take such a request: an unknown model or option, or a prompt that is too long
  };
  Status status = Status::ok;
  std::string text;
  std::string reason;                  // one sentence when not ok; for pending: where the prompt waits for its reply
  std::string reasoning;               // what the model thought before its answer, as far as the service tells
  std::string finish;                  // why the text ends, in the service's own word: "stop", "max_tokens"
  std::string served;                  // the model that answered, in the service's own words
  Usage usage;
  base::Seconds seconds{};
};

// Answers prompts. May be called from several threads when `parallel()` says so.
class Model {
 public:
  virtual ~Model() = default;
  virtual std::string name() const = 0;                // "builtin", "replay:DIR", "openai/gpt-…"
  virtual bool remote() const { return false; }        // source leaves this machine
  virtual int parallel() const { return 1; }           // replies it can work on at once
  virtual long long output_tokens() const { return 0; }   // most that one reply takes; 0: no limit is known
  virtual long long context_tokens() const { return 0; }  // most that prompt and reply take; 0: no limit is known
  // What a request would cost in US dollars. Empty: no price is known.
  virtual std::optional<double> price(long long /*input_tokens*/, long long /*output_tokens*/) const { return 0.0; }
  virtual Reply answer(const Question& question, std::stop_token stop) = 0;
};

}  // namespace cudal1::model
