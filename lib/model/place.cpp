// SPDX-License-Identifier: Apache-2.0
#include "model/service.hpp"

#include "base/error.hpp"

#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

namespace cudal1::model {

namespace {

std::string first_set(const std::vector<std::string>& variables) {
  for (const auto& name : variables)
    if (const char* value = std::getenv(name.c_str()); value != nullptr && *value != '\0') return value;
  return "";
}

// A core file would hold the key.
void leave_no_core() {
  rlimit limit{};
  if (getrlimit(RLIMIT_CORE, &limit) != 0) return;
  limit.rlim_cur = 0;
  setrlimit(RLIMIT_CORE, &limit);
}

}  // namespace

Place find_place(const std::string& prefix, const std::string& own_address, const std::vector<std::string>& address_variables,
                 const std::vector<std::string>& key_variables, const Settings& settings) {
  const std::string from_variable = settings.base_url.empty() ? first_set(address_variables) : "";
  std::string text = settings.base_url.empty() ? from_variable : settings.base_url;
  if (text.empty()) text = own_address;
  if (text.empty())
    throw base::Error(base::Fault::usage,
                      fmt::format("{}… has no address of its own; name the server's with --base-url http://HOST:PORT{}", prefix,
                                  address_variables.empty() ? "" : " or " + address_variables.front()));
  Place place{parse_address(text), std::nullopt};
  if (!settings.with_keys) return place;
  const bool own = !own_address.empty() && parse_address(own_address).host == place.address.host;
  if (!settings.key_command.empty()) {
    place.key = key_from_command(settings.key_command);
  } else if (!settings.key_variable.empty()) {
    place.key = key_from_environment({settings.key_variable});
    if (!place.key)
      throw base::Error(base::Fault::credentials, fmt::format("--key-variable {}: it is not set", settings.key_variable));
  } else if (own || !from_variable.empty() || own_address.empty()) {
    place.key = key_from_environment(key_variables);
    if (!place.key && own && !place.address.loopback())
      throw base::Error(base::Fault::credentials,
                        fmt::format("{}… needs a key: set {}, or name a program that prints it with --key-command", prefix,
                                    fmt::join(key_variables, " or ")));
  }
  if (place.key) leave_no_core();
  return place;
}

}  // namespace cudal1::model
