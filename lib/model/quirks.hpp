// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace cudal1::model {

// Fields of a request that one model at one service does not take: field → the name that it takes instead, or nothing
// to leave it out.
using Quirks = std::map<std::string, std::string>;

// What to do about a field that a service has just refused ("max_tokens", "messages[0].role"); empty: it cannot be done
// without.
std::optional<Quirks::value_type> remedy_for(const std::string& field);

// The request as the service takes it.
std::string with_quirks(const std::string& body, const Quirks& quirks);

// What was learned about services, kept in a file that every run can add to. Without a folder it is kept in memory.
class QuirkStore {
 public:
  explicit QuirkStore(const std::filesystem::path& folder) : file_(folder.empty() ? folder : folder / "quirks.json") {}
  Quirks of(const std::string& service);
  void learn(const std::string& service, const Quirks::value_type& quirk);

 private:
  std::map<std::string, Quirks> read() const;

  std::filesystem::path file_;
  std::mutex mutex_;
  std::map<std::string, Quirks> learned_;
};

}  // namespace cudal1::model
