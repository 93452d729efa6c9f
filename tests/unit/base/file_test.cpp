// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include "base/error.hpp"
#include "catch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

using namespace cudal1::base;
namespace fs = std::filesystem;

namespace {

// What the call complains about; empty when it does not.
template <typename Call>
std::string complaint(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a file is written whole, with missing folders, and read back as bytes") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a" / "b" / "c.txt";
  const std::string bytes("one\0two\r\n", 9);
  write_file(path, bytes);
  CHECK(read_file(path) == bytes);
  write_file(path, "new");
  CHECK(read_file(path) == "new");
  CHECK(std::distance(fs::directory_iterator(path.parent_path()), fs::directory_iterator()) == 1);
}

TEST_CASE("reading says what is wrong with the path") {
  const TemporaryFolder folder;
  const std::string missing = complaint([&] { read_file(folder.path() / "none.cu"); });
  CHECK(has(missing, "none.cu"));
  CHECK(has(missing, "No such file"));
  CHECK(has(complaint([&] { read_file(folder.path()); }), "is a folder"));
  write_file(folder.path() / "big", std::string(1001, 'x'));
  CHECK(has(complaint([&] { read_file(folder.path() / "big", 1000); }), "larger than 1000 bytes"));
  CHECK(read_file(folder.path() / "big", 1001).size() == 1001);
  CHECK_FALSE(read_file("/proc/self/status").empty());  // a file whose size is said to be 0
}

TEST_CASE("a file that cannot be replaced keeps its old content and leaves nothing behind") {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "taken" / "by a folder");
  CHECK_THROWS_AS(write_file(folder.path() / "taken", "x"), Error);
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("an append file grows and keeps what was there") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "journal";
  for (int i = 0; i < 2; ++i) {
    AppendFile file(path);
    file.append("line\n");
    file.append("");
  }
  CHECK(read_file(path) == "line\nline\n");
  CHECK_THROWS_AS(AppendFile(folder.path()), Error);
}

TEST_CASE("a temporary folder is gone with its owner") {
  fs::path path;
  {
    const TemporaryFolder folder("prefix");
    path = folder.path();
    write_file(path / "deep" / "file", "x");
    CHECK(path.filename().string().starts_with("prefix-"));
  }
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE("a lock is held by one at a time") {
  const TemporaryFolder folder;
  std::atomic<int> inside{0}, most{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const FileLock lock(folder.path() / "lock");
      most = std::max(most.load(), ++inside);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      --inside;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(most == 1);
}

TEST_CASE("the base folders follow the XDG variables, and only absolute ones") {
  setenv("XDG_CACHE_HOME", "/somewhere/cache", 1);
  CHECK(cache_folder() == "/somewhere/cache/cudal1");
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", "/home/someone", 1);
  CHECK(cache_folder() == "/home/someone/.cache/cudal1");
  unsetenv("XDG_STATE_HOME");
  CHECK(state_folder() == "/home/someone/.local/state/cudal1");
  unsetenv("XDG_CONFIG_HOME");
  CHECK(config_folder() == "/home/someone/.config/cudal1");
}
