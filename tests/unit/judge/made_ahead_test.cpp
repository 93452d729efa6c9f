// SPDX-License-Identifier: Apache-2.0
#include "judge/made_ahead.hpp"

#include "court.hpp"
#include "judge/candidate.hpp"

#include "catch.hpp"

using namespace cudal1;

namespace {

// A worker that is to verify `answer` to the task of court.hpp; the simulator takes no times.
struct Ahead {
  explicit Ahead(const std::string& answer) {
    Court court(scale_task);
    const auto built = [&](const judge::Candidate& candidate) { return judge::build(court.task, candidate, candidate.family.front(), court.compiler, "sm_90").value(); };
    const judge::Options options = Court::options("sim", 20);
    judge::MadeAhead::Jobs jobs;
    jobs.open.device = "sim";
    jobs.open.gpu = options.gpu;
    jobs.open.source = court.task.file.source;
    jobs.open.path = "task.cu";
    jobs.open.workloads = court.task.workloads;
    jobs.open.checks = court.task.checks;
    jobs.reference.executable = built(judge::candidate_of(court.task.file).value());
    jobs.check.executable = built(judge::read_candidate(court.task, answer, "answer.cu").value());
    ahead.emplace(std::move(jobs), host, options.run_limit);
  }

  judge::DeviceHost host{{CUDAL1_WORKER, {"device"}}};
  std::optional<judge::MadeAhead> ahead;
};

}  // namespace

TEST_CASE("a process that was made ready ahead has verified a right variant, once, and waits for more") {
  Ahead right(scale_fast);
  REQUIRE(right.ahead->ready());
  CHECK(right.ahead->ready()->errors.trials > 1);
  CHECK(right.host.alive());
  CHECK(right.host.started() == 1);
}

TEST_CASE("nothing is ready, and no process left, for a variant that is wrong") {
  std::string three = scale_fast;
  three.replace(three.find("2 * A[i]"), 8, "3 * A[i]");
  Ahead wrong(three);
  CHECK(!wrong.ahead->ready());
  CHECK(!wrong.host.alive());
}
