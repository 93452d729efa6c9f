// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/spawn.hpp"
#include "catch.hpp"
#include "search/fakes.hpp"
#include "store/event.hpp"
#include "store/folder_lock.hpp"
#include "store/journal.hpp"
#include "store/run.hpp"
#include "store/run_folder.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace cudal1;
namespace fs = std::filesystem;
using Existing = store::RunFolder::Existing;

namespace {

store::Identity plain() {
  return store::identity(fakes::small_task(), {}, {"builtin"}, "sim:H200", "", "0.1.0", std::string(64, 'a'));
}

void open(const fs::path& folder, const store::Identity& identity, Existing existing = Existing::resume) {
  const auto task = fakes::small_task();
  store::RunFolder run(folder, task, identity, existing);
  run.started({});
}

}  // namespace

TEST_CASE("the default folder is named after task and options") {
  auto identity = plain();
  const auto folder = store::default_folder(identity).string();
  CHECK_THAT(folder, containing("cudal1-runs/twice-"));
  CHECK(store::default_folder(plain()) == folder);
  identity.seed = 2;
  CHECK(store::default_folder(identity) != folder);
  identity.seed = 1;
  identity.version = "9.9";
  CHECK(store::default_folder(identity) == folder);
}

TEST_CASE("a folder of another run is refused, and each difference is named") {
  const base::TemporaryFolder folder;
  open(folder.path() / "run", plain());
  auto other = plain();
  other.device = "NVIDIA H200";
  other.driver = "580.1";
  CHECK_THROWS_WITH(open(folder.path() / "run", other),
                    containing("device: «sim:H200» there, «NVIDIA H200» here") && containing("driver") && containing("--force"));
  CHECK_NOTHROW(open(folder.path() / "run", other, Existing::force));
  other.task_digest = std::string(64, 'f');
  CHECK_THROWS_WITH(open(folder.path() / "run", other, Existing::force), containing("task:") && !containing("--force"));
  other = plain();
  other.version = "0.2.0";
  CHECK_THROWS_WITH(open(folder.path() / "run", other), containing("version of cudal1: «0.1.0» there, «0.2.0» here"));
}

TEST_CASE("again moves the old run aside") {
  const base::TemporaryFolder folder;
  open(folder.path() / "run", plain());
  base::write_file(folder.path() / "run" / "best.cu", "old");
  open(folder.path() / "run", plain(), Existing::again);
  CHECK_FALSE(fs::exists(folder.path() / "run" / "best.cu"));
  CHECK(base::read_file(folder.path() / "run.1" / "best.cu") == "old");
}

TEST_CASE("a folder that holds something else is left alone") {
  const base::TemporaryFolder folder;
  base::write_file(folder.path() / "thesis.tex", "years of work");
  CHECK_THROWS_WITH(open(folder.path(), plain()), containing("holds no run") && containing("thesis.tex"));
  CHECK_FALSE(fs::exists(folder.path() / "run.json"));
}

TEST_CASE("a run that ends before its reference has a time leaves nothing behind but what others put there") {
  const base::TemporaryFolder folder;
  const auto task = fakes::small_task();
  { const store::RunFolder run(folder.path() / "run", task, plain()); }
  CHECK_FALSE(fs::exists(folder.path() / "run"));
  {
    const store::RunFolder run(folder.path() / "run", task, plain());
    base::write_file(folder.path() / "run" / "notes", "mine");
  }
  CHECK(base::read_file(folder.path() / "run" / "notes") == "mine");
  open(folder.path() / "other", plain());
  { const store::RunFolder run(folder.path() / "other", task, plain()); }
  CHECK(fs::exists(folder.path() / "other" / "journal.jsonl"));
}

TEST_CASE("two processes do not work in one folder") {
  const base::TemporaryFolder folder;
  const auto task = fakes::small_task();
  const store::RunFolder first(folder.path(), task, plain());
  CHECK_THROWS_WITH(store::RunFolder(folder.path(), task, plain()), containing("another cudal1 works in"));
  CHECK(store::list(folder.path().parent_path()).size() >= 1);
}

// Another thread may fork just then; its process has the lock's file until it executes its program.
TEST_CASE("a folder is free once its run is over, whoever was forked meanwhile") {
  const base::TemporaryFolder folder;
  std::optional<store::FolderLock> lock(std::in_place, folder.path());
  base::Pipe pipe;
  const pid_t child = ::fork();
  if (child == 0) {
    char byte;
    pipe.write.reset();
    _exit(::read(pipe.read.value(), &byte, 1) == 0 ? 0 : 1);
  }
  REQUIRE(child > 0);
  CHECK(store::FolderLock::held(folder.path()));
  lock.reset();
  CHECK_FALSE(store::FolderLock::held(folder.path()));
  CHECK_NOTHROW(store::FolderLock(folder.path()));
  pipe.write.reset();
  CHECK(::waitpid(child, nullptr, 0) == child);
}

TEST_CASE("who asks whether a folder is held is in nobody's way") {
  const base::TemporaryFolder folder;
  base::write_file(folder.path() / "lock", "");
  std::atomic<bool> over = false;
  std::thread asking([&] {
    while (!over) store::FolderLock::held(folder.path());
  });
  int refused = 0;
  for (int i = 0; i < 2000; ++i) try {
      const store::FolderLock lock(folder.path());
    } catch (const base::Error&) {
      ++refused;
    }
  over = true;
  asking.join();
  CHECK(refused == 0);
}

TEST_CASE("a folder that cannot be made is an error with a next step") {
  const base::TemporaryFolder folder;
  base::write_file(folder.path() / "file", "");
  CHECK_THROWS_WITH(open(folder.path() / "file" / "run", plain()), containing("--out"));
}

TEST_CASE("a damaged line before the last one is an error with its number") {
  const base::TemporaryFolder folder;
  open(folder.path(), plain());
  std::ofstream(folder.path() / "journal.jsonl", std::ios::app) << "{\"schema\":1,\n{}\n";
  CHECK_THROWS_WITH(store::load(folder.path()), containing("journal.jsonl:3: this journal line is damaged"));
}

TEST_CASE("a journal of another schema is an error that names both") {
  const base::TemporaryFolder folder;
  base::write_file(folder.path() / "journal.jsonl", "{\"schema\":7,\"at\":\"\",\"event\":\"run\"}\n");
  CHECK_THROWS_WITH(store::load(folder.path()), containing("schema 7") && containing("schema 1"));
}

TEST_CASE("a folder without a run is an error when it is read") {
  const base::TemporaryFolder folder;
  CHECK_THROWS_WITH(store::load(folder.path()), containing("holds no run"));
  CHECK(store::list(folder.path()).empty());
}

TEST_CASE("runs are listed with their state") {
  const base::TemporaryFolder folder;
  const auto base = folder.path() / "cudal1-runs";
  open(base / "a", plain());
  fs::create_directories(base / "no-run");
  const auto runs = store::list(folder.path());
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].task == "twice");
  CHECK(runs[0].stopped_because.empty());
  CHECK_FALSE(runs[0].running);
}

TEST_CASE("text that is no UTF-8 does not break the journal") {
  store::ReplyEvent event{{1, 1, 0}, "cmd:x", {}};
  event.reply.text = "bytes \xff\xfe here";
  const auto line = store::to_line({"now", event});
  const auto back = store::parse_line(line);
  CHECK_THAT(std::get<store::ReplyEvent>(back.body).reply.text, containing("bytes "));
}

TEST_CASE("times are stripped wherever they stand, and nothing else") {
  CHECK(store::without_times(R"({"at":"x","seconds":1.5,"judgement":{"judging_seconds":2,"step_seconds":{"time":1},"time_ms":3},"list":[{"seconds":1}]})") ==
        R"({"judgement":{"time_ms":3},"list":[{}]})");
}
