// SPDX-License-Identifier: Apache-2.0
#include "recorder.hpp"

#include "times.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace cudal1::runtime {

namespace {

template <typename T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// Calls of our own on this thread are no calls of the program's.
thread_local bool ours = false;
thread_local bool pending = false;            // the launch under way on this thread is kept
struct Own {
  bool before = std::exchange(ours, true);
  ~Own() { ours = before; }
};

// What copies memory is not allowed while a stream of this thread is captured, unless asked for.
struct OutsideCapture {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  OutsideCapture() { exchange(); }
  ~OutsideCapture() { exchange(); }
  void exchange() {
    if (driver().exchange_capture_mode != nullptr) driver().exchange_capture_mode(&mode);
  }
};

}  // namespace

Recorder& Recorder::get() {
  static auto* const recorder = new Recorder;  // outlives every destructor of the program
  return *recorder;
}

bool Recorder::connect() {
  if (link_ != Link::none) return link_ == Link::open;
  link_ = Link::closed;
  if (!socket_.connect()) {
    std::fprintf(stderr, "cudal1 record: this process is not recorded: %s\n", std::strerror(errno));
    return false;
  }
  wire::Observed hello;
  hello.process = ::getpid();
  CUdevice device = 0;
  // Before the first launch the driver is still starting, and may not be asked.
  if (launches_ > 0 && driver().context_device != nullptr && driver().device_name != nullptr && driver().context_device(&device) == CUDA_SUCCESS)
    driver().device_name(hello.device, sizeof hello.device - 1, device);
  socket_.message(wire::Kind::observed, bytes_of(hello), program_invocation_short_name);
  const std::string answer = socket_.reply();
  if (answer.size() < sizeof orders_) return false;
  std::memcpy(&orders_, answer.data(), sizeof orders_);
  link_ = Link::open;
  return true;
}

void Recorder::problem(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  const Own own;
  if (connect()) socket_.message(wire::Kind::missing, bytes_of(wire::Number{}), sentence);
}

void Recorder::add_module(std::string_view cubin) {
  const std::lock_guard lock(modules_mutex_);
  variables_.add_module(cubin);
}

// The driver knows the layout, also of kernels without any source.
bool Recorder::read_parameters(Function& function, CUfunction handle) {
  if (function.known) return true;
  const Driver& d = driver();
  if (!d.complete) return false;
  bool as_kernel = false;
  for (std::size_t i = 0;; ++i) {
    std::size_t offset = 0, bytes = 0;
    CUresult result = as_kernel ? CUDA_ERROR_INVALID_HANDLE : d.parameter(handle, i, &offset, &bytes);
    if (result != CUDA_SUCCESS && (i == 0 || as_kernel) && d.kernel_parameter != nullptr) {
      const CUresult again = d.kernel_parameter(reinterpret_cast<CUkernel>(handle), i, &offset, &bytes);
      if (again == CUDA_SUCCESS) as_kernel = true;
      if (again == CUDA_SUCCESS || as_kernel) result = again;
    }
    if (result != CUDA_SUCCESS) break;        // there are no more
    function.parameters.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes)});
  }
  function.known = true;
  return true;
}

bool Recorder::read_values(const Function& function, const ObservedCall& call, std::string& values) {
  std::size_t bytes = 0;
  for (const wire::Parameter& p : function.parameters) bytes = std::max<std::size_t>(bytes, p.offset + p.bytes);
  values.assign(bytes, '\0');
  if (call.parameters != nullptr) {
    for (std::size_t i = 0; i < function.parameters.size(); ++i)
      if (call.parameters[i] != nullptr) std::memcpy(values.data() + function.parameters[i].offset, call.parameters[i], function.parameters[i].bytes);
    return true;
  }
  if (call.extra == nullptr) return bytes == 0;
  const void* block = nullptr;
  std::size_t size = 0;
  for (void** word = call.extra; *word != CU_LAUNCH_PARAM_END; word += 2) {
    if (*word == CU_LAUNCH_PARAM_BUFFER_POINTER) block = word[1];
    if (*word == CU_LAUNCH_PARAM_BUFFER_SIZE) size = *static_cast<const std::size_t*>(word[1]);
  }
  if (block == nullptr) return false;
  std::memcpy(values.data(), block, std::min(size, bytes));
  return true;
}

void Recorder::entered(const ObservedCall& call, const char* symbol) {
  if (ours) return;
  const std::lock_guard lock(mutex_);
  const Own own;
  Function& function = functions_[call.function];
  if (function.symbol.empty()) {
    const char* name = symbol;
    if (name == nullptr && driver().function_name != nullptr) driver().function_name(&name, call.function);
    function.symbol = name != nullptr ? name : "(a kernel without a name)";
  }
  ++function.launches;
  const std::uint64_t number = ++launches_;
  double threads = 1;
  for (std::size_t i = 0; i < 3; ++i) threads *= static_cast<double>(call.grid[i]) * call.block[i];
  const bool asked = all_ || function.ask == wire::Ask::always || (function.ask == wire::Ask::larger && threads >= 1.5 * function.largest) ||
                     (number >= orders_.first && number <= orders_.last);
  time(asked);
  if (!asked || !connect()) return;
  function.largest = std::max(function.largest, threads);

  trouble_.clear();
  CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;
  if (driver().is_capturing != nullptr) driver().is_capturing(call.stream, &capturing);
  if (capturing != CU_STREAM_CAPTURE_STATUS_NONE) trouble_ = "it becomes part of a CUDA graph";
  if (call.cluster) trouble_ = "it is a launch of clusters";
  std::string values;
  if (!read_parameters(function, call.function)) trouble_ = "the driver does not tell the layout of its parameters; that of CUDA 12.4 or newer does";
  else if (!read_values(function, call, values)) trouble_ = "its parameters cannot be read";

  std::vector<wire::Target> targets;
  for (const wire::Parameter& p : function.parameters)
    for (std::size_t offset = 0; offset + 8 <= p.bytes && p.offset + p.bytes <= values.size(); offset += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, values.data() + p.offset + offset, sizeof word);
      if (word < 0x10000 || !driver().complete || std::any_of(targets.begin(), targets.end(), [&](const wire::Target& t) { return t.word == word; })) continue;
      CUdeviceptr start = 0;
      std::size_t size = 0;
      if (driver().pointer_attribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, word) != CUDA_SUCCESS ||
          driver().pointer_attribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, word) != CUDA_SUCCESS || word - start >= size)
        continue;
      targets.push_back({word, start, size});
    }

  wire::ObservedLaunch message;
  message.number = number;
  std::copy_n(call.grid.begin(), 3, message.grid);
  std::copy_n(call.block.begin(), 3, message.block);
  message.shared_bytes = call.shared_bytes;
  message.cooperative = call.cooperative ? 1 : 0;
  message.symbol_bytes = static_cast<std::uint32_t>(function.symbol.size());
  message.parameters = static_cast<std::uint32_t>(function.parameters.size());
  message.parameter_bytes = static_cast<std::uint32_t>(values.size());
  message.targets = static_cast<std::uint32_t>(targets.size());
  std::string rest = function.symbol;
  for (const wire::Parameter& p : function.parameters) rest += bytes_of(p);
  rest += values;
  for (const wire::Target& t : targets) rest += bytes_of(t);
  socket_.message(wire::Kind::observed_launch, bytes_of(message), rest);
  const std::string answer = socket_.reply();
  wire::Decision decision;
  if (answer.size() >= sizeof decision) std::memcpy(&decision, answer.data(), sizeof decision);
  function.ask = decision.again;
  all_ = decision.all != 0;
  if (decision.keep != 0) begin(function, call, targets, decision.fresh != 0);
}

// Times are taken of launches that are new and of those after them; others take as long as these did.
void Recorder::time(bool fresh) {
  constexpr std::uint64_t enough = 4096;
  if (fresh) fresh_ = launches_, Times::go_on();
  else if (launches_ == fresh_ + enough && !graphs_) Times::pause();
}

void Recorder::graph() {
  const std::lock_guard lock(mutex_);
  graphs_ = true;
  Times::go_on();
}

void Recorder::begin(const Function& function, const ObservedCall& call, const std::vector<wire::Target>& targets, bool fresh) {
  pending = true;
  if (fresh) kept_.clear(), kept_variables_.clear();
  stream_ = call.stream;
  kept_since_ = std::chrono::steady_clock::now();
  if (!trouble_.empty()) return;
  const OutsideCapture outside;
  const Driver& d = driver();
  if (d.synchronize() != CUDA_SUCCESS) {
    trouble_ = "an earlier launch has failed";
    return;
  }
  kept_since_ = std::chrono::steady_clock::now();  // what ran until now is the program's own
  send_all(wire::Moment::between);
  for (const wire::Target& target : targets)
    if (kept_.emplace(target.address, target.bytes).second) send_memory(target.address, target.bytes, wire::Moment::before, {});
  CUmodule module = nullptr;
  std::vector<std::string> names;
  {
    const std::lock_guard lock(modules_mutex_);
    names = variables_.of(function.symbol);
  }
  CUfunction loaded = call.function;
  if (!names.empty() && d.module != nullptr && d.module(&module, loaded) != CUDA_SUCCESS && d.kernel_function != nullptr &&
      d.kernel_function(&loaded, reinterpret_cast<CUkernel>(call.function)) == CUDA_SUCCESS)
    d.module(&module, loaded);
  for (const std::string& name : names) {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    if (module == nullptr || d.global(&address, &bytes, module, name.c_str()) != CUDA_SUCCESS || bytes == 0) continue;
    if (kept_variables_.emplace(name, std::pair{address, bytes}).second) send_memory(address, bytes, wire::Moment::before, name);
  }
  if (from_ == nullptr && (d.event_create(&from_, CU_EVENT_DEFAULT) != CUDA_SUCCESS || d.event_create(&to_, CU_EVENT_DEFAULT) != CUDA_SUCCESS)) from_ = nullptr;
  if (from_ != nullptr) d.event_record(from_, stream_);
}

void Recorder::returned(bool success) {
  if (ours || !pending) return;
  pending = false;
  const std::lock_guard lock(mutex_);
  const Own own;
  wire::ObservedEnd end;
  if (trouble_.empty() && !success) trouble_ = "the driver refuses it";
  if (trouble_.empty()) {
    const OutsideCapture outside;
    const Driver& d = driver();
    if (from_ != nullptr) d.event_record(to_, stream_);
    if (d.synchronize() != CUDA_SUCCESS) trouble_ = "it fails on the GPU; compute-sanitizer says where";
    float ms = 0;
    if (trouble_.empty() && from_ != nullptr && d.event_elapsed(&ms, from_, to_) == CUDA_SUCCESS) end.ms = static_cast<double>(ms);
    if (trouble_.empty()) send_all(wire::Moment::after);
  }
  socket_.message(wire::Kind::observed_end, bytes_of(end), trouble_);
  const std::string answer = socket_.reply();
  wire::Number stop;
  if (answer.size() >= sizeof stop) std::memcpy(&stop, answer.data(), sizeof stop);
  kept_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - kept_since_).count();
  if (stop.value == 0) return;
  std::fflush(nullptr);
  send_totals(true);
  std::_Exit(0);  // what was wanted is recorded
}

void Recorder::send_all(wire::Moment moment) {
  for (const auto& [address, bytes] : kept_) send_memory(address, bytes, moment, {});
  for (const auto& [name, place] : kept_variables_) send_memory(place.first, place.second, moment, name);
}

void Recorder::send_memory(std::uint64_t address, std::uint64_t bytes, wire::Moment moment, std::string_view symbol) {
  constexpr std::uint64_t step = std::uint64_t{16} << 20;
  staging_.resize(static_cast<std::size_t>(std::max<std::uint64_t>(staging_.size(), std::min(bytes, step))));
  for (std::uint64_t at = 0; at < bytes; at += step) {
    const std::uint64_t count = std::min(step, bytes - at);
    // Managed memory and the host's is none of the device's.
    if (driver().copy_out(staging_.data(), address + at, count) != CUDA_SUCCESS &&
        driver().copy(reinterpret_cast<CUdeviceptr>(staging_.data()), address + at, count) != CUDA_SUCCESS)
      return;  // freed; what is missing is noticed
    wire::ObservedMemory message{address, bytes, at, moment, static_cast<std::uint32_t>(symbol.size())};
    std::string head(bytes_of(message));
    head += symbol;
    socket_.message(wire::Kind::observed_memory, head, {staging_.data(), static_cast<std::size_t>(count)});
  }
}

void Recorder::send_totals(bool wait) {
  std::map<std::string, wire::ObservedTotal> totals;
  for (auto& [handle, function] : functions_)
    if (function.launches > 0) totals[function.symbol].launches += std::exchange(function.launches, 0);
  for (const auto& [symbol, timed] : Times::take(wait)) {
    wire::ObservedTotal& total = totals[symbol];
    total.timed = timed.launches;
    total.ms = timed.ms * static_cast<double>(std::max(total.launches, timed.launches)) / static_cast<double>(std::max<std::uint64_t>(timed.launches, 1));
  }
  if (totals.empty() || !connect()) return;
  if (kept_seconds_ > 0) socket_.message(wire::Kind::observed_kept, bytes_of(wire::ObservedKept{std::exchange(kept_seconds_, 0.0)}));
  for (const auto& [symbol, total] : totals) socket_.message(wire::Kind::observed_total, bytes_of(total), symbol);
}

void Recorder::finish() {
  const std::lock_guard lock(mutex_);
  const Own own;
  if (link_ == Link::open) send_totals(true);
}

}  // namespace cudal1::runtime
