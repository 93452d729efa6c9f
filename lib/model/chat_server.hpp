// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/providers.hpp"

#include <string>
#include <vector>

namespace cudal1::model {

// One kind of server that speaks OpenAI's Chat Completions, and what sets it apart.
struct ChatServer {
  enum class Effort {
    field,     // "reasoning_effort": "high"
    object,    // "reasoning": {"effort": "high"}
    thinking,  // "reasoning_effort" beside "thinking": {"type": "enabled"}
  };
  std::string prefix, summary;
  std::string address;                     // its own; empty: the user has to name one
  std::vector<std::string> address_variables, key_variables;
  std::string limit_field = "max_tokens";  // of the length of a reply
  std::string rules_role = "system";       // who says the fixed rules
  Effort effort = Effort::field;
  bool asks_for_cost = false;              // "usage": {"include": true}
  bool pads = false;                       // its stream has padding that can be left out
};

// Every kind, the general one ("compat/") last.
const std::vector<ChatServer>& chat_servers();

std::unique_ptr<Model> open_chat(const ChatServer& server, const std::string& name, const Settings& settings);

}  // namespace cudal1::model
