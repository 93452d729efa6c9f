// SPDX-License-Identifier: Apache-2.0
#include "cuda/gpu.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "cuda/facts.hpp"
#include "cuda/tool_kernels.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstring>
#include <thread>

#include <fmt/format.h>

namespace cudal1::cuda {

namespace {

using device::Region;
using device::RunResult;

constexpr std::uint64_t gate_limit_ns = 1'000'000'000;
constexpr std::uint64_t shortest_clock_ns = 20'000;   // the timer ticks every 32 ns or slower: 0.2 %

RunResult failed(std::string message) {
  RunResult result;
  result.status = RunResult::Status::runtime_failed;
  result.message = std::move(message);
  return result;
}

}  // namespace

Event make_event() {
  CUevent event = nullptr;
  driver().require(driver().event_create(&event, CU_EVENT_DEFAULT), "cannot create an event");
  return Event(event);
}

double elapsed_ms(const Event& from, const Event& to) {
  float ms = 0;
  driver().require(driver().event_elapsed_time(&ms, from.get(), to.get()), "cannot read a time");
  return ms;
}

Gpu::Gpu(CUdevice device, const Options& options) : device_(device), facts_(read_facts(device)), options_(options) {
  const Driver& cuda = driver();
  cuda.require(cuda.device_primary_ctx_retain(&context_, device), "cannot open the GPU");
  cuda.require(cuda.ctx_set_current(context_), "cannot use the GPU");
  cuda.require(cuda.stream_create(&stream_, CU_STREAM_NON_BLOCKING), "cannot create a stream");
  CUmodule module = nullptr;
  cuda.require(cuda.module_load_data(&module, tool_kernels_ptx), "cannot load the tool's kernels");
  tools_ = std::make_unique<LoadedModule>(module);
  block_ = function("cudal1_block");
  digest_words_ = function("cudal1_digest_words");
  digest_bytes_ = function("cudal1_digest_bytes");
  fill64_ = function("cudal1_fill64");
  tools_->functions.emplace("cudal1_fill64", fill64_);
  cuda.require(cuda.mem_alloc(&sum_, sizeof(std::uint64_t)), "cannot allocate");
  void* gate = nullptr;
  cuda.require(cuda.mem_host_alloc(&gate, sizeof(Gate), CU_MEMHOSTALLOC_DEVICEMAP), "cannot allocate");
  gate_ = static_cast<Gate*>(gate);
  cuda.require(cuda.mem_host_get_device_pointer(&gate_address_, gate, 0), "cannot map host memory");
  if (options_.exact_allocations) return;  // under a sanitizer no time is taken
  flush_bytes_ = 2 * facts_.l2_bytes;
  cuda.require(cuda.mem_alloc(&flush_, std::max<std::size_t>(flush_bytes_, 4)), "cannot allocate");
  measure_memory_rate();
  measure_tick();
}

CUfunction Gpu::function(const char* name) const {
  CUfunction result = nullptr;
  driver().require(driver().module_get_function(&result, tools_->module, name), name);
  return result;
}

void Gpu::launch(CUfunction function, unsigned blocks, unsigned threads, void** arguments) {
  CUlaunchConfig config{};
  config.gridDimX = blocks;
  config.blockDimX = threads;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream_;
  driver().require(driver().launch_kernel_ex(&config, function, arguments, nullptr), "cannot launch the tool's own kernel");
}

void Gpu::synchronize(const char* what) { driver().require(driver().stream_synchronize(stream_), what); }

// A copy within the GPU, counting the bytes read and those written: what a kernel can reach.
void Gpu::measure_memory_rate() {
  const std::size_t bytes = std::min<std::size_t>(std::max<std::size_t>(8 * facts_.l2_bytes, std::size_t{256} << 20),
                                                  facts_.memory_bytes / 8) / 256 * 256;
  CUdeviceptr from = 0;
  CUdeviceptr to = 0;
  const Driver& cuda = driver();
  if (cuda.mem_alloc(&from, bytes) != CUDA_SUCCESS) return;
  if (cuda.mem_alloc(&to, bytes) != CUDA_SUCCESS) {
    cuda.mem_free(from);
    return;
  }
  double best_ms = 0;
  for (int i = 0; i < 8; ++i) {
    const Event start = make_event();
    const Event stop = make_event();
    cuda.event_record(start.get(), stream_);
    cuda.memcpy_device_to_device_async(to, from, bytes, stream_);
    cuda.event_record(stop.get(), stream_);
    synchronize("cannot copy memory");
    const double ms = elapsed_ms(start, stop);
    if (i > 1 && (best_ms == 0 || ms < best_ms)) best_ms = ms;
  }
  cuda.mem_free(from);
  cuda.mem_free(to);
  facts_.memory_bytes_per_second = 2.0 * static_cast<double>(bytes) / best_ms * 1e3;
  facts_.memory_rate_measured = true;
}

// The smallest step between the lengths of many short spans.
void Gpu::measure_tick() {
  std::vector<double> spans;
  for (int chunk = 0; chunk < 8; ++chunk) {
    std::vector<Event> events;
    for (int i = 0; i < 33; ++i) events.push_back(make_event());
    close_gate();
    for (const Event& event : events) driver().event_record(event.get(), stream_);
    open_gate();
    for (std::size_t i = 0; i + 1 < events.size(); ++i) spans.push_back(elapsed_ms(events[i], events[i + 1]));
  }
  std::sort(spans.begin(), spans.end());
  constexpr double same = 2e-6;  // a nanosecond or two are rounding of a float
  for (std::size_t i = 1; i < spans.size(); ++i)
    if (const double step = spans[i] - spans[i - 1]; step > same && (tick_ms_ == 0 || step < tick_ms_)) tick_ms_ = step;
  if (tick_ms_ == 0) tick_ms_ = 5e-4;  // what cuda.h documents
}

device::MemoryId Gpu::allocate(std::size_t bytes, const std::string& name) {
  Memory memory;
  memory.bytes = options_.exact_allocations ? std::max<std::size_t>(bytes, 1) : (bytes / 512 + 1) * 512;
  const auto reusable = options_.exact_allocations ? free_.end() : free_.find(memory.bytes);
  if (reusable != free_.end()) {
    memory.address = reusable->second;
    free_.erase(reusable);
  } else {
    const bool over = allocated_ + memory.bytes > memory_limit();
    CUresult status = over ? CUDA_ERROR_OUT_OF_MEMORY : driver().mem_alloc(&memory.address, memory.bytes);
    if (status == CUDA_ERROR_OUT_OF_MEMORY && !free_.empty()) {
      for (const auto& [size, address] : free_) {
        driver().mem_free(address);
        allocated_ -= size;
      }
      free_.clear();
      if (allocated_ + memory.bytes <= memory_limit()) status = driver().mem_alloc(&memory.address, memory.bytes);
    }
    driver().require(status, fmt::format("{} bytes for {}", bytes, name).c_str());
    allocated_ += memory.bytes;
  }
  memory_.emplace(next_, memory);
  return next_++;
}

void Gpu::release(device::MemoryId id) {
  const auto found = memory_.find(id);
  assert(found != memory_.end());
  if (options_.exact_allocations) {
    driver().mem_free(found->second.address);
    allocated_ -= found->second.bytes;
  } else {
    free_.emplace(found->second.bytes, found->second.address);
  }
  memory_.erase(found);
}

CUdeviceptr Gpu::address(const Region& region) const {
  const auto found = memory_.find(region.memory);
  assert(found != memory_.end() && region.offset + region.bytes <= found->second.bytes);
  return found->second.address + region.offset;
}

void Gpu::write(const Region& region, std::span<const std::byte> bytes) {
  assert(bytes.size() <= region.bytes);
  driver().require(driver().memcpy_host_to_device_async(address(region), bytes.data(), bytes.size(), stream_),
                   "cannot copy to the GPU");
  synchronize("cannot copy to the GPU");
}

void Gpu::read(const Region& region, std::span<std::byte> bytes) {
  assert(bytes.size() <= region.bytes);
  driver().require(driver().memcpy_device_to_host_async(bytes.data(), address(region), bytes.size(), stream_),
                   "cannot copy from the GPU");
  synchronize("cannot copy from the GPU");
}

void Gpu::copy(const Region& from, const Region& to) {
  assert(from.bytes == to.bytes);
  driver().require(driver().memcpy_device_to_device_async(address(to), address(from), from.bytes, stream_),
                   "cannot copy on the GPU");
}

void Gpu::poison(const Region& region, std::uint32_t word) {
  const CUdeviceptr start = address(region);
  assert(start % 4 == 0);
  const std::size_t words = region.bytes / 4;
  if (words != 0) driver().require(driver().memset32_async(start, word, words, stream_), "cannot fill memory");
  for (std::size_t i = 4 * words; i < region.bytes; ++i)
    driver().require(driver().memset8_async(start + i, static_cast<unsigned char>(word >> (8 * (i % 4))), 1, stream_),
                     "cannot fill memory");
}

// The driver packs small allocations into one block and shares that whole, so the offset counts from its start.
std::optional<device::Lent> Gpu::lend(const Region& region) {
  const CUdeviceptr start = address(region);
  CUdeviceptr base = 0;
  std::size_t length = 0;
  CUipcMemHandle handle{};
  if (driver().mem_get_address_range(&base, &length, start) != CUDA_SUCCESS ||
      driver().ipc_get_mem_handle(&handle, base) != CUDA_SUCCESS)
    return std::nullopt;
  device::Lent lent;
  for (const char byte : handle.reserved) lent.handle += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  lent.offset = start - base;
  lent.bytes = region.bytes;
  return lent;
}

std::uint64_t Gpu::digest(const Region& region) { return digest_of(address(region), region.bytes); }

std::uint64_t Gpu::digest_of(CUdeviceptr data, std::size_t bytes) {
  CUdeviceptr sum = sum_;
  driver().require(driver().memset32_async(sum_, 0, 2, stream_), "cannot fill memory");
  const auto add = [&](CUfunction function, std::uint64_t count) {
    if (count == 0) return;
    void* arguments[] = {&data, &count, &sum};
    launch(function, static_cast<unsigned>(std::min<std::uint64_t>(count / 1024 + 1, 4U * static_cast<unsigned>(std::max(1, facts_.sm_count)))), 256, arguments);
  };
  const std::uint64_t words = data % 4 == 0 ? bytes / 4 : 0;
  add(digest_words_, words);
  data += 4 * words;
  add(digest_bytes_, bytes - 4 * words);
  std::uint64_t result = 0;
  driver().require(driver().memcpy_device_to_host_async(&result, sum_, sizeof result, stream_), "cannot copy from the GPU");
  synchronize("cannot read a digest");
  return result;
}

void Gpu::close_gate() {
  gate_->open = 0;
  gate_->opened_by_itself = 0;
  std::uint64_t limit = gate_limit_ns;
  void* arguments[] = {&gate_address_, &limit};
  launch(block_, 1, 1, arguments);
}

Gpu::GateReading Gpu::open_gate() {
  gate_->open = 1;
  synchronize("a timed execution failed");
  GateReading reading;
  reading.held = gate_->opened_by_itself == 0;
  reading.stall_ms = 1e-6 * static_cast<double>(gate_->longest_gap_ns);
  if (gate_->waited_ns >= shortest_clock_ns)
    reading.clock_hz = 1e9 * static_cast<double>(gate_->cycles) / static_cast<double>(gate_->waited_ns);
  return reading;
}

void Gpu::queue_flush() {
  if (flush_bytes_ != 0) driver().require(driver().memset32_async(flush_, 0, flush_bytes_ / 4, stream_), "cannot flush");
}

tl::expected<std::unique_ptr<device::Module>, RunResult> Gpu::load(const outcome::Binary& binary) {
  CUmodule module = nullptr;
  const std::string& image = binary.cubin.empty() ? binary.ptx : binary.cubin;
  const CUresult status = driver().module_load_data(&module, image.c_str());
  if (status != CUDA_SUCCESS)
    return tl::unexpected(failed(fmt::format("the binary made for {} cannot be loaded: {}", binary.arch, driver().describe(status))));
  auto loaded = std::make_unique<LoadedModule>(module);
  loaded->fill64 = fill64_;
  for (const auto& [name, symbol] : binary.entries) {
    CUfunction function_handle = nullptr;
    const CUresult found = driver().module_get_function(&function_handle, module, symbol.c_str());
    if (found != CUDA_SUCCESS)
      return tl::unexpected(failed(fmt::format("kernel {} is not in the binary: {}", name, driver().describe(found))));
    loaded->functions.emplace(name, function_handle);
  }
  // What nobody uses ptxas leaves out.
  for (const std::string& symbol : binary.variables) {
    LoadedModule::Variable variable{symbol, 0, 0, 0};
    if (driver().module_get_global(&variable.address, &variable.bytes, module, symbol.c_str()) != CUDA_SUCCESS || variable.bytes == 0) continue;
    variable.digest = digest_of(variable.address, variable.bytes);
    loaded->variables.push_back(std::move(variable));
  }
  for (const std::string& symbol : binary.constants) {
    LoadedModule::Variable variable{symbol, 0, 0, 0};
    if (driver().module_get_global(&variable.address, &variable.bytes, module, symbol.c_str()) == CUDA_SUCCESS) loaded->constants.push_back(std::move(variable));
  }
  return loaded;
}

std::string Gpu::changed_variable(const device::Module& module) {
  for (const LoadedModule::Variable& variable : dynamic_cast<const LoadedModule&>(module).variables)
    if (digest_of(variable.address, variable.bytes) != variable.digest) return variable.symbol;
  return {};
}

PreparedPlan Gpu::prepare(const device::BoundPlan& plan) const {
  auto prepared = PreparedPlan::make(plan, [this](const Region& region) { return address(region); });
  if (!prepared) throw base::Error(base::Fault::bad_input, prepared.error());
  return *std::move(prepared);
}

// Fills of no elements.
PreparedPlan Gpu::prepare_nothing(std::size_t steps) const {
  kernel::Plan plan;
  kernel::Launch launch;
  launch.kernel = "cudal1_fill64";
  launch.block = {32, 1, 1};
  launch.arguments.assign(3, kernel::ScalarArgument{{}, 8});
  plan.steps.assign(std::max<std::size_t>(steps, 1), launch);
  return prepare({tools_.get(), &plan, {}});
}

RunResult Gpu::run(const device::BoundPlan& plan, const device::RunOptions& options) {
  auto prepared = PreparedPlan::make(plan, [this](const Region& region) { return address(region); });
  if (!prepared) return failed(prepared.error());
  const PreparedPlan::Failure failure = prepared->enqueue(stream_);
  for (const base::Seconds began = base::now(); options.seconds > 0 && driver().stream_query(stream_) == CUDA_ERROR_NOT_READY;) {
    if ((base::now() - began).count() > options.seconds) {
      RunResult result = failed("it does not end");
      result.status = RunResult::Status::timeout;
      return result;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  const CUresult status = driver().stream_synchronize(stream_);
  if (failure.status != CUDA_SUCCESS)
    return failed(fmt::format("{} cannot be launched: {}", failure.step, driver().describe(failure.status)));
  if (status == CUDA_ERROR_LAUNCH_TIMEOUT) {
    RunResult result = failed("the driver's own watchdog stopped the kernel");
    result.status = RunResult::Status::timeout;
    return result;
  }
  if (status != CUDA_SUCCESS)
    return failed(fmt::format("{} failed: {}",
                              prepared->steps() == 1 ? "kernel " + prepared->first_kernel() : "a kernel of the plan",
                              driver().describe(status)));
  return {};
}

device::Counted Gpu::read_counters(const device::BoundPlan& plan, const std::function<void()>& prepare_buffers) {
  if (!profiler_) profiler_ = std::make_unique<Profiler>(context_, static_cast<std::size_t>(device_));
  device::Counted result;
  if (profiler_->problem().empty()) {
    PreparedPlan prepared = prepare(plan);
    const bool counted = profiler_->count(
        [&] {
          prepare_buffers();
          queue_flush();
          synchronize("memory could not be prepared");
        },
        [&] {
          const PreparedPlan::Failure failure = prepared.enqueue(stream_);
          driver().require(failure.status, failure.step.c_str());
          synchronize("a counted execution failed");
        });
    if (counted) {
      result.counters = profiler_->counters();
      result.shares = profiler_->shares();
    }
  }
  result.problem = profiler_->problem();
  return result;
}

std::unique_ptr<device::Device> open(int index, const Options& options) {
  if (!driver().problem.empty()) throw base::Error(base::Fault::no_device, driver().problem);
  int count = 0;
  driver().device_get_count(&count);
  CUdevice device = 0;
  if (index < 0 || index >= count || driver().device_get(&device, index) != CUDA_SUCCESS)
    throw base::Error(base::Fault::no_device,
                      fmt::format("there is no GPU cuda:{}; `cudal1 devices` lists {}", index, count == 1 ? "the one here" : "those here"));
  return std::make_unique<Gpu>(device, options);
}

}  // namespace cudal1::cuda
