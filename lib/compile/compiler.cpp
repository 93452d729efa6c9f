// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "compile/architecture.hpp"
#include "compile/assemble.hpp"
#include "compile/cache.hpp"
#include "compile/child.hpp"
#include "compile/headers.hpp"
#include "compile/include_scan.hpp"

#include <algorithm>
#include <cctype>
#include <mutex>
#include <utility>

#include <fmt/format.h>

namespace cudal1::compile {
namespace {

namespace fs = std::filesystem;

// A digest of parts that cannot run into each other.
class Key {
 public:
  void add(std::string_view part) { text_ += std::to_string(part.size()) + ":" + std::string(part); }
  std::string digest() const { return base::sha256(text_); }

 private:
  std::string text_;
};

std::vector<fs::path> real_folders(const Request& request, const NvrtcIdentity& identity) {
  std::vector<fs::path> folders;
  std::error_code code;
  for (const fs::path& folder : request.include_folders) folders.push_back(fs::weakly_canonical(folder, code));
  if (!identity.include_folder.empty()) folders.push_back(fs::weakly_canonical(identity.include_folder, code));
  return folders;
}

// What the task's own headers are at this moment. False: too many to look at, so nothing is kept.
bool add_headers(Key& key, const Request& request) {
  constexpr int most = 4096;
  int count = 0;
  for (const fs::path& folder : request.include_folders) {
    std::vector<std::string> facts;
    std::error_code code;
    for (fs::recursive_directory_iterator i(folder, code), end; !code && i != end; i.increment(code)) {
      std::error_code gone;
      if (!i->is_regular_file(gone)) continue;
      if (++count > most) return false;
      facts.push_back(fmt::format("{} {} {}", i->path().string(), i->file_size(gone), i->last_write_time(gone).time_since_epoch().count()));
    }
    std::sort(facts.begin(), facts.end());
    key.add(folder.string());
    for (const std::string& fact : facts) key.add(fact);
  }
  return true;
}

[[noreturn]] void throw_not_found(const NvrtcIdentity& identity) {
  std::string message = "NVRTC, the compiler library of the CUDA Toolkit, was not found. Looked in:\n";
  for (const std::string& place : identity.searched) message += "  " + place + "\n";
  throw base::Error(base::Fault::no_device, message + "Install the CUDA Toolkit (developer.nvidia.com/cuda-downloads) or the Python package "
                                                      "nvidia-cuda-nvrtc, or set CUDA_PATH to a toolkit");
}

}  // namespace

struct Compiler::State {
  explicit State(CompilerOptions o)
      : options(std::move(o)), identity(find_nvrtc()), cache(options.cache_folder, options.cache_bytes) {}

  // A free child that may read these folders, or a new one.
  std::unique_ptr<Child> take(const std::vector<fs::path>& folders) {
    {
      const std::lock_guard lock(mutex);
      for (auto i = idle.begin(); i != idle.end(); ++i)
        if ((*i)->folders() == folders) {
          std::unique_ptr<Child> child = std::move(*i);
          idle.erase(i);
          return child;
        }
      if (!idle.empty()) idle.erase(idle.begin());  // of other folders, and in the way of memory
    }
    return std::make_unique<Child>(options, identity, folders);
  }

  void give_back(std::unique_ptr<Child> child) {
    if (!child->usable()) return;
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(child));
  }

  std::string key_of(const Request& request, const Job& job) const {
    Key key;
    key.add("2");  // counts up when the same job gets another result
    for (const std::string* part : {&job.source, &job.name, &request.name, &request.arch}) key.add(*part);
    key.add(std::to_string(job.options.size()));
    for (const std::string& option : job.options) key.add(option);
    for (const std::string& kernel : job.kernels) key.add(kernel);
    for (const std::string_view name : embedded_headers()) key.add(embedded_text(name.substr(name.rfind('/') + 1)).value_or(""));
    std::error_code code;
    key.add(fmt::format("{} {}.{} {}", identity.library.string(), identity.major, identity.minor, fs::file_size(identity.library, code)));
    return add_headers(key, request) ? key.digest() : std::string();
  }

  void check_architecture(const Request& request, const Ready& ready) const {
    const auto digits = std::find_if(request.arch.begin(), request.arch.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    int number = 0;
    for (auto i = digits; i != request.arch.end() && std::isdigit(static_cast<unsigned char>(*i)) != 0 && number < 10000; ++i)
      number = number * 10 + (*i - '0');
    const std::vector<int>& known = ready.architectures;
    if (known.empty() || std::find(known.begin(), known.end(), number) != known.end()) return;
    throw base::Error(base::Fault::no_device, fmt::format("NVRTC {}.{} ({}) cannot compile for {}: it knows sm_{} to sm_{}; another CUDA Toolkit is needed",
                                                          ready.major, ready.minor, identity.library.string(), request.arch,
                                                          known.front(), known.back()));
  }

  CompilerOptions options;
  NvrtcIdentity identity;
  Cache cache;
  std::mutex mutex;
  std::vector<std::unique_ptr<Child>> idle;
};

Compiler::Compiler(CompilerOptions options) : state_(std::make_unique<State>(std::move(options))) {
  if (state_->identity.library.empty()) throw_not_found(state_->identity);
  if (state_->options.sandbox)
    if (const SandboxState sandbox = sandbox_state(); !sandbox.available)
      throw base::Error(base::Fault::usage, "the compiler cannot be confined to a sandbox (" + sandbox.description +
                                                "), so a model's code could read files; --no-sandbox compiles without one");
}

Compiler::~Compiler() = default;

tl::expected<Compiled, Rejection> Compiler::compile(const Request& asked) {
  Request request = asked;
  request.arch = target_of(asked);
  const std::vector<fs::path> folders = real_folders(request, state_->identity);
  if (auto bad = find_bad_include(request.source, request.name, folders)) {
    Rejection rejection;
    rejection.message = fmt::format("{}:{}: {}", bad->file, bad->line, bad->message);
    rejection.diagnostics.push_back(std::move(*bad));
    return tl::unexpected(std::move(rejection));
  }
  const SourceNames names = names_of(request);
  const Job job = job_of(request, names, state_->identity);
  std::string key;
  if (state_->cache.enabled()) {
    key = state_->key_of(request, job);
    if (!key.empty())
      if (auto found = state_->cache.find(key)) return std::move(*found);
  }

  std::unique_ptr<Child> child = state_->take(folders);
  state_->check_architecture(request, child->ready());
  tl::expected<Product, Rejection> product = child->compile(job);
  state_->give_back(std::move(child));
  if (!product) return tl::unexpected(std::move(product.error()));
  std::vector<std::string> trusted;
  for (const fs::path& folder : folders) trusted.push_back(folder.string());
  tl::expected<Compiled, Rejection> compiled = assemble(request, names, *product, trusted);
  if (compiled && !key.empty()) state_->cache.store(key, *compiled);
  return compiled;
}

}  // namespace cudal1::compile
