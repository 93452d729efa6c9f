// SPDX-License-Identifier: Apache-2.0
#include "judge/device_host.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <csignal>

#include <fmt/format.h>

namespace cudal1::judge {

namespace {

// The last line that a dying process printed, and how it ended.
std::string describe_end(const base::WorkerEnd& end, const std::string& words) {
  std::string line;
  for (const std::string& candidate : base::split_lines(base::printable(words)))
    if (!base::trim(candidate).empty()) line = std::string(base::trim(candidate));
  const std::string how = end.signal == SIGKILL ? "was killed (out of memory?)"
                          : end.signal != 0     ? fmt::format("ended by signal {}", end.signal)
                                                : fmt::format("ended with status {}", end.exit_code);
  return line.empty() ? fmt::format("the device worker {}", how) : fmt::format("the device worker {}: {}", how, line);
}

}  // namespace

DeviceHost::Answer DeviceHost::ask(const Job& job, base::Seconds execution, base::Seconds host) {
  if (!worker_) {
    worker_ = std::make_unique<base::Worker>(program_);
    ++started_;
  }
  Answer answer;
  bool executing = false;
  bool connected = worker_->channel().send(encode(job));
  std::string message;
  while (connected) {
    switch (worker_->channel().receive(message, executing ? execution : host)) {
      case base::Channel::Status::closed: connected = false; continue;
      case base::Channel::Status::timeout:
        stop();
        if (!executing) throw base::Error(base::Fault::internal, "the device worker does not answer");
        answer.timed_out = true;
        return answer;
      case base::Channel::Status::message: break;
    }
    Reply reply = decode_reply(message);
    if (const auto* progress = std::get_if<Progress>(&reply)) {
      executing = progress->executing;
      continue;
    }
    if (const auto* failure = std::get_if<FailureReply>(&reply)) {
      stop();
      throw base::Error(static_cast<base::Fault>(failure->fault), failure->message);
    }
    answer.reply = std::move(reply);
    return answer;
  }
  const base::WorkerEnd end = worker_->end();
  answer.last_words = describe_end(end, worker_->last_words());
  worker_.reset();
  return answer;
}

base::WorkerEnd DeviceHost::finish() {
  if (!worker_) return {};
  std::string message;
  if (worker_->channel().send(encode(Job(EndJob{}))))
    while (worker_->channel().receive(message, base::Seconds{60}) == base::Channel::Status::message) continue;
  const base::WorkerEnd end = worker_->end();
  worker_.reset();
  return end;
}

void DeviceHost::stop() {
  if (worker_ && elsewhere_ && worker_->channel().send(encode(Job(EndJob{})))) worker_->end();
  if (worker_) worker_->kill();
  worker_.reset();
}

}  // namespace cudal1::judge
