// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"
#include "cuda/cuda.hpp"
#include "cuda/driver.hpp"
#include "cuda/prepared_plan.hpp"
#include "cuda/profiler.hpp"
#include "device/lender.hpp"

#include <map>
#include <unordered_map>

namespace cudal1::cuda {

// A GPU through the driver API: one context, one stream, on which everything is queued in order. A fault of a kernel
// makes the context useless; run() then says so once, and the process must be replaced.
class Gpu final : public device::Device, public device::Lender {
 public:
  Gpu(CUdevice device, const Options& options);

  const outcome::DeviceFacts& facts() const override { return facts_; }
  device::MemoryId allocate(std::size_t bytes, const std::string& name) override;
  void release(device::MemoryId memory) override;
  void write(const device::Region& region, std::span<const std::byte> bytes) override;
  void read(const device::Region& region, std::span<std::byte> bytes) override;
  void copy(const device::Region& from, const device::Region& to) override;
  void poison(const device::Region& region, std::uint32_t word) override;
  std::optional<device::Lent> lend(const device::Region& region) override;
  std::uint64_t digest(const device::Region& region) override;
  double tick_ms() const override { return tick_ms_; }
  tl::expected<std::unique_ptr<device::Module>, device::RunResult> load(const outcome::Binary& binary) override;
  std::string changed_variable(const device::Module& module) override;
  device::RunResult run(const device::BoundPlan& plan, const device::RunOptions& options) override;
  std::optional<std::vector<device::Sample>> time(const device::TimingRequest& request) override;
  device::Counted read_counters(const device::BoundPlan& plan, const std::function<void()>& prepare) override;
  std::optional<double> energy_mj(const device::BoundPlan& plan, const std::function<void()>& prepare, base::Seconds at_least) override;
  std::optional<tl::expected<device::Prediction, device::RunResult>> predict(const device::BoundPlan&) override {
    return std::nullopt;
  }

  CUstream stream() const { return stream_; }
  CUdeviceptr address(const device::Region& region) const;
  PreparedPlan prepare(const device::BoundPlan& plan) const;  // throws base::Error(bad_input)

  PreparedPlan prepare_nothing(std::size_t steps) const;      // launches that do nothing

  // Holds everything queued after it back until open_gate(), or for a second.
  void close_gate();
  // What the closed gate, a kernel that waits, saw meanwhile.
  struct GateReading {
    bool held = true;            // false: it opened by itself, so what was queued behind it ran while queueing
    double clock_hz = 0;         // of its multiprocessor; 0: it waited too briefly to tell
    double stall_ms = 0;         // the longest that it was kept from running
  };
  GateReading open_gate();
  void queue_flush();            // overwrites twice the L2 cache
  base::Seconds last_timed{-1e9};  // when the clocks were last known to be up
  void synchronize(const char* what);

 private:
  struct Memory {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
  };
  CUfunction function(const char* name) const;
  std::uint64_t digest_of(CUdeviceptr data, std::size_t bytes);
  void launch(CUfunction function, unsigned blocks, unsigned threads, void** arguments);
  void measure_memory_rate();
  void measure_tick();

  CUdevice device_;
  outcome::DeviceFacts facts_;
  Options options_;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  std::unique_ptr<LoadedModule> tools_;
  std::unique_ptr<Profiler> profiler_;             // opened by the first read_counters()
  CUfunction block_ = nullptr, digest_words_ = nullptr, digest_bytes_ = nullptr, fill64_ = nullptr;
  std::unordered_map<device::MemoryId, Memory> memory_;
  std::multimap<std::size_t, CUdeviceptr> free_;   // released, by size, to be handed out again
  std::size_t allocated_ = 0;
  device::MemoryId next_ = 1;
  CUdeviceptr sum_ = 0, flush_ = 0, gate_address_ = 0;
  std::size_t flush_bytes_ = 0;
  struct Gate {                                    // shared with the kernel that waits at it
    volatile std::uint32_t open, opened_by_itself;
    volatile std::uint64_t waited_ns, cycles, longest_gap_ns;
  };
  Gate* gate_ = nullptr;
  double tick_ms_ = 0;
};

struct EventDeleter {
  void operator()(CUevent event) const { driver().event_destroy(event); }
};
using Event = std::unique_ptr<std::remove_pointer_t<CUevent>, EventDeleter>;
Event make_event();
double elapsed_ms(const Event& from, const Event& to);

}  // namespace cudal1::cuda
