// SPDX-License-Identifier: Apache-2.0
#include "judge/turn_phases.hpp"

#include "catch.hpp"

#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace cudal1;
using namespace std::chrono_literals;

namespace {

// Threads that ask for a GPU, and the order in which they had it: 's' shared, 'a' alone.
struct Queue {
  explicit Queue(judge::TurnPhases::Lengths lengths) : phases(lengths) {}
  void ask(bool alone, std::chrono::milliseconds length) {
    threads.emplace_back([this, alone, length] {
      phases.enter(alone);
      {
        const std::lock_guard lock(mutex);
        order += alone ? 'a' : 's';
      }
      std::this_thread::sleep_for(length);
      phases.leave(alone);
    });
    std::this_thread::sleep_for(30ms);   // it waits, or works, before the next one asks
  }
  std::string had() {
    threads.clear();
    return order;
  }

  judge::TurnPhases phases;
  std::mutex mutex;
  std::string order;
  std::vector<std::jthread> threads;
};

}  // namespace

TEST_CASE("those who compute come in together, and those who take times one after the other") {
  Queue queue({base::Seconds{10}, base::Seconds{10}});
  queue.ask(false, 400ms);
  queue.ask(true, 20ms);    // waits
  queue.ask(false, 20ms);   // in the phase that goes on
  queue.ask(true, 150ms);
  queue.ask(false, 20ms);
  CHECK(queue.had() == "sssaa");
}

TEST_CASE("a phase that has lasted lets the other kind come") {
  Queue queue({base::Seconds{0.1}, base::Seconds{0.1}});
  queue.ask(false, 300ms);
  queue.ask(true, 600ms);   // waits
  std::this_thread::sleep_for(100ms);
  queue.ask(false, 20ms);   // too late for this phase
  std::this_thread::sleep_for(300ms);
  queue.ask(true, 20ms);    // and this one for the next: the other kind has waited
  CHECK(queue.had() == "sasa");
}
