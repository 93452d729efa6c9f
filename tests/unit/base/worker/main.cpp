// SPDX-License-Identifier: Apache-2.0
// The child of the process tests: its first argument says how it behaves.
#include "base/error.hpp"
#include "base/process.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

using namespace cudal1;

namespace {

void sleep_forever() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

int open_descriptors() {
  int count = -3;  // ".", ".." and the folder's own
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

int serve() {
  base::Channel channel = base::worker_channel();
  std::string message;
  while (channel.receive(message) == base::Channel::Status::message) {
    if (message == "die") std::abort();
    if (message == "shout") {
      for (int i = 0; i < 5000; ++i) std::fprintf(stderr, "a line of standard error, number %d\n", i);
    }
    if (message == "hang") sleep_forever();
    if (message == "variables") {
      message.clear();
      for (const char* name : {"PLANTED_API_KEY", "PLANTED_OTHER"})
        if (const char* value = std::getenv(name)) message += value;
    }
    if (message == "descriptors") message = std::to_string(open_descriptors());
    if (message == "grab") {
      std::vector<char*> blocks;
      for (int i = 0; i < 64; ++i) {
        char* block = static_cast<char*>(std::malloc(std::size_t{16} << 20));
        if (block == nullptr) break;
        std::memset(block, 1, std::size_t{16} << 20);
        blocks.push_back(block);
      }
      message = std::to_string(blocks.size());
      for (char* block : blocks) std::free(block);
    }
    if (!channel.send(message)) return 1;
  }
  return 7;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  if (how == "serve") {
    try {
      return serve();
    } catch (const base::Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 2;
    }
  }
  if (how == "mother") {  // starts a worker of its own, tells its number, and is killed by the test
    base::Worker worker({argv[0], {"serve"}});
    std::printf("%d\n", static_cast<int>(worker.pid()));
    std::fflush(stdout);
    worker.channel().send("hang");
    kill(getpid(), SIGKILL);
  }
  if (how == "deaf") {
    std::signal(SIGTERM, SIG_IGN);
    sleep_forever();
  }
  return 3;
}
