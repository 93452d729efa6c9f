// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/arrivals.hpp"
#include "model/model.hpp"
#include "model/pause.hpp"
#include "model/prices.hpp"
#include "model/quirks.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::model {

// What the user may set for the models of a run. Values that a provider does not know are not sent. Copies share what
// their requests have in common: pauses that a service asks for, what was learned about it, prices.
struct Settings {
  std::string base_url;                     // overrides the provider's own and its environment variables
  std::vector<std::string> key_command;     // prints the key
  std::string key_variable;                 // the environment variable that holds it; empty: the provider's usual ones
  bool with_keys = true;                    // false: to look at only; nothing can be asked
  std::string ca_bundle;                    // certificates of authorities; empty: $SSL_CERT_FILE and the like, the system's
  std::string effort;                       // reasoning effort; empty: the provider's default
  long long output_tokens = 32768;          // most that one reply may take
  long long context_tokens = 32768;         // ollama: prompt and reply together
  bool send_seed = false;                   // where the protocol has one
  std::optional<double> temperature, top_p; // of the choice of tokens; empty: the service's own
  std::vector<std::string> request_fields;  // "NAME=JSON", put into every request as they are
  int parallel = 8;                         // requests to one service at once
  base::Seconds connect_limit{10}, first_byte_limit{900}, idle_limit{300};  // 0: none
  base::Seconds longest_wait{120};          // before a retry, when the service asks for a pause
  int retries = 6;
  base::Seconds command_limit{900};         // cmd: one reply
  int commands = 1;                         // cmd: programs at once; not every program bears company of its own kind
  std::function<void(const std::string&)> note = [](const std::string&) {};   // what the user should know; from any thread
  std::function<void(const std::string&)> trace = [](const std::string&) {};  // every request and answer
  std::shared_ptr<Prices> prices = std::make_shared<Prices>();
  std::shared_ptr<QuirkStore> quirks = std::make_shared<QuirkStore>(std::filesystem::path());
  std::shared_ptr<Pauses> pauses = std::make_shared<Pauses>();
  std::shared_ptr<Arrivals> arrivals = std::make_shared<Arrivals>();
};

// Throws base::Error(usage) for what is no NAME=JSON.
void check_request_field(const std::string& text);

// One kind of model: its prefix as written in --model and how to open it from the rest of the name.
struct Provider {
  std::string prefix;                       // "openai/", "replay:", "builtin"
  std::string summary;                      // one line for `cudal1 models`
  std::function<std::unique_ptr<Model>(const std::string& rest, const Settings& settings)> open;
};

// The providers of this part. `builtin` is added by the command line, which alone knows the playbook.
std::vector<Provider> providers();

// Opens the model called `name` ("replay:runs/a", "openai/gpt-…") among `known`. Throws base::Error: usage for an
// unknown provider (with the nearest known one) or a folder that is missing, credentials for a missing key.
std::unique_ptr<Model> open(const std::string& name, const Settings& settings, const std::vector<Provider>& known);

}  // namespace cudal1::model
