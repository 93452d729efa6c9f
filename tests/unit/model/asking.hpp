// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/providers.hpp"
#include "server.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace served {

// Settings under which minutes are milliseconds, and what they were told.
struct Desk {
  Desk();
  cudal1::model::Settings settings;
  std::vector<std::string> notes, traces;
  std::string said() const;  // all of both

 private:
  mutable std::mutex mutex_;
};

// What a model called `name` answers at the server.
cudal1::model::Reply ask(const Server& server, const std::string& name, Desk& desk, const std::stop_token& stop = {});
cudal1::model::Question question(int sample = 1);

// One kind of service, as far as tests need it.
struct Spoken {
  std::string name;                                                      // for --model
  std::string path;                                                      // of a request
  std::string type;                                                      // of an answer
  std::string (*said)(const std::string& text, const std::string& end);  // a whole answer: "stop", "length", …
  std::string (*begun)(const std::string& text);                         // its beginning
  std::string (*thought)(const std::string& thought, const std::string& text);
};
const std::vector<Spoken>& all_spoken();

// JSON's own form of a text, with its quotation marks.
std::string quoted(const std::string& text);

}  // namespace served
