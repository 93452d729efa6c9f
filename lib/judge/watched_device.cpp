// SPDX-License-Identifier: Apache-2.0
#include "judge/watched_device.hpp"

#include "base/defence.hpp"
#include "compile/ptx_scan.hpp"
#include "device/lender.hpp"

#include <utility>

#include <fmt/format.h>

namespace cudal1::judge {

namespace {

class WatchedDevice final : public device::Device, public device::Lender {
 public:
  WatchedDevice(std::unique_ptr<device::Device> inner, std::function<void(bool)> tell, bool bare)
      : inner_(std::move(inner)), tell_(std::move(tell)), bare_(bare) {}

  const outcome::DeviceFacts& facts() const override { return inner_->facts(); }
  device::MemoryId allocate(std::size_t bytes, const std::string& name) override { return inner_->allocate(bytes, name); }
  void release(device::MemoryId memory) override { inner_->release(memory); }
  void write(const device::Region& region, std::span<const std::byte> bytes) override { inner_->write(region, bytes); }
  void read(const device::Region& region, std::span<std::byte> bytes) override { inner_->read(region, bytes); }
  void copy(const device::Region& from, const device::Region& to) override { inner_->copy(from, to); }
  void poison(const device::Region& region, std::uint32_t word) override {
    if (!bare_) inner_->poison(region, word);
  }
  std::optional<device::Lent> lend(const device::Region& region) override {
    auto* lender = dynamic_cast<device::Lender*>(inner_.get());
    return lender == nullptr ? std::nullopt : lender->lend(region);
  }
  bool checks_memory() const override { return bare_ || inner_->checks_memory(); }
  std::uint64_t digest(const device::Region& region) override { return inner_->digest(region); }
  std::vector<bool> written(const device::Region& region) override { return inner_->written(region); }
  double tick_ms() const override { return inner_->tick_ms(); }
  tl::expected<std::unique_ptr<device::Module>, device::RunResult> load(const outcome::Binary& binary) override {
    return inner_->load(binary);
  }

  device::RunResult run(const device::BoundPlan& plan, const device::RunOptions& options) override {
    const Execution execution(tell_);
    device::RunResult result = inner_->run(plan, options);
    if (result.status == device::RunResult::Status::ok) look_for_state(*plan.module, result);
    return result;
  }
  std::string changed_variable(const device::Module& module) override { return inner_->changed_variable(module); }
  std::optional<std::vector<device::Sample>> time(const device::TimingRequest& request) override {
    const Execution execution(tell_);
    device::TimingRequest told = request;
    if (request.inspect)
      told.inspect = [&](std::size_t arm, std::size_t set) {  // the host compares: no execution
        tell_(false);
        const bool go_on = request.inspect(arm, set);
        tell_(true);
        return go_on;
      };
    return inner_->time(told);
  }
  device::Counted read_counters(const device::BoundPlan& plan, const std::function<void()>& prepare) override {
    const Execution execution(tell_);
    return inner_->read_counters(plan, prepare);
  }
  std::optional<double> energy_mj(const device::BoundPlan& plan, const std::function<void()>& prepare, base::Seconds at_least) override {
    const Execution execution(tell_);
    return inner_->energy_mj(plan, prepare, at_least);
  }
  std::optional<tl::expected<device::Prediction, device::RunResult>> predict(const device::BoundPlan& plan) override {
    const Execution execution(tell_);
    auto prediction = inner_->predict(plan);
    if (!prediction || !*prediction) return prediction;
    device::RunResult result;
    look_for_state(*plan.module, result);
    if (result.status != device::RunResult::Status::ok) *prediction = tl::unexpected(std::move(result));
    return prediction;
  }

 private:
  struct Execution {
    explicit Execution(const std::function<void(bool)>& tell) : tell_(tell) { tell_(true); }
    ~Execution() { tell_(false); }
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;
    const std::function<void(bool)>& tell_;
  };

  // No launch may leave anything for the next one, however it came by the address.
  void look_for_state(const device::Module& module, device::RunResult& result) {
    if (bare_ || !base::defended(base::Defence::state)) return;
    const std::string changed = inner_->changed_variable(module);
    if (changed.empty()) return;
    result.status = device::RunResult::Status::stateful;
    result.message = changed_message(changed);
  }

  std::unique_ptr<device::Device> inner_;
  std::function<void(bool)> tell_;
  bool bare_;
};

}  // namespace

std::string changed_message(const std::string& symbol) {
  return fmt::format("the global variable {} was written, and would keep its value between launches; declare it with //@ scratch and pass it to the kernel",
                     compile::readable_symbol(symbol, true));
}

std::unique_ptr<device::Device> watch(std::unique_ptr<device::Device> device, std::function<void(bool)> tell, bool bare) {
  return std::make_unique<WatchedDevice>(std::move(device), std::move(tell), bare);
}

}  // namespace cudal1::judge
