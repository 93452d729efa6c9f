// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include "catch.hpp"

#include <cstdio>
#include <cstdlib>

#include <unistd.h>

namespace {

int skipped = 0;
bool failed = false;

// CTest counts the exit status 77 as skipped; Catch2's own main ends with 0.
void say_skipped() {
  if (skipped == 0 || failed) return;
  std::fprintf(stderr, "%d test case%s skipped\n", skipped, skipped == 1 ? " was" : "s were");
  std::fflush(nullptr);
  _exit(77);
}

#if defined(CATCH_VERSION_MAJOR) && CATCH_VERSION_MAJOR >= 3
using Listener = Catch::EventListenerBase;
#else
using Listener = Catch::TestEventListenerBase;
#endif

class Outcome : public Listener {
 public:
  using Listener::Listener;
  void testRunStarting(const Catch::TestRunInfo&) override { std::atexit(say_skipped); }
  void testRunEnded(const Catch::TestRunStats& run) override { failed = run.totals.testCases.failed > 0; }
};

CATCH_REGISTER_LISTENER(Outcome)

}  // namespace

void skip_test_case(const std::string& reason) {
  ++skipped;
  std::fprintf(stderr, "skipped: %s\n", reason.c_str());
#if defined(CATCH_VERSION_MAJOR) && CATCH_VERSION_MAJOR >= 3
  SKIP(reason);
  std::abort();
#else
  throw Catch::TestFailureException();  // ends the case; what fails it is a failed assertion, and there is none
#endif
}
