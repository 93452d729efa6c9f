// SPDX-License-Identifier: Apache-2.0
#include "record/session.hpp"

#include "base/error.hpp"
#include "base/spawn.hpp"
#include "record/capture.hpp"
#include "record/fat_binary.hpp"
#include "record/wire.hpp"
#include "sim/hosted.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include <fmt/format.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cudal1::record {

namespace {

// Values of cudaError_t, so that no part but the runtime needs NVIDIA's header.
enum CudaError { success = 0, invalid_configuration = 9, invalid_image = 200, illegal_address = 700, timeout = 702, assert_failed = 710, launch_failure = 719 };

// The memory that the program and the simulator share, at the same addresses in both.
class SharedMemory {
 public:
  SharedMemory() : file_(::memfd_create("cudal1 device memory", MFD_CLOEXEC)) {
    const auto refuse = [] {
      throw base::Error(base::Fault::no_device, "the addresses of the simulated device's memory are taken in this process (a build with sanitizers?)");
    };
    if (file_.value() < 0 || ::ftruncate(file_.value(), static_cast<off_t>(sim::HostedDevice::address_bytes)) != 0) refuse();
    auto* const wanted = reinterpret_cast<void*>(sim::HostedDevice::first_address);
    if (::mmap(wanted, sim::HostedDevice::address_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file_.value(), 0) != wanted)
      refuse();
  }
  ~SharedMemory() { ::munmap(reinterpret_cast<void*>(sim::HostedDevice::first_address), sim::HostedDevice::address_bytes); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  int file() const { return file_.value(); }
  // What is freed reads as zero from now on and takes no memory.
  void give_back(std::uint64_t address, std::size_t bytes) const {
    constexpr std::uint64_t page = 4096;
    const std::uint64_t from = (address + page - 1) / page * page, to = (address + bytes) / page * page;
    if (to > from)
      ::fallocate(file_.value(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(from - sim::HostedDevice::first_address), static_cast<off_t>(to - from));
  }

 private:
  base::Descriptor file_;
};

template <typename T>
T take(std::string& message) {
  T value{};
  if (message.size() < sizeof value) throw base::Error(base::Fault::internal, "a recorded program sent a message that is too short");
  message.copy(reinterpret_cast<char*>(&value), sizeof value);
  message.erase(0, sizeof value);
  return value;
}

bool receive(int socket, void* bytes, std::size_t count) {
  char* at = static_cast<char*>(bytes);
  while (count > 0) {
    const ssize_t got = ::recv(socket, at, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

class Session {
 public:
  Session(int socket, const SimulatedOptions& options, Recording& recording)
      : socket_(socket), options_(options), recording_(recording), device_({.gpu = options.gpu, .threads = options.threads, .own = options.own_gpu}),
        capture_(options.choice, options.most_kept_bytes, device_, recording) {}

  void run() {
    for (wire::Header header; receive(socket_, &header, sizeof header);) {
      std::string message(header.bytes, '\0');
      if (!receive(socket_, message.data(), message.size())) return;
      answer(header.kind, std::move(message));
    }
  }

 private:
  void answer(wire::Kind kind, std::string message) {
    using wire::Kind;
    switch (kind) {
      case Kind::hello: return hello(std::move(message));
      case Kind::module: return load(std::move(message));
      case Kind::symbol: return symbol(std::move(message));
      case Kind::allocate: return allocate(take<wire::Allocate>(message));
      case Kind::release: return release(take<wire::Release>(message));
      case Kind::written: {
        const auto written = take<wire::Written>(message);
        device_.mark_written(written.address, written.bytes);
        return capture_.host_wrote(written.address);
      }
      case Kind::copied: {
        const auto copied = take<wire::Copied>(message);
        device_.copy_marks(copied.from, copied.to, copied.bytes);
        return capture_.host_wrote(copied.to);
      }
      case Kind::kernel: return kernel(std::move(message));
      case Kind::launch: return launch(std::move(message));
      case Kind::occupancy: {
        const auto asked = take<wire::Occupancy>(message);
        return reply(wire::Number{device_.resident_blocks_per_sm(static_cast<std::size_t>(asked.module), message, asked.threads, asked.shared_bytes)});
      }
      case Kind::missing:
        take<wire::Number>(message);
        return problem(fmt::format("the program calls {}, which cudal1's CUDA runtime does not have", message));
      default: throw base::Error(base::Fault::internal, "a recorded program sent a message of unknown kind");
    }
  }

  void problem(std::string what) {
    if (std::find(recording_.problems.begin(), recording_.problems.end(), what) != recording_.problems.end()) return;
    if (options_.say) options_.say(what);
    recording_.problems.push_back(std::move(what));
  }

  template <typename Reply>
  void reply(const Reply& what, std::string_view rest = {}, int descriptor = -1) {
    const wire::Header header{wire::Kind::hello, static_cast<std::uint32_t>(sizeof what + rest.size())};
    put(&header, sizeof header, -1);
    put(&what, sizeof what, descriptor);
    put(rest.data(), rest.size(), -1);
  }

  void put(const void* bytes, std::size_t count, int descriptor) const {
    const char* at = static_cast<const char*>(bytes);
    while (count > 0) {
      alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
      iovec part{const_cast<char*>(at), count};
      msghdr message{};
      message.msg_iov = &part;
      message.msg_iovlen = 1;
      if (descriptor >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        cmsghdr* const handed = CMSG_FIRSTHDR(&message);
        handed->cmsg_level = SOL_SOCKET;
        handed->cmsg_type = SCM_RIGHTS;
        handed->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(handed), &descriptor, sizeof descriptor);
      }
      const ssize_t sent = ::sendmsg(socket_, &message, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return;  // the program is gone; the next receive says so
      descriptor = -1;
      at += sent;
      count -= static_cast<std::size_t>(sent);
    }
  }

  void hello(std::string message) {
    const auto hello = take<wire::Hello>(message);
    if (hello.version != wire::version) throw base::Error(base::Fault::usage, "the program was given a CUDA runtime of another version of cudal1");
    if (recording_.program.empty()) recording_.program = message;
    const outcome::DeviceFacts& facts = device_.facts();
    recording_.device = facts.name;
    wire::HelloReply answer;
    answer.base = sim::HostedDevice::first_address;
    answer.bytes = sim::HostedDevice::address_bytes;
    facts.name.copy(answer.name, sizeof answer.name - 1);
    answer.major = facts.major, answer.minor = facts.minor, answer.sm_count = facts.sm_count;
    answer.clock_khz = static_cast<std::int32_t>(facts.clock_hz / 1e3);
    constexpr double bus = 5120;  // bits; the clock follows from the rate
    answer.bus_bits = static_cast<std::int32_t>(bus);
    answer.memory_clock_khz = static_cast<std::int32_t>(facts.memory_bytes_per_second * 8 / bus / 2 / 1e3);
    answer.memory_bytes = facts.memory_bytes, answer.l2_bytes = facts.l2_bytes;
    answer.shared_per_sm = facts.shared_bytes_per_sm, answer.shared_optin = facts.shared_bytes_per_block_optin;
    reply(answer, {}, memory_.file());
  }

  void load(std::string message) {
    take<wire::Module>(message);
    const auto entries = read_fat_binary(message);
    auto ptx = entries ? newest_ptx(*entries) : tl::unexpected(entries.error());
    auto module = ptx ? device_.load(*ptx, options_.source) : tl::unexpected(ptx.error());
    if (!module) {
      problem(fmt::format("the program's kernels cannot be read: {}", module.error()));
      return reply(wire::Number{-1});
    }
    capture_.add_module(*module);
    reply(wire::Number{static_cast<std::int64_t>(*module)});
  }

  // A variable of a module by name; without a module, the allocation that holds an address.
  void symbol(std::string message) {
    const std::int64_t module = take<wire::OfModule>(message).module;
    wire::Place place;
    if (module < 0) {
      if (const auto range = device_.range(take<std::uint64_t>(message))) place = {range->address, range->bytes};
    } else {
      const auto variables = device_.variables(static_cast<std::size_t>(module));
      if (const auto found = variables.find(message); found != variables.end()) place = {found->second.address, found->second.bytes};
      else problem(fmt::format("the program's PTX has no variable {}", message));
    }
    reply(place);
  }

  void allocate(const wire::Allocate& wanted) {
    wire::Place place;
    const std::size_t limit = device_.facts().memory_bytes;
    if (wanted.bytes <= limit - std::min<std::size_t>(limit, allocated_)) {
      const std::string name = fmt::format("allocation {} of {} bytes", ++allocations_, wanted.bytes);
      place = {device_.allocate(wanted.bytes, name, wanted.purpose != wire::Purpose::device), wanted.bytes};
      allocated_ += wanted.bytes;
    }
    reply(place);
  }

  void release(const wire::Release& freed) {
    const auto range = device_.range(freed.address);
    if (!range || range->address != freed.address) return reply(wire::Number{-1});
    capture_.host_wrote(freed.address);
    device_.release(freed.address);
    memory_.give_back(freed.address, range->bytes);
    allocated_ -= range->bytes;
    reply(wire::Number{0});
  }

  void kernel(std::string message) {
    const std::int64_t module = take<wire::OfModule>(message).module;
    wire::Kernel facts;
    const auto found = device_.kernel(static_cast<std::size_t>(module), message);
    if (!found) {
      problem(fmt::format("{}: {}", kernel_name(message), found.error()));
      return reply(facts);
    }
    facts.found = 1;
    facts.shared_bytes = found->shared_bytes, facts.local_bytes = found->local_bytes, facts.max_threads = found->max_threads;
    facts.parameters = static_cast<std::uint32_t>(found->parameters.size());
    std::string list;
    for (const auto& parameter : found->parameters) {
      const wire::Parameter one{static_cast<std::uint32_t>(parameter.offset), static_cast<std::uint32_t>(parameter.bytes)};
      list.append(reinterpret_cast<const char*>(&one), sizeof one);
    }
    reply(facts, list);
  }

  void launch(std::string message) {
    const auto wanted = take<wire::Launch>(message);
    sim::HostedDevice::Request request;
    request.module = static_cast<std::size_t>(wanted.module);
    request.symbol = message.substr(0, wanted.symbol_bytes);
    std::copy_n(wanted.grid, 3, request.grid.begin());
    std::copy_n(wanted.block, 3, request.block.begin());
    request.shared_bytes = wanted.shared_bytes;
    request.cooperative = wanted.cooperative != 0;
    for (std::size_t i = wanted.symbol_bytes; i < message.size(); ++i) request.parameters.push_back(static_cast<std::byte>(message[i]));

    capture_.before(request);
    const device::RunResult result = device_.run(request, {true, 0});
    capture_.after(request, result);
    wire::Launched answer;
    answer.error = error_of(request, result);
    answer.end = options_.choice.stop && capture_.complete() ? 1 : 0;
    reply(answer, result.printed);
  }

  CudaError error_of(const sim::HostedDevice::Request& request, const device::RunResult& result) {
    using Status = device::RunResult::Status;
    for (const outcome::Finding& finding : result.findings) report(finding);
    switch (result.status) {
      case Status::ok: return success;
      case Status::unsupported: problem(fmt::format("{}: {}", kernel_name(request.symbol), result.message)); return invalid_image;
      case Status::runtime_failed: problem(fmt::format("{}: {}", kernel_name(request.symbol), result.message)); return invalid_configuration;
      case Status::timeout: problem(fmt::format("{}: {}", kernel_name(request.symbol), result.message)); return timeout;
      case Status::findings:
      case Status::stateful:  // a program may keep what it likes, and write where it likes
      case Status::tampered: break;
    }
    // What only the checks see does not end a program on a GPU either.
    for (const outcome::Finding& finding : result.findings) {
      using Finding = outcome::Finding::Kind;
      if (finding.kind == Finding::out_of_bounds || finding.kind == Finding::misaligned) return illegal_address;
      if (finding.kind == Finding::trap) return assert_failed;
      if (finding.kind == Finding::divergent_barrier || finding.kind == Finding::bad_warp_mask || finding.kind == Finding::stack_overflow) return launch_failure;
    }
    return success;
  }

  void report(outcome::Finding finding) {
    finding.kernel = kernel_name(finding.kernel);
    if (!reported_.insert({static_cast<int>(finding.kind), finding.kernel, finding.line, finding.line == 0 ? finding.message : ""}).second) return;
    if (options_.say) {
      std::string text = outcome::render(finding);
      while (!text.empty() && text.back() == '\n') text.pop_back();
      options_.say(text);
    }
    recording_.findings.push_back(std::move(finding));
  }

  int socket_;
  const SimulatedOptions& options_;
  Recording& recording_;
  SharedMemory memory_;
  sim::HostedDevice device_;
  Capture capture_;
  std::size_t allocations_ = 0, allocated_ = 0;
  std::set<std::tuple<int, std::string, int, std::string>> reported_;
};

}  // namespace

void serve_simulated(int socket, const SimulatedOptions& options, Recording& recording) { Session(socket, options, recording).run(); }

}  // namespace cudal1::record
