// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::model {

// What the user may set for the models of a run. Values that a provider does not know are not sent.
struct Settings {
  std::string base_url;                     // overrides the provider's own and its environment variables
  std::vector<std::string> key_command;     // prints the key; empty: the provider's environment variables
  std::string effort;                       // reasoning effort; empty: the provider's default
  long long output_tokens = 32768;          // most that one reply may take
  long long context_tokens = 32768;         // ollama: prompt and reply together
  std::optional<std::uint64_t> seed;        // sent where the protocol has one
  base::Seconds connect_limit{10}, first_byte_limit{900}, idle_limit{300};
  base::Seconds longest_wait{120};          // before a retry, when the server asks for a pause
  int retries = 6;
  base::Seconds command_limit{900};         // cmd: one reply
};

// One kind of model: its prefix as written in --model and how to open it from the rest of the name.
struct Provider {
  std::string prefix;                       // "openai/", "replay:", "builtin"
  std::string summary;                      // one line for `cudal1 models`
  std::function<std::unique_ptr<Model>(const std::string& rest, const Settings& settings)> open;
};

// The providers of this part. `builtin` is added by the command line, which alone knows the playbook.
const std::vector<Provider>& providers();

// Opens the model called `name` ("replay:runs/a", "openai/gpt-…") among `known`. Throws base::Error: usage for an
// unknown provider (with the nearest known one) or a folder that is missing, credentials for a missing key.
std::unique_ptr<Model> open(const std::string& name, const Settings& settings, const std::vector<Provider>& known);

}  // namespace cudal1::model
