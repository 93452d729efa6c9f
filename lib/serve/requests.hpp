// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docket/request.hpp"
#include "docket/ruling.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace cudal1::serve {

// Files that may be named: their path, by path and by name.
using Files = std::map<std::string, std::string>;

// Requests of one body, each as it is or what is wrong with it.
using Item = std::variant<docket::Request, docket::BadRequest>;
struct Items {
  std::vector<Item> items;
  bool list = false;      // the body is a list; else one object
  std::string problem;    // of the body as a whole: one sentence
};

// The body of /v1/judge: a request of the pipe's, a list of them, or an object with the list `items`.
Items read_items(const std::string& body, const Files& files, std::optional<reward::Shape> reward);

// The body of OpenRLHF's /get_reward: `query` (the prompt with the answer behind it), `prompts`, `labels` (the task: an
// object as JSON, a digest, or the name of a file). Without labels the one task that the server was started with.
Items read_queries(const std::string& body, const Files& files, reward::Shape reward);

// The object `task` of another body. The error is one sentence.
tl::expected<docket::TaskName, std::string> read_task(const std::string& body, const Files& files);

// What OpenRLHF wants to hear.
std::string reward_reply(const std::vector<docket::Ruling>& rulings);

}  // namespace cudal1::serve
