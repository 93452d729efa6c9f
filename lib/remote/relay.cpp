// SPDX-License-Identifier: Apache-2.0
#include "remote/relay.hpp"

#include "remote/link.hpp"
#include "remote/ssh.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/spawn.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

namespace cudal1::remote {

namespace {

constexpr int parents_channel = 3;
constexpr base::Seconds sign_every{2}, shortest_pause{0.2}, longest_pause{5};

// One ssh, as long as it lasts.
class Connection {
 public:
  explicit Connection(const base::Program& ssh) {
    base::SpawnOptions options;
    options.descriptors = {to_.read.value(), from_.write.value(), errors_.write.value(), -1};
    pid_ = base::spawn(ssh, options);
    to_.read.reset(), from_.write.reset(), errors_.write.reset();
    ::fcntl(errors_.read.value(), F_SETFL, O_NONBLOCK);
    wire.emplace(from_.read.value(), to_.write.value());
  }
  ~Connection() { end(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int descriptor() const { return from_.read.value(); }
  base::WorkerEnd end() {
    if (pid_ > 0) {
      to_.write.reset();
      base::wait_for_end(pid_, base::Seconds{1});
      end_ = base::kill_and_reap(std::exchange(pid_, -1));
      char block[4096];
      for (ssize_t count = 0; (count = ::read(errors_.read.value(), block, sizeof block)) > 0;) words_.append(block, static_cast<std::size_t>(count));
    }
    return end_;
  }
  const std::string& words() const { return words_; }   // after end()

  std::optional<Wire> wire;
  bool linked = false;               // the keeper has said hello

 private:
  base::Pipe to_, from_, errors_;
  pid_t pid_ = -1;
  base::WorkerEnd end_;
  std::string words_;
};

// As the worker there did: with its last words, its exit code or its signal.
[[noreturn]] void end_as(const std::string& told) {
  char* rest = nullptr;
  const long code = std::strtol(told.c_str(), &rest, 10);
  const long signal = std::strtol(rest, &rest, 10);
  std::fputs(*rest == '\n' ? rest + 1 : rest, stderr);
  std::fflush(stderr);
  if (signal > 0) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::signal(static_cast<int>(signal), SIG_DFL);
    ::raise(static_cast<int>(signal));
  }
  ::_exit(static_cast<int>(code));
}

class Relay {
 public:
  Relay(const std::string& host, const Talk& talk) : host_(host), talk_(talk), session_(fmt::format("{:016x}{:016x}", base::secret_seed(), base::secret_seed())) {}

  int run() {
    base::Seconds lost = base::now();
    for (;;) {
      if (!connection_ && base::now() >= next_try_) connect();
      pollfd events[2] = {{parents_channel, POLLIN, 0}, {connection_ ? connection_->descriptor() : -1, POLLIN, 0}};
      if (::poll(events, 2, 200) < 0 && errno != EINTR) return 1;
      if (events[0].revents != 0 && !from_parent()) return 0;
      if (events[1].revents != 0 && !from_keeper()) {
        if (const int code = disconnected(); code != 0) return code;
      }
      if (connection_ && connection_->linked) {
        lost = base::now();
        continue;
      }
      if (base::now() - lost > patience()) {
        fmt::print(stderr, "the connection to {} was lost and did not come back within {:.0f} s{}\n", host_.name(), patience().count(), words_.empty() ? "" : ": " + words_);
        return 1;
      }
      show_life();
    }
  }

 private:
  void connect() {
    std::vector<std::string> arguments{"worker", "attach", session_};
    if (!ever_linked_) arguments.emplace_back("new");
    connection_ = std::make_unique<Connection>(host_.command(arguments));
    connection_->wire->send(ledger_.hello(""));
  }

  bool from_parent() {
    std::string message;
    switch (parent_.receive(message, base::Seconds{0})) {
      case base::Channel::Status::timeout: return true;   // the rest is on its way
      case base::Channel::Status::closed: say_goodbye(); return false;
      case base::Channel::Status::message: break;
    }
    // Asked to end while it works, it is not wanted any more.
    if (talk_.ends_worker(message) && waiting_) {
      say_goodbye();
      return false;
    }
    waiting_ = true;
    const Frame frame = ledger_.outgoing(Frame::Kind::message, std::move(message));
    if (connection_ && connection_->linked) connection_->wire->send(frame);
    return true;
  }

  void say_goodbye() {
    if (connection_) connection_->wire->send({Frame::Kind::bye, 0, 0, ""}), connection_->end();
  }

  bool from_keeper() {
    std::deque<Frame> frames;
    const bool open = connection_->wire->receive(frames);
    for (Frame& frame : frames) {
      const bool fresh = ledger_.take(frame);
      if (frame.kind == Frame::Kind::hello) {
        connection_->linked = ever_linked_ = true;
        pause_ = shortest_pause;
        for (const Frame& kept : ledger_.unconfirmed()) connection_->wire->send(kept);
      } else if (frame.kind == Frame::Kind::ended) {
        say_goodbye();
        end_as(frame.body);
      } else if (fresh) {
        if (talk_.answers(frame.body)) waiting_ = false;
        last_ = frame.body;
        if (!parent_.send(frame.body)) ::_exit(0);
      }
    }
    return open;
  }

  // What to exit with; 0: another connection is tried.
  int disconnected() {
    const base::WorkerEnd end = connection_->end();
    words_ = last_line(connection_->words());
    const bool first = !ever_linked_;
    connection_.reset();
    if (end.exit_code == session_gone && !first) {
      fmt::print(stderr, "its session on {} is gone\n", host_.name());
      return 1;
    }
    if (first && end.exit_code > 0) {   // ssh could not, or the program there
      fmt::print(stderr, "ssh {}: {}\n", host_.name(), words_);
      return 1;
    }
    next_try_ = base::now() + pause_;
    pause_ = std::min(2 * pause_, longest_pause);
    return 0;
  }

  void show_life() {
    if (!waiting_ || base::now() - shown_ < sign_every) return;
    shown_ = base::now();
    if (!parent_.send(talk_.sign_of_life(last_))) ::_exit(0);
  }

  Host host_;
  const Talk& talk_;
  std::string session_, words_, last_;
  base::Channel parent_ = base::worker_channel();
  Ledger ledger_;
  std::unique_ptr<Connection> connection_;
  bool ever_linked_ = false, waiting_ = false;
  base::Seconds next_try_{0}, pause_ = shortest_pause, shown_{0};
};

}  // namespace

base::Seconds patience() {
  const char* given = std::getenv("CUDAL1_SSH_PATIENCE");
  const double seconds = given != nullptr ? std::strtod(given, nullptr) : 0;
  return base::Seconds{seconds > 0 ? seconds : 120};
}

int relay_main(const std::string& host, const Talk& talk) {
  ::signal(SIGPIPE, SIG_IGN);
  try {
    return Relay(host, talk).run();
  } catch (const base::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

}  // namespace cudal1::remote
