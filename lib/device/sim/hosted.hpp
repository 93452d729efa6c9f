// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/device.hpp"
#include "sim/sim.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::sim {

// The simulator as the device of another running program: memory at addresses that both map, modules as PTX, launches
// with the bytes of their parameters.
class HostedDevice {
 public:
  // Allocations lie in [first_address, first_address + address_bytes), which the caller has mapped at these addresses of
  // this process, and keeps.
  static constexpr std::uint64_t first_address = std::uint64_t{1} << 41, address_bytes = std::uint64_t{64} << 40;
  explicit HostedDevice(const Options& options);
  ~HostedDevice();
  HostedDevice(const HostedDevice&) = delete;
  HostedDevice& operator=(const HostedDevice&) = delete;

  const outcome::DeviceFacts& facts() const;

  struct Range {
    std::uint64_t address = 0;
    std::size_t bytes = 0;
    std::string name;
  };
  // `written`: the program writes it without telling, so every byte counts as written.
  std::uint64_t allocate(std::size_t bytes, const std::string& name, bool written);
  bool release(std::uint64_t address);                        // false: nothing begins there
  std::optional<Range> range(std::uint64_t address) const;    // that holds this address
  void mark_written(std::uint64_t address, std::size_t bytes);
  void copy_marks(std::uint64_t from, std::uint64_t to, std::size_t bytes);
  bool all_written(std::uint64_t address) const;              // of the allocation there

  // An allocation's bytes, and which of them count as written.
  struct Snapshot {
    std::vector<std::byte> bytes;
    std::vector<std::uint8_t> marks;                          // empty: all
  };
  Snapshot save(std::uint64_t address) const;
  void restore(std::uint64_t address, const Snapshot& snapshot);

  // A module by a number of its own; the error says what the simulator does not know. `file` is the source whose lines
  // findings name; empty: any.
  tl::expected<std::size_t, std::string> load(const std::string& ptx, const std::string& file);
  std::map<std::string, Range> variables(std::size_t module) const;  // by symbol

  struct Parameter {
    std::size_t offset = 0, bytes = 0;
  };
  struct Kernel {
    std::vector<Parameter> parameters;
    std::size_t shared_bytes = 0, local_bytes = 0;             // static
    unsigned max_threads = 1024;
  };
  tl::expected<Kernel, std::string> kernel(std::size_t module, const std::string& symbol);

  struct Request {
    std::size_t module = 0;
    std::string symbol;
    std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    std::uint32_t shared_bytes = 0;
    bool cooperative = false;
    std::vector<std::byte> parameters;                         // the whole block
    std::vector<std::uint64_t> watched;                        // allocations in which races are looked for, by address
  };
  device::RunResult run(const Request& request, const device::RunOptions& options);
  // A predicted time in milliseconds; 0 where there is none. It leaves memory changed.
  double predict(const Request& request);
  int resident_blocks_per_sm(std::size_t module, const std::string& symbol, std::uint32_t threads, std::size_t shared_bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cudal1::sim
