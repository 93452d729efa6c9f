// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/address.hpp"
#include "model/dialect.hpp"
#include "model/providers.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::model {

// Where a provider's service lives, and the key that goes there.
struct Place {
  Address address;
  std::optional<Secret> key;
};

// The settings' address, else that of the first variable that is set, else the provider's own (empty: it has none). A key
// that the user names goes there; the provider's usual variables are read only for its own address, for one that its
// variables name, and for a provider without an address of its own. Throws base::Error: usage without an address,
// credentials without a key that the provider's own service needs.
Place find_place(const std::string& prefix, const std::string& own_address, const std::vector<std::string>& address_variables,
                 const std::vector<std::string>& key_variables, const Settings& settings);

struct ServiceOptions {
  std::string name;              // "openai/gpt-…"
  Place place;
  std::unique_ptr<Dialect> dialect;
  int parallel = 0;              // 0: as the settings say
  long long context_tokens = 0;  // 0: no limit is known
  bool reports_cost = false;     // each reply says what it cost
};

// Whether each reply says what it cost, so that no price has to be known before.
bool reports_cost(const Model& model);

// Where a model's questions go; empty: to no service.
std::string address_of(const Model& model);

// A model that a service has.
struct Served {
  std::string name;              // as the service is asked for it
  long long context_tokens = 0;  // most that prompt and reply take; 0: it does not tell
};

// What the service of an opened model has, in its own order. Throws base::Error for one that is none, cannot be reached,
// does not take the key, or keeps no list.
std::vector<Served> served_models(const Model& model);

// A model behind HTTP: asks, reads the stream, tries again when that helps, and counts what it costs.
std::unique_ptr<Model> open_service(ServiceOptions options, const Settings& settings);

}  // namespace cudal1::model
