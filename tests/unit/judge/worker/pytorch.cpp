// SPDX-License-Identifier: Apache-2.0
#include "pytorch.hpp"

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/process.hpp"

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

int pytorch_main() {
  using namespace cudal1;
  const std::string behaviour = std::getenv("FAKE_PYTORCH");  // "works", "absent", "hangs", "refuses", "dies", "lacks"
  const std::string folder = std::getenv("FAKE_PYTORCH_FOLDER");
  base::write_file(folder + "/pid", std::to_string(::getpid()));
  base::Channel channel = base::worker_channel();
  for (std::string request; channel.receive(request) == base::Channel::Status::message;) {
    const auto asked = [&](const char* what) { return request.find(fmt::format("\"do\":\"{}\"", what)) != std::string::npos; };
    std::string reply = "{}";
    if (asked("hello")) reply = behaviour == "absent" ? R"({"missing": "no such module"})" : R"({"torch": "2.9", "python": "3.11"})";
    if (asked("hello") && behaviour == "hangs") std::this_thread::sleep_for(std::chrono::hours(1));
    if (asked("hold") && behaviour == "refuses") reply = R"({"refused": "task.cu: it does not fit"})";
    if (asked("hold") && behaviour == "dies") return 3;
    if (behaviour == "lacks" && asked("attach")) base::AppendFile(folder + "/attached").append(fmt::format("{}\n", ::getpid()));
    if (behaviour == "lacks" && asked("prepare")) {
      const bool graph = request.find("graph") != std::string::npos;
      reply = graph ? R"({"unavailable": "RuntimeError: a graph would keep\nmemory of its own"})" : R"({"seconds": 0.3, "ends": true})";
      channel.send(reply);
      if (graph) continue;
      return 0;   // as after an error that CUDA remembers
    }
    if (asked("time")) reply = R"({"ms": [0.5, null], "empty_ms": 0.002, "unavailable": {"compile": "OutOfMemoryError: CUDA out of memory"}})";
    if (asked("prepare")) {
      base::AppendFile work(folder + "/work");
      for (int i = 0; i < 300; ++i) {
        work.append(fmt::format("{}\n", base::now().count()));
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      reply = R"({"seconds": 0.3})";
    }
    channel.send(reply);
  }
  return 0;
}
