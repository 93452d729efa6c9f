// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/process.hpp"
#include "cuda/cuda.hpp"
#include "judge/gpu_lock.hpp"
#include "judge/judge.hpp"
#include "judge/session.hpp"

#include <malloc.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <future>
#include <memory>
#include <utility>

namespace cudal1::judge {

namespace {

class Answerer {
 public:
  explicit Answerer(base::Channel& channel) : channel_(channel) {}

  Reply operator()(EndJob&) { return Progress{}; }
  Reply operator()(OpenJob& job) {
    lock_ = job.takes_turns ? lock_of(job.device) : std::filesystem::path();
    const auto turn = wait_for_turn();
    session_.reset();  // first: two sessions would hold the device's memory twice
    session_ = std::make_unique<Session>(job, [this](bool executing) { channel_.send(encode(Reply(Progress{executing}))); });
    return OpenReply{session_->device().facts()};
  }
  Reply operator()(ReferenceJob& job) { return session().reference(std::move(job)); }
  Reply operator()(LendJob&) { return session().lend(); }
  Reply operator()(SealJob& job) { return session().seal(job); }
  Reply operator()(SpillJob& job) { return session().spill(job); }
  Reply operator()(RunJob& job) { return session().run(job); }
  Reply operator()(CheckJob& job) { return session().check(job); }
  Reply operator()(PredictJob& job) { return session().predict(job); }
  Reply operator()(TimeJob& job) { return session().time(job); }
  Reply operator()(CountJob& job) { return session().count(job); }
  Reply operator()(EnergyJob& job) { return session().energy(job); }

  // Held while a job is done, where no parent of this machine sees to it; others' jobs may take long, so the parent hears that this one is alive.
  std::unique_ptr<GpuTurn> wait_for_turn() {
    if (lock_.empty()) return nullptr;
    auto turn = std::async(std::launch::async, [this] { return std::make_unique<GpuTurn>(lock_, GpuTurn::Use::alone); });
    while (turn.wait_for(std::chrono::seconds(2)) == std::future_status::timeout) channel_.send(encode(Reply(Progress{})));
    return turn.get();
  }

 private:
  static std::filesystem::path lock_of(const std::string& device) {
    const auto inventory = cuda::inventory();
    const std::size_t index = device.starts_with("cuda:") ? std::strtoul(device.c_str() + 5, nullptr, 10) : inventory.devices.size();
    return index < inventory.devices.size() ? gpu_lock(inventory.devices[index].uuid) : std::filesystem::path();
  }
  Session& session() {
    if (!session_) throw base::Error(base::Fault::internal, "a device worker got a job before it was opened");
    return *session_;
  }

  base::Channel& channel_;
  std::filesystem::path lock_;   // empty: whoever asks holds it, or there is none
  std::unique_ptr<Session> session_;
};

}  // namespace

int worker_main() {
  // Tensors of doubles come and go by the hundred; given back to the system, each costs its pages' faults again.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  base::Channel channel = base::worker_channel();
  Answerer answerer(channel);
  std::string message;
  while (channel.receive(message) == base::Channel::Status::message) {
    Reply reply;
    try {
      Job job = decode_job(message);
      if (std::holds_alternative<EndJob>(job)) return 0;
      const auto turn = std::holds_alternative<OpenJob>(job) ? nullptr : answerer.wait_for_turn();
      reply = std::visit(answerer, job);
    } catch (const base::Error& error) {
      reply = FailureReply{static_cast<int>(error.fault()), error.what()};
    } catch (const std::bad_alloc&) {
      reply = FailureReply{static_cast<int>(base::Fault::no_memory), "out of memory; use smaller sizes (--set)"};
    } catch (const std::exception& error) {
      reply = FailureReply{static_cast<int>(base::Fault::internal), error.what()};
    }
    if (!channel.send(encode(reply))) return 0;
  }
  return 0;
}

}  // namespace cudal1::judge
