// SPDX-License-Identifier: Apache-2.0
#include "base/process.hpp"

#include "base/error.hpp"
#include "base/spawn.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cudal1::base {
namespace {

constexpr Seconds grace{2};        // between TERM and KILL
constexpr Seconds after_end{0.2};  // for output that is still in the pipes when the program ends

// Standard input as a file in memory: unlike a pipe it needs no feeding and raises no SIGPIPE.
void fill(Descriptor& file, std::string_view input) {
  file.reset(::memfd_create("input", MFD_CLOEXEC));
  while (file.value() >= 0 && !input.empty()) {
    const ssize_t count = ::write(file.value(), input.data(), input.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    input.remove_prefix(static_cast<std::size_t>(count));
  }
  if (!input.empty() || file.value() < 0 || ::lseek(file.value(), 0, SEEK_SET) != 0)
    throw Error(Fault::internal, std::string("cannot prepare a program's input: ") + std::strerror(errno));
}

// Reads what is there; closes the pipe at its end.
void drain(Descriptor& pipe, std::string& text, std::size_t limit, bool& cut) {
  char block[65536];
  const ssize_t count = ::read(pipe.value(), block, sizeof block);
  if (count > 0) {
    const std::size_t kept = std::min(static_cast<std::size_t>(count), limit - text.size());
    text.append(block, kept);
    cut = cut || kept < static_cast<std::size_t>(count);
  } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
    pipe.reset();
  }
}

}  // namespace

Finished run(const Program& program, std::string_view input, Seconds limit, std::size_t output_limit,
             const std::stop_token& stop, const std::function<void(std::string_view)>& heard) {
  Descriptor file;
  fill(file, input);
  Pipe out, err;
  SpawnOptions options;
  options.descriptors = {file.value(), out.write.value(), err.write.value(), -1};
  options.fault = Fault::usage;
  const pid_t pid = spawn(program, options);
  out.write.reset();
  err.write.reset();
  for (const Pipe* pipe : {&out, &err}) ::fcntl(pipe->read.value(), F_SETFL, O_NONBLOCK);
  const Descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));  // close-on-exec by itself

  Pipe wake_up;
  const std::stop_callback on_stop(stop, [&] { wake_up.write.reset(); });
  Finished finished;
  Seconds deadline = now() + limit;
  bool told = false, ended = false;
  while (out.read.value() >= 0 || err.read.value() >= 0 || !ended) {
    const Seconds left = deadline - now();
    const bool stopping = !told && !ended && stop.stop_requested();
    if (left <= Seconds{0} || stopping) {
      if (ended || told) break;  // a descendant holds the pipes, or TERM was not heard
      told = true;
      (stopping ? finished.stopped : finished.timed_out) = true;
      ::kill(-pid, SIGTERM);
      deadline = now() + grace;
      continue;
    }
    pollfd events[4] = {{out.read.value(), POLLIN, 0},
                        {err.read.value(), POLLIN, 0},
                        {ended ? -1 : handle.value(), POLLIN, 0},
                        {told ? -1 : wake_up.read.value(), POLLIN, 0}};
    const Seconds step = std::min(left, handle.value() >= 0 ? Seconds{60} : Seconds{0.02});
    ::poll(events, 4, static_cast<int>(step.count() * 1e3) + 1);
    if (events[0].revents != 0) drain(out.read, finished.out, output_limit, finished.output_cut);
    if (events[1].revents != 0) {
      const std::size_t before = finished.err.size();
      drain(err.read, finished.err, output_limit, finished.output_cut);
      if (heard && finished.err.size() > before) heard(std::string_view(finished.err).substr(before));
    }
    if (!ended && wait_for_end(pid, Seconds{0})) {
      ended = true;
      deadline = std::min(deadline, now() + after_end);
    }
  }
  const WorkerEnd end = kill_and_reap(pid);
  finished.exit_code = end.exit_code;
  finished.signal = end.signal;
  return finished;
}

std::filesystem::path own_executable() {
  std::error_code code;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", code);
  // A binary replaced while it runs is still reachable under the link's own name.
  return !code && std::filesystem::exists(path, code) ? path : std::filesystem::path("/proc/self/exe");
}

}  // namespace cudal1::base
