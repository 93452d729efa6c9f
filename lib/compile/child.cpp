// SPDX-License-Identifier: Apache-2.0
#include "compile/child.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

namespace cudal1::compile {
namespace {

using Status = base::Channel::Status;

constexpr base::Seconds start_limit{120};  // a first start reads 200 MB from a cold disk

Rejection rejected(Rejection::Kind kind, std::string message) {
  Rejection rejection;
  rejection.kind = kind;
  rejection.message = message;
  base::Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  rejection.diagnostics.push_back(std::move(diagnostic));
  return rejection;
}

std::string size_text(std::size_t bytes) {
  return bytes >= std::size_t{1} << 30 ? fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30))
                                       : fmt::format("{} MiB", bytes >> 20);
}

Rejection too_large(std::size_t limit) {
  return rejected(Rejection::Kind::memory_limit,
                  "the compiler needed more than " + size_text(limit) + " of memory; unroll less, or instantiate fewer templates");
}

}  // namespace

Child::Child(const CompilerOptions& options, const NvrtcIdentity& identity, std::vector<std::filesystem::path> folders)
    : limits_(options.limits), folders_(std::move(folders)), worker_(options.worker, options.limits.memory_bytes), killed_throws_(options.killed_throws) {
  Setup setup{identity.library.string(), identity.builtins.string(), {}, options.sandbox};
  for (const std::filesystem::path& folder : folders_) setup.readable.push_back(folder.string());
  std::string message;
  worker_.channel().send(encode(setup));
  if (worker_.channel().receive(message, start_limit) != Status::message) {
    worker_.kill();
    throw base::Error(base::Fault::internal, "the compile process (" + options.worker.executable.string() +
                                                 ") ended before it was ready\n" + base::printable(worker_.last_words()));
  }
  ready_ = decode_ready(message);
  if (!ready_.fault.empty())
    throw base::Error(ready_.fault == "nvrtc" ? base::Fault::no_device : base::Fault::usage, ready_.message);
}

tl::expected<Product, Rejection> Child::compile(const Job& job) {
  ++compiles_;
  std::string message;
  const base::Seconds limit = limits_.time * std::max(1.0, static_cast<double>(job.kernels.size()) / static_cast<double>(few_kernels));
  const Status status = worker_.channel().send(encode(job)) ? worker_.channel().receive(message, limit) : Status::closed;
  if (status == Status::timeout) {
    alive_ = false;
    worker_.kill();
    return tl::unexpected(rejected(Rejection::Kind::time_limit,
                                   fmt::format("the compiler was stopped after {:.3g} s; unroll less, or instantiate fewer templates",
                                               limit.count())));
  }
  if (status == Status::closed) {
    alive_ = false;
    Rejection rejection = died();
    if (killed_ && killed_throws_) throw base::Error(base::Fault::internal, "the compile process was killed (out of memory?)");
    return tl::unexpected(std::move(rejection));
  }
  Product product = decode_product(message);
  if (product.out_of_memory) {
    alive_ = false;  // what is left of its memory is of no use
    worker_.kill();
    return tl::unexpected(too_large(limits_.memory_bytes));
  }
  return product;
}

// NVRTC has no orderly way out of every shortage: it may call abort or fault. What it said last, or how large it was, tells.
Rejection Child::died() {
  const base::WorkerEnd end = worker_.end();
  const std::string words = worker_.last_words();
  for (const char* sign : {"bad_alloc", "out of memory", "Out of memory", "out-of-memory", "Cannot allocate"})
    if (words.find(sign) != std::string::npos) return too_large(limits_.memory_bytes);
  if (limits_.memory_bytes > 0 && end.peak_memory_bytes > limits_.memory_bytes / 10 * 8) return too_large(limits_.memory_bytes);
  killed_ = end.signal == SIGKILL;
  return rejected(Rejection::Kind::compile_failed,
                  end.signal != 0 ? fmt::format("the compiler crashed on this source (signal {})", end.signal)
                                  : fmt::format("the compiler ended on this source (exit code {})", end.exit_code));
}

}  // namespace cudal1::compile
