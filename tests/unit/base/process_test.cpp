// SPDX-License-Identifier: Apache-2.0
#include "base/process.hpp"

#include "base/error.hpp"
#include "catch.hpp"

#include <chrono>
#include <csignal>
#include <fstream>
#include <future>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace cudal1::base;

namespace {

const Program echo{CUDAL1_WORKER, {"serve"}};

std::string ask(Worker& worker, const std::string& message) {
  REQUIRE(worker.channel().send(message));
  std::string reply;
  REQUIRE(worker.channel().receive(reply, Seconds{20}) == Channel::Status::message);
  return reply;
}

// Gone, or a zombie that nobody in this container reaps. A signal takes a moment to arrive on a busy machine.
bool ends(pid_t pid) {
  const auto gone = [pid] {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state;
    return !(file >> number >> name >> state) || state == "Z";
  };
  for (const Seconds start = now(); now() - start < Seconds{10};) {
    if (gone()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

TEST_CASE("a program gets its input and gives both outputs and its exit code") {
  const Finished result = run({"sh", {"-c", "cat; echo wrong >&2; exit 3"}}, "hello\n", Seconds{20});
  CHECK(result.out == "hello\n");
  CHECK(result.err == "wrong\n");
  CHECK(result.exit_code == 3);
  CHECK_FALSE(result.timed_out);
}

TEST_CASE("a program that does not exist is the user's to mend") {
  CHECK_THROWS_AS(run({"no-such-program-xyz", {}}, "", Seconds{1}), Error);
  CHECK_THROWS_AS(run({"/etc/passwd", {}}, "", Seconds{1}), Error);
}

TEST_CASE("large input and output pass, and output over the limit is cut") {
  const std::string input(3'000'000, 'x');
  const Finished whole = run({"cat", {}}, input, Seconds{30}, std::size_t{8} << 20);
  CHECK(whole.out == input);
  CHECK_FALSE(whole.output_cut);
  const Finished cut = run({"cat", {}}, input, Seconds{30}, 1000);
  CHECK(cut.out.size() == 1000);
  CHECK(cut.output_cut);
  CHECK(cut.exit_code == 0);
}

TEST_CASE("the whole process group ends at the time limit") {
  const Seconds start = now();
  const Finished result = run({"sh", {"-c", "sleep 100 & echo $!; wait"}}, "", Seconds{1});
  CHECK(result.timed_out);
  CHECK(result.signal == SIGTERM);
  CHECK(ends(std::stoi(result.out)));
  CHECK(now() - start < Seconds{50});
}

TEST_CASE("a program is ended at once when its caller is told to stop") {
  std::stop_source source;
  const std::jthread caller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    source.request_stop();
  });
  const auto begin = now();
  const Finished finished = run({"sleep", {"30"}}, "", Seconds(60), 1000, source.get_token());
  CHECK(finished.stopped);
  CHECK_FALSE(finished.timed_out);
  CHECK(finished.signal == SIGTERM);
  CHECK(now() - begin < Seconds(5));
}

TEST_CASE("a program that ignores TERM is killed") {
  const Finished result = run({CUDAL1_WORKER, {"deaf"}}, "", Seconds{1});
  CHECK(result.timed_out);
  CHECK(result.signal == SIGKILL);
}

TEST_CASE("a program that leaves a descendant with its output does not hold the caller") {
  const Seconds start = now();
  const Finished result = run({"sh", {"-c", "sleep 100 & echo done"}}, "", Seconds{60});
  CHECK(result.out == "done\n");
  CHECK(result.exit_code == 0);
  CHECK_FALSE(result.timed_out);
  CHECK(now() - start < Seconds{10});
}

TEST_CASE("a worker answers, also empty, binary and large messages") {
  Worker worker(echo);
  CHECK(ask(worker, "hello") == "hello");
  CHECK(ask(worker, "").empty());
  std::string large(5'000'000, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 31);
  CHECK(ask(worker, large) == large);
}

TEST_CASE("a worker inherits no descriptor but its own four") {
  const int extra = ::open("/dev/null", O_RDONLY);  // on purpose without close-on-exec
  Worker other(echo);
  Worker worker(echo);
  CHECK(ask(worker, "descriptors") == "4");
  ::close(extra);
}

TEST_CASE("a worker sees no variable that is named like a key") {
  ::setenv("PLANTED_API_KEY", "secret", 1);
  ::setenv("PLANTED_OTHER", "harmless", 1);
  Worker worker(echo);
  CHECK(ask(worker, "variables") == "harmless");
}

TEST_CASE("a worker outlives the thread that started it") {
  std::unique_ptr<Worker> worker;
  std::thread([&] { worker = std::make_unique<Worker>(echo); }).join();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(ask(*worker, "still here") == "still here");
}

TEST_CASE("a worker that writes much to standard error does not block, and its last words are kept") {
  Worker worker(echo);
  CHECK(ask(worker, "shout") == "shout");
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const std::string words = worker.last_words();
  CHECK(words.size() <= 65536);
  CHECK(words.size() > 60000);
  CHECK(words.find("number 4999\n") != std::string::npos);
}

TEST_CASE("a worker that hangs is seen at the time limit and killed") {
  Worker worker(echo);
  REQUIRE(worker.channel().send("hang"));
  std::string reply;
  CHECK(worker.channel().receive(reply, Seconds{0.2}) == Channel::Status::timeout);
  worker.kill();
  CHECK(ends(worker.pid()));
  CHECK(worker.end().signal == SIGKILL);
  CHECK(worker.channel().receive(reply, Seconds{5}) == Channel::Status::closed);
  CHECK_FALSE(worker.channel().send("hello?"));
}

TEST_CASE("a worker that dies closes its channel and tells its signal") {
  Worker worker(echo);
  REQUIRE(worker.channel().send("die"));
  std::string reply;
  CHECK(worker.channel().receive(reply, Seconds{20}) == Channel::Status::closed);
  CHECK(worker.end().signal == SIGABRT);
  CHECK(worker.end().peak_memory_bytes > 0);
}

TEST_CASE("a worker dies with its parent") {
  const Finished mother = run({CUDAL1_WORKER, {"mother"}}, "", Seconds{20});
  REQUIRE(mother.signal == SIGKILL);
  const pid_t child = std::stoi(mother.out);
  CHECK(ends(child));
}

#ifndef CUDAL1_SANITIZED
TEST_CASE("a worker's memory limit holds") {
  Worker free_worker(echo);
  CHECK(ask(free_worker, "grab") == "64");
  Worker worker(echo, std::size_t{256} << 20);
  const int blocks = std::stoi(ask(worker, "grab"));
  CHECK(blocks > 4);
  CHECK(blocks < 17);
}
#endif

TEST_CASE("a worker program that is missing is an error that names it") {
  try {
    Worker worker({"/no/such/worker", {}});
    FAIL("started a program that does not exist");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("/no/such/worker") != std::string::npos);
  }
}

TEST_CASE("worker mode started by hand says so") {
  const Finished result = run({CUDAL1_WORKER, {"serve"}}, "", Seconds{20});
  CHECK(result.exit_code == 2);
  CHECK(result.err.find("started by cudal1 itself") != std::string::npos);
}

TEST_CASE("a message cut by the time limit is continued by the next receive") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  Channel channel(ends[0]);
  std::string message;
  const unsigned char head[] = {5, 0, 0, 0, 0, 0, 0, 0, 'h', 'e'};
  REQUIRE(::write(ends[1], head, sizeof head) == sizeof head);
  CHECK(channel.receive(message, Seconds{0.02}) == Channel::Status::timeout);
  REQUIRE(::write(ends[1], "llo", 3) == 3);
  CHECK(channel.receive(message, Seconds{1}) == Channel::Status::message);
  CHECK(message == "hello");
  const unsigned char absurd[] = {255, 255, 255, 255, 255, 255, 255, 127};
  REQUIRE(::write(ends[1], absurd, sizeof absurd) == sizeof absurd);
  CHECK(channel.receive(message, Seconds{1}) == Channel::Status::closed);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("this program finds itself") { CHECK(own_executable().filename() == "test_base"); }
