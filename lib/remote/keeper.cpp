// SPDX-License-Identifier: Apache-2.0
#include "remote/keeper.hpp"

#include "remote/link.hpp"
#include "remote/relay.hpp"

#include "base/spawn.hpp"

#include <cerrno>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cudal1::remote {

namespace {

// Messages of the worker, read by a thread of its own, because a Channel waits.
class Messages {
 public:
  explicit Messages(base::Worker& worker) : worker_(worker), reader_([this] { read(); }) {}
  ~Messages() {
    worker_.kill();   // which ends the thread
    reader_.join();
  }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  int descriptor() const { return signal_.read.value(); }   // readable when there is something
  std::deque<std::string> take() {
    char bytes[256];
    static_cast<void>(!::read(signal_.read.value(), bytes, sizeof bytes));
    const std::lock_guard lock(mutex_);
    return std::exchange(list_, {});
  }
  bool ended() const {
    const std::lock_guard lock(mutex_);
    return ended_ && list_.empty();
  }

 private:
  void read() {
    std::string message;
    while (worker_.channel().receive(message) == base::Channel::Status::message) note(&message);
    note(nullptr);
  }
  void note(std::string* message) {
    const std::lock_guard lock(mutex_);
    if (message != nullptr) list_.push_back(std::move(*message));
    else ended_ = true;
    static_cast<void>(!::write(signal_.write.value(), "x", 1));
  }

  base::Worker& worker_;
  base::Pipe signal_;
  mutable std::mutex mutex_;
  std::deque<std::string> list_;
  bool ended_ = false;
  std::thread reader_;
};

class Keeper {
 public:
  Keeper(int listener, const base::Program& program) : listener_(listener), worker_(program), messages_(worker_) {}

  void run() {
    base::Seconds alone = base::now();
    while (client_.value() >= 0 || base::now() - alone < patience()) {
      pollfd events[3] = {{listener_, POLLIN, 0}, {client_.value(), POLLIN, 0}, {told_end_ ? -1 : messages_.descriptor(), POLLIN, 0}};
      if (::poll(events, 3, 1000) < 0 && errno != EINTR) return;
      if (events[0].revents != 0) welcome();
      if (events[1].revents != 0 && !heard()) {
        if (done_) return;
        client_.reset();
        alone = base::now();
      }
      if (events[2].revents != 0) pass_on();
      if (told_end_ && ledger_.unconfirmed().empty()) return;
    }
  }

 private:
  // A new connection takes the place of the one before, which may not know yet that it is broken.
  void welcome() {
    client_.reset(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
    wire_.emplace(client_.value(), client_.value());
    wire_->send(ledger_.hello(""));
  }

  bool heard() {
    std::deque<Frame> frames;
    const bool open = wire_->receive(frames);
    for (const Frame& frame : frames) {
      const bool fresh = ledger_.take(frame);
      if (frame.kind == Frame::Kind::bye) return !(done_ = true);
      if (frame.kind == Frame::Kind::hello)
        for (const Frame& kept : ledger_.unconfirmed()) wire_->send(kept);
      if (frame.kind == Frame::Kind::message && fresh) worker_.channel().send(frame.body);
    }
    return open;
  }

  void pass_on() {
    for (std::string& message : messages_.take()) send(Frame::Kind::message, std::move(message));
    if (!messages_.ended()) return;
    const base::WorkerEnd end = worker_.end();
    send(Frame::Kind::ended, fmt::format("{} {}\n{}", end.exit_code, end.signal, worker_.last_words()));
    told_end_ = true;
  }

  void send(Frame::Kind kind, std::string body) {
    const Frame frame = ledger_.outgoing(kind, std::move(body));
    if (client_.value() >= 0) wire_->send(frame);   // a broken connection is seen by the next read
  }

  int listener_;
  base::Worker worker_;
  Messages messages_;
  base::Descriptor client_;
  std::optional<Wire> wire_;
  Ledger ledger_;
  bool told_end_ = false, done_ = false;
};

}  // namespace

void keep(int listener, const base::Program& worker) { Keeper(listener, worker).run(); }

}  // namespace cudal1::remote
