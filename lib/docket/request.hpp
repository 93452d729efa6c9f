// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reward/reward.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::docket {

// Which task: a file, its text, or the digest of a text that was given before.
struct TaskName {
  std::string file, source, sha256;
  std::map<std::string, std::int64_t> set;   // other values of sizes, as --set
};

// How far an answer is judged.
enum class Mode {
  compile,   // form, plan and NVRTC
  verify,    // and right
  screen,    // and timed
  final_,    // and once more in fresh processes
  warm,      // of no answer: the reference is taken, so that the first answer need not wait for it; not in a line
};
std::string_view name(Mode mode);            // "compile", …, "final"
std::optional<Mode> parse_mode(std::string_view name);

// One answer to be judged.
struct Request {
  std::string id = "null";                   // the caller's own, as JSON
  TaskName task;
  std::string answer;                        // a reply in any form that `optimize` reads, or a kernel file
  Mode mode = Mode::screen;
  std::string group;                         // the caller's own; comes back as it is
  std::optional<reward::Shape> reward;       // wanted; a screening that leaps is then confirmed at once
  std::vector<std::string> shown;            // fingerprints of what its prompt showed; a copy earns nothing
  std::optional<double> deadline_seconds;    // from the start of work; afterwards the answer is a fault
};

// Reads one line of JSON. What is wrong with it is one sentence, beside the id where that could be read.
struct BadRequest {
  std::string id = "null", reason;
};
tl::expected<Request, BadRequest> parse_request(std::string_view line);

}  // namespace cudal1::docket
