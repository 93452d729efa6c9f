// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "judge/judge.hpp"
#include "search/race.hpp"
#include "search/review.hpp"
#include "search/variant.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::search {

enum class Stop {
  rounds,             // all of them done
  target_speedup, share_of_limit, stagnation, wall_limit, token_limit, cost_limit,
  replies_exhausted,  // no model has a further reply: a replay's end, or the playbook has tried every rule
  pending,            // prompts wait for their replies; resumable
  interrupted,        // the user; resumable
  model_unreachable,  // resumable
  no_credit,          // resumable
  key_denied,         // the model's service does not accept the key; resumable
  request_rejected,   // the model's service takes no such request; resumable
};
std::string_view name(Stop stop);                   // "rounds", "target_speedup"
std::optional<Stop> parse_stop(std::string_view name);
bool resumable(Stop stop);                          // the same command goes on from here
bool model_failed(Stop stop);                       // because a model's service gives no reply

// A round, once all its samples are judged.
struct Round {
  int round = 0;
  double best = 0;                    // screening score within the round; 0 when none was right
  double best_so_far = 0;
  int answers = 0, right = 0, faster = 0;  // repairs included, duplicates not
  int duplicates = 0;
};

// What a run starts from: what 1.00 means, and where.
struct Start {
  outcome::DeviceFacts device;
  judge::ReferenceFacts reference;
};

struct Result {
  Start start;
  std::vector<Variant> variants;          // in the order judged; "start" first
  std::optional<std::size_t> best_index;  // the confirmed winner; else the best that is right, by screening
  std::vector<Race> races;
  std::vector<Round> rounds;              // finished ones
  Stop stopped_because = Stop::rounds;
  std::string reason;                     // one sentence: why it stopped, and how to go on
  model::Usage usage;                     // of all replies
  std::optional<Review> review;           // of the winner, where one was asked for

  const Variant* best() const { return best_index ? &variants[*best_index] : nullptr; }
  int judged() const;                     // variants that the judge saw
};

}  // namespace cudal1::search
