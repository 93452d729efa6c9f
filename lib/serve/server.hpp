// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docket/docket.hpp"
#include "reward/reward.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cudal1::serve {

struct Options {
  std::string host = "127.0.0.1";
  int port = 8780;                              // 0: any that is free
  int connections = 512;                        // served at once; more wait
  std::string token;                            // wanted as `Authorization: Bearer`; empty: none, on the loopback alone
  reward::Shape reward = reward::usual;         // where a request names none
  std::map<std::string, std::string> tasks;     // files that requests may name: their path by name and by path
  std::vector<std::string> devices;             // of the places, for /v1/devices
  double reward_limit_seconds = 150;            // most that /get_reward waits
  std::function<std::string()> self_test;       // what is wrong with the places; empty: nothing
  std::string version;
};

// The docket over HTTP; cudal1-serve(7).
class Server {
 public:
  // Binds the port. Throws base::Error(usage) where that is not possible, or would serve another machine without a token.
  Server(docket::Docket& docket, Options options);
  ~Server();

  int port() const;
  void run();     // serves until end() is called and every request under way is answered
  void drain();   // takes nothing new, finishes what waits, then ends; returns at once
  void end();     // takes nothing new, answers what waits with a fault, then ends; returns at once

 private:
  struct State;
  std::unique_ptr<State> state_;
};

bool is_loopback(const std::string& host);

}  // namespace cudal1::serve
