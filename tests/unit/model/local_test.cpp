// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/file.hpp"
#include "catch.hpp"
#include "model/providers.hpp"
#include "model/reply_folder.hpp"

#include <filesystem>
#include <fstream>
#include <thread>

using namespace cudal1;
using model::Key;
using model::Reply;
using Status = model::Reply::Status;

namespace {

model::Question question(const Key& key) {
  model::Question result;
  result.key = key;
  result.system = "The rules.";
  result.user = "The task.";
  return result;
}

std::unique_ptr<model::Model> opened(const std::string& name, const model::Settings& settings = {}) {
  return model::open(name, settings, model::providers());
}

std::filesystem::path program(const base::TemporaryFolder& folder, const std::string& text) {
  const auto path = folder.path() / "program";
  base::write_file(path, "#!/bin/sh\n" + text);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

Reply reply_of(const std::string& text, const model::Settings& settings = {}) {
  const base::TemporaryFolder folder;
  return opened("cmd:" + program(folder, text).string() + " one two", settings)->answer(question({1, 1, 0}), {});
}

}  // namespace

TEST_CASE("keys are written and read alike") {
  for (const Key& key : {Key{1, 2, 0}, Key{1, 2, 1}, Key{12, 345, 2}}) CHECK(model::parse_key(key.text()) == key);
  CHECK(Key{1, 2, 1}.text() == "r01-s02-repair");
  for (const char* text : {"", "r1-s02", "r01s02", "r01-s02-", "r01-s02-repair1", "r01-s02.prompt", "r-1-s02", "r01-s0x"})
    CHECK_FALSE(model::parse_key(text));
}

TEST_CASE("a reply folder gives back what was written, reasons included") {
  const base::TemporaryFolder folder;
  const model::ReplyFolder replies(folder.path());
  Reply refused;
  refused.status = Status::refused;
  refused.reason = "it declined";
  refused.text = "I cannot.\nSorry.";
  Reply good;
  good.text = "## Performance Analysis";
  replies.write({1, 1, 0}, good);
  replies.write({1, 2, 0}, refused);
  CHECK(replies.read({1, 1, 0})->text == good.text);
  CHECK(replies.read({1, 2, 0})->status == Status::refused);
  CHECK(replies.read({1, 2, 0})->reason == "it declined");
  CHECK(replies.read({1, 2, 0})->text == refused.text);
  CHECK_FALSE(replies.read({1, 3, 0}));
  CHECK(replies.keys() == std::vector<Key>{{1, 1, 0}, {1, 2, 0}});
}

TEST_CASE("a replay gives recorded replies, refuses gaps and is exhausted at its end") {
  const base::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "replies");
  base::write_file(folder.path() / "replies" / "r01-s01.md", "first");
  base::write_file(folder.path() / "replies" / "r02-s01.md", "second");
  const auto model = opened("replay:" + folder.path().string());
  CHECK(model->answer(question({1, 1, 0}), {}).text == "first");
  CHECK(model->answer(question({1, 2, 0}), {}).status == Status::refused);
  CHECK(model->answer(question({1, 1, 1}), {}).status == Status::refused);
  const auto end = model->answer(question({3, 1, 0}), {});
  CHECK(end.status == Status::exhausted);
  CHECK_THAT(end.reason, containing("ends with r02-s01"));
}

TEST_CASE("a replay of nothing is refused when it is opened") {
  const base::TemporaryFolder folder;
  CHECK_THROWS_WITH(opened("replay:" + folder.path().string()), containing("holds no reply"));
  CHECK_THROWS_WITH(opened("replay:/no/such"), containing("is no folder"));
}

TEST_CASE("an exchange writes the prompt, waits, and takes the reply") {
  const base::TemporaryFolder folder;
  const auto place = folder.path() / "desk";
  const auto model = opened("exchange:" + place.string());
  const auto waiting = model->answer(question({1, 1, 0}), {});
  CHECK(waiting.status == Status::pending);
  CHECK_THAT(waiting.reason, containing("r01-s01.prompt.md") && containing("r01-s01.md"));
  CHECK(base::read_file(place / "r01-s01.prompt.md") == "The rules.\n\nThe task.");
  std::ofstream(place / "r01-s01.md") << "";
  CHECK(model->answer(question({1, 1, 0}), {}).status == Status::pending);
  std::ofstream(place / "r01-s01.md") << "the reply";
  const auto reply = model->answer(question({1, 1, 0}), {});
  CHECK(reply.status == Status::ok);
  CHECK(reply.text == "the reply");
}

TEST_CASE("an exchange does not take a reply to another prompt") {
  const base::TemporaryFolder folder;
  const auto model = opened("exchange:" + folder.path().string());
  model->answer(question({1, 1, 0}), {});
  base::write_file(folder.path() / "r01-s01.md", "the reply");
  auto other = question({1, 1, 0});
  other.user = "Another task.";
  const auto reply = model->answer(other, {});
  CHECK(reply.status == Status::unreachable);
  CHECK_THAT(reply.reason, containing("answers another prompt"));
}

TEST_CASE("a command gets the prompt on its input and its arguments as words") {
  const auto reply = reply_of("cat; echo \"[$1] [$2] $#\"");
  CHECK(reply.status == Status::ok);
  CHECK(reply.text == "The rules.\n\nThe task.[one] [two] 2\n");
}

TEST_CASE("no shell reads a command's arguments") {
  const base::TemporaryFolder folder;
  const auto path = program(folder, "cat > /dev/null; echo \"$@\"");
  const auto reply = opened("cmd:" + path.string() + " $HOME '`id`' \";\" *")->answer(question({1, 1, 0}), {});
  CHECK(reply.text == "$HOME `id` ; *\n");
  CHECK_THROWS_WITH(opened("cmd:" + path.string() + " | tee replies"), containing("there is no shell, so | has no meaning"));
}

TEST_CASE("a command that fails, hangs, is silent or does not stop talking has a reason") {
  CHECK_THAT(reply_of("echo no quota >&2; exit 3").reason, containing("exit code 3: no quota"));
  CHECK_THAT(reply_of("exit 0").reason, containing("printed nothing"));
  CHECK_THAT(reply_of("kill -9 $$").reason, containing("signal 9"));
  model::Settings settings;
  settings.command_limit = base::Seconds(0.2);
  const auto hung = reply_of("sleep 20", settings);
  CHECK(hung.status == Status::unreachable);
  CHECK_THAT(hung.reason, containing("no reply within"));
  const auto endless = reply_of("head -c 9000000 /dev/zero");
  CHECK(endless.status == Status::truncated);
  CHECK(endless.text.empty());
}

TEST_CASE("a command is ended at once when the run is interrupted") {
  const base::TemporaryFolder folder;
  const auto model = opened("cmd:" + program(folder, "sleep 30; echo late").string());
  std::stop_source source;
  const std::jthread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    source.request_stop();
  });
  const auto begin = base::now();
  const auto reply = model->answer(question({1, 1, 0}), source.get_token());
  CHECK(reply.status == Status::unreachable);
  CHECK_THAT(reply.reason, containing("interrupted"));
  CHECK(base::now() - begin < base::Seconds(5));
}

TEST_CASE("a program that is not there is refused when the model is opened") {
  CHECK_THROWS_WITH(opened("cmd:no-such-program-here"), containing("no program no-such-program-here"));
  CHECK_THROWS_WITH(opened("cmd:"), containing("names nothing after"));
}

TEST_CASE("an unknown model is refused with the nearest known one") {
  CHECK_THROWS_WITH(opened("reply:x"), containing("did you mean replay:"));
  CHECK_THROWS_WITH(opened("xyzzyplugh"), containing("cudal1 models"));
}
