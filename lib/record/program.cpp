// SPDX-License-Identifier: Apache-2.0
#include "record/program.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/spawn.hpp"
#include "record/wire.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace cudal1::record {

namespace {

// A socket in a folder of its own, which ends with it.
class Listener {
 public:
  Listener() : folder_("cudal1-record"), path_(folder_.path() / "socket") {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path_.string().size() >= sizeof address.sun_path)
      throw base::Error(base::Fault::usage, fmt::format("{} is too long for a socket's path; set TMPDIR to a shorter folder", path_.string()));
    path_.string().copy(address.sun_path, sizeof address.sun_path - 1);
    socket_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (socket_.value() < 0 || ::bind(socket_.value(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || ::listen(socket_.value(), 8) != 0)
      throw base::Error(base::Fault::internal, fmt::format("no socket can be made in {}: {}", folder_.path().string(), std::strerror(errno)));
  }
  const std::filesystem::path& path() const { return path_; }
  // The next connection; −1 after the time in milliseconds.
  int accept(int patience) const {
    pollfd waiting{socket_.value(), POLLIN, 0};
    return ::poll(&waiting, 1, patience) > 0 ? ::accept4(socket_.value(), nullptr, nullptr, SOCK_CLOEXEC) : -1;
  }

 private:
  base::TemporaryFolder folder_;
  std::filesystem::path path_;
  base::Descriptor socket_;
};

pid_t start(const RunningProgram& program) {
  std::vector<std::string> environment;
  for (char** word = environ; *word != nullptr; ++word) {
    const std::string_view text = *word;
    const bool replaced = std::any_of(program.environment.begin(), program.environment.end(),
                                      [&](const auto& pair) { return text.starts_with(pair.first + "="); });
    if (!replaced) environment.emplace_back(text);
  }
  for (const auto& [name, value] : program.environment) environment.push_back(name + "=" + value);
  const auto pointers = [](const std::vector<std::string>& words) {
    std::vector<char*> list;
    for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
    list.push_back(nullptr);
    return list;
  };
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, program.words.front().c_str(), nullptr, nullptr, pointers(program.words).data(), pointers(environment).data());
  if (error != 0) throw base::Error(base::Fault::usage, fmt::format("{} cannot be started: {}", program.words.front(), std::strerror(error)));
  return pid;
}

// Ends with the program, also when an error is on its way.
struct Child {
  pid_t pid = -1;
  bool ended(Ended& end, bool wait) {
    if (pid < 0) return true;
    int status = 0;
    if (::waitpid(pid, &status, wait ? 0 : WNOHANG) != pid) return false;
    pid = -1;
    if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
    return true;
  }
  ~Child() {
    if (pid < 0) return;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
};

// Runs it to its end and hands over whatever of it connects; the descriptor is the taker's to close.
Ended run(const RunningProgram& program, const std::vector<std::pair<std::string, std::string>>& environment, const std::function<void(int)>& serve) {
  const Listener listener;
  RunningProgram ours = program;
  ours.environment.insert(ours.environment.end(), environment.begin(), environment.end());
  ours.environment.emplace_back(wire::socket_variable, listener.path().string());
  const base::Seconds began = base::now();
  Child child{start(ours)};
  Ended end;
  constexpr int patience = 20;  // milliseconds
  for (bool running = true; running;) {
    running = !child.ended(end, false);
    // A last look: the program may have connected just before it ended.
    while (true) {
      const int connection = listener.accept(running ? patience : 0);
      if (connection < 0) break;
      serve(connection);
    }
  }
  end.seconds = (base::now() - began).count();
  return end;
}

}  // namespace

std::string linked_runtime(const std::filesystem::path& program) {
  const std::string bytes = base::read_file(program, std::size_t{4} << 30);
  if (!bytes.starts_with("\x7f" "ELF")) return {};
  // The dynamic section's strings name it; nothing else in such a file reads so.
  static const std::string stem = "libcudart.so.";
  for (std::size_t at = bytes.find(stem); at != std::string::npos; at = bytes.find(stem, at + 1)) {
    std::size_t end = at + stem.size();
    while (end < bytes.size() && bytes[end] >= '0' && bytes[end] <= '9') ++end;
    if (end > at + stem.size() && bytes[end] == '\0') return bytes.substr(at, end - at);
  }
  return {};
}

Ended record_simulated(const RunningProgram& program, const std::filesystem::path& runtime, const SimulatedOptions& options, Recording& recording) {
  const char* const libraries = std::getenv("LD_LIBRARY_PATH");
  const std::string path = runtime.string() + (libraries != nullptr && *libraries != '\0' ? fmt::format(":{}", libraries) : "");
  return run(program, {{"LD_LIBRARY_PATH", path}}, [&](int connection) {
    const base::Descriptor held(connection);
    serve_simulated(connection, options, recording);
  });
}

Ended record_observed(const RunningProgram& program, const std::filesystem::path& injected, const ObservedOptions& options, Recording& recording) {
  ObservedProcesses processes(options, recording);
  std::vector<std::thread> threads;
  std::vector<std::pair<std::string, std::string>> environment = {{"CUDA_INJECTION64_PATH", injected.string()}};
  if (const char* cupti = std::getenv("CUDAL1_CUPTI")) environment.emplace_back(wire::cupti_variable, cupti);
  environment.emplace_back(wire::task_variable, options.keep ? "1" : "0");
  if (options.choice.any()) environment.emplace_back(wire::times_variable, "0");  // the table alone shows times
  // Where a library is injected the driver loads every kernel at once, those of PyTorch in seconds.
  if (std::getenv("CUDA_MODULE_LOADING") == nullptr) environment.emplace_back("CUDA_MODULE_LOADING", "LAZY");
  // PyTorch takes memory in large pieces that hold many tensors. From the driver's pool each tensor has a piece of its own, and
  // nothing waits for the GPU, as it does where every tensor is an allocation.
  if (options.separate_tensors && std::getenv("PYTORCH_NO_CUDA_MEMORY_CACHING") == nullptr) {
    if (std::getenv("PYTORCH_CUDA_ALLOC_CONF") == nullptr) environment.emplace_back("PYTORCH_CUDA_ALLOC_CONF", "backend:cudaMallocAsync");
    else environment.emplace_back("PYTORCH_NO_CUDA_MEMORY_CACHING", "1");
  }
  const Ended end = run(program, environment, [&](int connection) {
    threads.emplace_back([&processes, connection] {
      const base::Descriptor held(connection);
      processes.serve(connection);
    });
  });
  for (std::thread& thread : threads) thread.join();
  processes.finish();
  return end;
}

}  // namespace cudal1::record
