// SPDX-License-Identifier: Apache-2.0
#include "judge/beside.hpp"

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

#include "catch.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

using namespace cudal1;
using namespace std::chrono_literals;

namespace {

// A process that stands for PyTorch, and what is seen of it.
struct Stage {
  explicit Stage(const std::string& behaviour, bool large = false) {
    ::setenv("FAKE_PYTORCH", behaviour.c_str(), 1);
    ::setenv("FAKE_PYTORCH_FOLDER", folder.path().c_str(), 1);
    const auto start = [this](const std::stop_token& stop) -> pytorch::Host& {
      host = std::make_unique<pytorch::Host>(pytorch::Options{CUDAL1_WORKER, "cpu", 0, stop});
      return *host;
    };
    beside.emplace(start, judge::Beside::Module{"task.cu", "", {"eager", "graph"}, large}, folder.path() / "lock");
  }

  std::vector<double> work() const {   // the moments
    std::vector<double> result;
    if (std::filesystem::exists(folder.path() / "work"))
      for (const auto& line : base::split_lines(base::read_file(folder.path() / "work")))
        if (!line.empty()) result.push_back(std::strtod(std::string(line).c_str(), nullptr));
    return result;
  }
  long work_between(double from, double to) const {
    const auto moments = work();
    return std::count_if(moments.begin(), moments.end(), [&](double at) { return at > from && at < to; });
  }
  pid_t process() const {
    while (!std::filesystem::exists(folder.path() / "pid")) std::this_thread::sleep_for(1ms);
    return static_cast<pid_t>(std::stol(base::read_file(folder.path() / "pid")));
  }

  base::TemporaryFolder folder;
  std::unique_ptr<pytorch::Host> host;
  std::optional<judge::Beside> beside;
};

double now() { return base::now().count(); }

}  // namespace

TEST_CASE("PyTorch beside a run works only while nobody wants the GPU, and becomes ready") {
  Stage stage("works");
  while (stage.work().size() < 20) std::this_thread::sleep_for(1ms);
  double from = 0, to = 0;
  {
    const auto wish = stage.beside->wish();
    const base::FileLock lock(stage.folder.path() / "lock");
    from = now() + 0.02;
    std::this_thread::sleep_for(400ms);
    to = now();
  }
  CHECK(stage.work_between(from, to) == 0);
  {
    const base::FileLock another_run(stage.folder.path() / "lock");
    from = now() + 0.02;
    std::this_thread::sleep_for(400ms);
    to = now();
  }
  CHECK(stage.work_between(from, to) == 0);
  const auto& ready = stage.beside->ready();
  CHECK(ready.host == stage.host.get());
  REQUIRE(ready.baselines.size() == 2);
  CHECK(ready.baselines[0].name == "eager");
  CHECK(ready.baselines[1].name == "graph");
  CHECK(ready.baselines[1].failed.empty());
  CHECK(ready.baselines[1].prepare_seconds == Approx(0.3));
  CHECK(stage.work().size() == 600);
  stage.host->import_compiler();   // it answers as before
}

TEST_CASE("beside a large task PyTorch leaves the GPU alone until it is waited for") {
  Stage stage("works", true);
  stage.process();
  std::this_thread::sleep_for(300ms);
  CHECK(stage.work().empty());
  CHECK(stage.beside->ready().baselines.size() == 2);
  CHECK(stage.work().size() == 600);
}

TEST_CASE("PyTorch that is missing, refuses or dies is no failure of the run") {
  CHECK(Stage("absent").beside->ready().host == nullptr);
  for (const auto& [behaviour, why] : {std::pair{"refuses", "task.cu: it does not fit"}, {"dies", "the process that holds PyTorch ended"}}) {
    Stage stage(behaviour);
    const auto& ready = stage.beside->ready();
    CHECK(ready.host != nullptr);
    REQUIRE(ready.baselines.size() == 1);
    CHECK(ready.baselines[0].name == "eager");
    CHECK_THAT(ready.baselines[0].failed, containing(why));
  }
}

TEST_CASE("a run that ends does not wait for PyTorch, and leaves no process of it") {
  for (const std::string behaviour : {"hangs", "works"}) {
    Stage stage(behaviour);
    const pid_t process = stage.process();
    while (behaviour == "works" && stage.work().empty()) std::this_thread::sleep_for(1ms);
    std::optional<judge::Beside::Wish> wish;
    if (behaviour == "works") wish = stage.beside->wish();   // it is stopped when it is killed
    std::this_thread::sleep_for(20ms);
    const double began = now();
    wish.reset();
    stage.beside.reset();
    CHECK(now() - began < 10);
    CHECK((::kill(process, 0) == -1 && errno == ESRCH));
  }
}

TEST_CASE("a baseline that cannot be had, or not any more, is a value and the process goes on") {
  Stage stage("lacks");
  stage.beside->ready();
  pytorch::Host& host = *stage.host;
  const auto graph = host.prepare("graph");
  CHECK_THAT(graph.failed, containing("a graph would keep"));
  CHECK(host.prepare("eager").failed.empty());
  const auto times = host.time({"eager", "compile"}, "eager");
  REQUIRE(times.ms.size() == 2);
  CHECK(times.ms[0] == 0.5);
  CHECK(std::isnan(times.ms[1]));
  CHECK(times.failed.at("compile") == "OutOfMemoryError: CUDA out of memory");
}

TEST_CASE("a process that can use the GPU no more is replaced, and has the lent memory again") {
  Stage stage("lacks");
  stage.beside->ready();
  stage.host->hold("task.cu", "");
  stage.host->attach({{}});
  CHECK(stage.host->prepare("eager").failed.empty());   // the last word of the process
  stage.host->time({"eager", "compile"}, "eager");
  const auto attached = base::split_lines(base::read_file(stage.folder.path() / "attached"));
  REQUIRE(attached.size() >= 2);
  CHECK(attached[0] != attached[1]);
}
