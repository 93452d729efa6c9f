// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model.hpp"
#include "outcome/judgement.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::search {

// One answer and what became of it.
struct Variant {
  enum class Status {
    judged,      // `judgement` says how
    duplicate,   // the same source as `same_as`, whose judgement it shares; cost nothing
    malformed,   // the reply is no answer; `reason` says why
    refused,     // the model would not
    truncated,   // the reply ended early
  };

  std::string id;                       // "r01-s02", "r01-s02-repair", "r01-s02-without1", "start"
  model::Key key;                       // round 0 for "start"
  std::string model;                    // who answered; empty for "start"
  Status status = Status::judged;
  std::string reason;                   // one sentence when there is no judgement
  std::string same_as;                  // duplicates: the earlier variant's id

  std::string analysis, design, source; // empty unless the reply could be read
  std::vector<std::string> techniques;  // labels that the model named
  std::vector<std::string> exemplars;   // ids shown to it, by rising score
  std::string repairs;                  // the id of the answer that this one repairs
  std::string reverts;                  // the id of the winner that this one is, without the techniques `undone`
  std::vector<std::string> undone;
  outcome::Judgement judgement;         // screening; meaningful for `judged` and `duplicate`
  std::optional<outcome::Judgement> confirmation;  // final, when one was asked for

  bool right() const;                   // judged, and verified correct
  double score() const;                 // of the confirmation where there is one, else screening; 0 when not right
  const outcome::Judgement& verdict() const { return confirmation ? *confirmation : judgement; }
};

std::string_view name(Variant::Status status);
std::optional<Variant::Status> parse_status(std::string_view name);

}  // namespace cudal1::search
