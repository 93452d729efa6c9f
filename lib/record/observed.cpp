// SPDX-License-Identifier: Apache-2.0
#include "record/observed.hpp"

#include "base/error.hpp"
#include "record/wire.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include <fmt/format.h>
#include <sys/socket.h>

namespace cudal1::record {

namespace {

bool transfer(int socket, char* at, std::size_t count, bool out) {
  while (count > 0) {
    const ssize_t moved = out ? ::send(socket, at, count, MSG_NOSIGNAL) : ::recv(socket, at, count, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return false;
    at += moved;
    count -= static_cast<std::size_t>(moved);
  }
  return true;
}

double threads_of(const Launch& launch) {
  double threads = 1;
  for (std::size_t i = 0; i < 3; ++i) threads *= static_cast<double>(launch.grid[i]) * launch.block[i];
  return threads;
}

// A message taken apart from its front.
class Reader {
 public:
  explicit Reader(std::string_view rest) : rest_(rest) {}
  template <typename T>
  T take() {
    T value{};
    const std::string_view bytes = text(sizeof value);
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string_view text(std::size_t bytes) {
    if (rest_.size() < bytes) throw base::Error(base::Fault::internal, "a recorded program sent a message that is too short");
    const std::string_view front = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return front;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

}  // namespace

// One process. What is kept of it is added to the recording under the lock.
class ObservedProcess {
 public:
  ObservedProcess(int socket, ObservedProcesses& all) : socket_(socket), all_(all), options_(all.options_), recording_(all.recording_) {}

  void run() {
    wire::Header header;
    while (transfer(socket_, reinterpret_cast<char*>(&header), sizeof header, false)) {
      std::string message(header.bytes, '\0');
      if (!transfer(socket_, message.data(), message.size(), false)) return;
      const std::lock_guard lock(all_.mutex_);
      answer(header.kind, Reader(message));
    }
  }

 private:
  void answer(wire::Kind kind, Reader message) {
    using wire::Kind;
    switch (kind) {
      case Kind::observed: return hello(message);
      case Kind::observed_launch: return launch(message);
      case Kind::observed_memory: return memory(message);
      case Kind::observed_end: return end(message);
      case Kind::observed_total: return total(message);
      case Kind::observed_kept: recording_.kept_seconds += message.take<wire::ObservedKept>().seconds; return;
      case Kind::missing:
        message.take<wire::Number>();
        return problem(std::string(message.rest()));
      default: throw base::Error(base::Fault::internal, "a recorded program sent a message of unknown kind");
    }
  }

  template <typename Reply>
  void reply(const Reply& what) const {
    wire::Header header{wire::Kind::observed, static_cast<std::uint32_t>(sizeof what)};
    Reply copy = what;
    if (transfer(socket_, reinterpret_cast<char*>(&header), sizeof header, true)) transfer(socket_, reinterpret_cast<char*>(&copy), sizeof copy, true);
  }

  void problem(std::string what) {
    if (std::find(recording_.problems.begin(), recording_.problems.end(), what) != recording_.problems.end()) return;
    if (options_.say) options_.say(what);
    recording_.problems.push_back(std::move(what));
  }

  void hello(Reader& message) {
    const auto hello = message.take<wire::Observed>();
    if (hello.version != wire::version) throw base::Error(base::Fault::usage, "the program was given a library of another version of cudal1");
    recording_.predicted = false;
    if (recording_.program.empty()) recording_.program = std::string(message.rest());
    if (recording_.device.empty()) recording_.device = std::string(hello.device, ::strnlen(hello.device, sizeof hello.device));
    reply(wire::Orders{options_.choice.first, options_.choice.last});
  }

  KernelTotal& total_of(const std::string& kernel, std::size_t first) {
    const auto found = std::find_if(recording_.kernels.begin(), recording_.kernels.end(), [&](const KernelTotal& t) { return t.kernel == kernel; });
    if (found != recording_.kernels.end()) return *found;
    return recording_.kernels.emplace_back(KernelTotal{kernel, 0, first, 0, 0});
  }

  static Launch read_launch(Reader& message) {
    const auto told = message.take<wire::ObservedLaunch>();
    Launch launch;
    launch.number = told.number;
    std::copy_n(told.grid, 3, launch.grid.begin());
    std::copy_n(told.block, 3, launch.block.begin());
    launch.shared_bytes = told.shared_bytes;
    launch.cooperative = told.cooperative != 0;
    launch.symbol = std::string(message.text(told.symbol_bytes));
    launch.kernel = kernel_name(launch.symbol);
    std::vector<wire::Parameter> places;
    for (std::uint32_t i = 0; i < told.parameters; ++i) places.push_back(message.take<wire::Parameter>());
    const std::string_view values = message.text(told.parameter_bytes);
    std::map<std::uint64_t, wire::Target> targets;
    for (std::uint32_t i = 0; i < told.targets; ++i) {
      const auto target = message.take<wire::Target>();
      targets[target.word] = target;
    }
    std::set<std::uint64_t> reached;
    for (const wire::Parameter& place : places) {
      Parameter& one = launch.parameters.emplace_back();
      if (place.offset > values.size() || values.size() - place.offset < place.bytes) throw base::Error(base::Fault::internal, "a recorded parameter lies outside of its block");
      const auto* const from = reinterpret_cast<const std::byte*>(values.data() + place.offset);
      one.bytes.assign(from, from + place.bytes);
      for (std::size_t offset = 0; offset + 8 <= one.bytes.size(); offset += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, one.bytes.data() + offset, sizeof word);
        const auto found = targets.find(word);
        if (found == targets.end()) continue;
        one.targets.push_back({offset, found->second.address, word - found->second.address});
        if (reached.insert(found->second.address).second) launch.buffer_bytes += found->second.bytes;
      }
    }
    return launch;
  }

  void launch(Reader& message) {
    launch_ = read_launch(message);
    KernelTotal& total = total_of(launch_.kernel, launch_.number);
    total.buffer_bytes = std::max(total.buffer_bytes, launch_.buffer_bytes);
    wire::Decision decision;
    into_ = nullptr;
    if (options_.choice.any()) {
      const bool named = std::any_of(options_.choice.kernels.begin(), options_.choice.kernels.end(), [&](const auto& name) { return names_kernel(name, launch_.kernel); });
      const bool numbered = options_.choice.first != 0 && launch_.number >= options_.choice.first && launch_.number <= options_.choice.last;
      if (options_.keep && !complete_ && (options_.choice.first != 0 ? numbered : open_ || named)) {
        into_ = &recording_.kept[""];
        open_ = true;
      }
      decision.again = named && !complete_ ? wire::Ask::always : wire::Ask::larger;
      decision.all = open_ && !complete_ ? 1 : 0;
    } else {
      decision.again = wire::Ask::larger;
      if (options_.keep && (!options_.wanted || options_.wanted(launch_.kernel))) choose_largest(decision);
    }
    if (into_ != nullptr && too_large()) into_ = nullptr;
    if (into_ != nullptr && decision.fresh != 0) *into_ = {};
    decision.keep = into_ != nullptr ? 1 : 0;
    reply(decision);
  }

  void choose_largest(wire::Decision& decision) {
    Kept& kept = recording_.kept[launch_.kernel];
    if (!kept.launches.empty() && threads_of(launch_) < 1.5 * threads_of(kept.launches.front())) return;
    decision.fresh = 1;
    into_ = &kept;
  }

  bool too_large() {
    std::size_t held = 0;
    for (const auto& [name, other] : recording_.kept)
      for (const auto& [address, memory] : other.memory) held += 2 * memory.before.size();
    if (held + 2 * launch_.buffer_bytes <= options_.most_kept_bytes) return false;
    if (into_->launches.empty())
      into_->why_not = options_.choice.any()
                           ? fmt::format("launch {} of {} reaches {} MiB of memory, more than the {} that are kept: run the program at a smaller size", launch_.number, launch_.kernel,
                                         launch_.buffer_bytes >> 20, options_.most_kept_bytes >> 21)
                           : fmt::format("too much memory to keep beside other kernels: choose it with --kernel {}", launch_.kernel);
    return true;
  }

  // A place in `all` bytes of memory, of which a piece has come.
  static void put(Bytes& all, std::uint64_t bytes, std::uint64_t at, std::string_view piece) {
    if (at > bytes || bytes - at < piece.size()) throw base::Error(base::Fault::internal, "recorded memory lies outside of its allocation");
    all.resize(bytes);
    std::memcpy(all.data() + at, piece.data(), piece.size());
  }

  void memory(Reader& message) {
    const auto told = message.take<wire::ObservedMemory>();
    const std::string symbol(message.text(told.symbol_bytes));
    if (into_ == nullptr) return;
    Bytes *before = nullptr, *after = nullptr;
    if (!symbol.empty()) {
      auto found = std::find_if(into_->variables.begin(), into_->variables.end(), [&](const Variable& v) { return v.symbol == symbol; });
      if (found == into_->variables.end()) found = into_->variables.insert(found, Variable{symbol, {}, {}});
      before = &found->before, after = &found->after;
    } else {
      Memory& memory = into_->memory[told.address];
      memory.address = told.address;
      before = &memory.before, after = &memory.after;
    }
    if (told.moment == wire::Moment::before) return put(*before, told.bytes, told.at, message.rest());
    if (told.moment == wire::Moment::after) return put(*after, told.bytes, told.at, message.rest());
    // What a launch left must be what the next one finds.
    const bool same = told.at + message.rest().size() <= after->size() && std::memcmp(after->data() + told.at, message.rest().data(), message.rest().size()) == 0;
    if (!same && into_->why_not.empty() && !into_->launches.empty())
      into_->why_not = fmt::format("after launch {} the program itself writes or frees memory of the task: choose launches up to there", into_->launches.back().number);
  }

  void end(Reader& message) {
    const auto told = message.take<wire::ObservedEnd>();
    wire::Number stop;
    if (into_ != nullptr) {
      Kept& kept = *into_;
      if (!message.rest().empty() && kept.why_not.empty()) kept.why_not = fmt::format("launch {} of {} cannot be recorded: {}", launch_.number, launch_.kernel, message.rest());
      kept.ms += told.ms;
      launch_.work = told.ms;
      kept.launches.push_back(launch_);
      if (options_.choice.any()) {
        for (const auto& name : options_.choice.kernels)
          if (names_kernel(name, launch_.kernel)) seen_.insert(name);
        complete_ = options_.choice.first != 0 ? launch_.number >= options_.choice.last
                                               : seen_.size() == std::set<std::string>(options_.choice.kernels.begin(), options_.choice.kernels.end()).size();
      }
      into_ = nullptr;
    }
    stop.value = options_.choice.stop && complete_ ? 1 : 0;
    reply(stop);
  }

  void total(Reader& message) {
    const auto told = message.take<wire::ObservedTotal>();
    KernelTotal& total = total_of(kernel_name(std::string(message.rest())), 0);
    // In graphs there are more than the program launches itself; without CUPTI's records there are only these.
    total.launches += std::max(told.launches, told.timed);
    total.work += told.ms;
    recording_.launches += told.launches;
  }

  int socket_;
  ObservedProcesses& all_;
  const ObservedOptions& options_;
  Recording& recording_;
  Launch launch_;                           // under way
  Kept* into_ = nullptr;                    // null: it is not kept
  std::set<std::string> seen_;              // of the chosen kernels
  bool open_ = false, complete_ = false;    // of what was chosen
};

void ObservedProcesses::serve(int socket) {
  try {
    ObservedProcess(socket, *this).run();
  } catch (const base::Error& error) {
    const std::lock_guard lock(mutex_);
    recording_.problems.emplace_back(error.what());
  }
}

void ObservedProcesses::finish() {
  if (std::any_of(recording_.kernels.begin(), recording_.kernels.end(), [](const KernelTotal& total) { return total.launches == 0; }))
    recording_.problems.emplace_back("the program ended without exit(), so numbers and times of launches are missing");
}

}  // namespace cudal1::record
