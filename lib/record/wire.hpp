// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// What a recorded program and cudal1 say to each other over a socket, both on one machine and built together. Every
// message is a Header and `bytes` bytes: one of the structures below, then the text or bytes that its comment names.
namespace cudal1::record::wire {

inline constexpr std::uint32_t version = 1;
inline constexpr const char* socket_variable = "CUDAL1_RECORD_SOCKET";  // environment: path of the socket

enum class Kind : std::uint32_t {
  hello, module, symbol, allocate, release, written, copied, kernel, launch, occupancy, missing,  // to the simulator
  observed_hello, observed_launch, observed_memory, observed_time                                 // from a GPU
};

struct Header {
  Kind kind = Kind::hello;
  std::uint32_t bytes = 0;
};

// → the program's name. ← HelloReply with the descriptor of the device's memory, which both map at `base`.
struct Hello {
  std::uint32_t version = wire::version;
  std::int32_t process = 0;
};
struct HelloReply {
  std::uint64_t base = 0, bytes = 0;        // 0: no memory, a GPU is there
  char name[128] = {};                      // of the simulated GPU
  std::int32_t major = 0, minor = 0, sm_count = 0, clock_khz = 0, memory_clock_khz = 0, bus_bits = 0;
  std::uint64_t memory_bytes = 0, l2_bytes = 0, shared_per_sm = 0, shared_optin = 0;
};

// → Module, then the fat binary. ← Number: the module, or −1 and why not.
struct Module {
  std::uint64_t reserved = 0;
};
struct Number {
  std::int64_t value = 0;
};

// → OfModule, then a symbol. ← Place (address 0: there is none).
struct OfModule {
  std::int64_t module = 0;
};
struct Place {
  std::uint64_t address = 0, bytes = 0;
};

enum class Purpose : std::uint32_t { device, host, managed };
struct Allocate {                           // ← Place
  std::uint64_t bytes = 0;
  Purpose purpose = Purpose::device;
};
struct Release {                            // ← Number: 0, or −1 when nothing begins there
  std::uint64_t address = 0;
};
struct Written {                            // no reply
  std::uint64_t address = 0, bytes = 0;
};
struct Copied {                             // no reply
  std::uint64_t from = 0, to = 0, bytes = 0;
};

// → OfModule, then the kernel's symbol. ← Kernel, then its Parameters; where it is not found, the reason.
struct Kernel {
  std::uint64_t shared_bytes = 0, local_bytes = 0;
  std::uint32_t max_threads = 0, parameters = 0;
  std::uint32_t found = 0;
};
struct Parameter {
  std::uint32_t offset = 0, bytes = 0;
};

// → Launch, the symbol (`symbol_bytes`), the parameters. ← Launched, then what the kernel printed.
struct Launch {
  std::int64_t module = 0;
  std::uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  std::uint32_t shared_bytes = 0, cooperative = 0, symbol_bytes = 0;
};
struct Launched {
  std::int32_t error = 0;                   // a cudaError_t
  std::int32_t end = 0;                     // 1: what was asked for is recorded, the program may stop
};

// → Occupancy, then the symbol. ← Number: blocks that one multiprocessor holds.
struct Occupancy {
  std::int64_t module = 0;
  std::uint64_t shared_bytes = 0;
  std::uint32_t threads = 0;
};

// From a GPU, all without replies. ObservedHello, then the program's name.
struct ObservedHello {
  std::uint32_t version = wire::version;
  std::int32_t process = 0;
  char device[128] = {};
};
// Then `symbol_bytes` of the symbol, `parameters` Parameters, their bytes one after the other, `targets` Targets.
struct ObservedLaunch {
  std::uint64_t number = 0;
  std::uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  std::uint32_t shared_bytes = 0, cooperative = 0, symbol_bytes = 0, parameters = 0, targets = 0, kept = 0;
};
struct Target {
  std::uint32_t parameter = 0, offset = 0;   // in its bytes
  std::uint64_t address = 0, bytes = 0, at = 0;  // of the allocation, and where in it
};
// A piece of an allocation, before the first launch that is kept or after a launch.
struct ObservedMemory {
  std::uint64_t launch = 0, address = 0, bytes = 0, at = 0;
  std::uint32_t after = 0;
};
struct ObservedTime {
  std::uint64_t number = 0;
  double ms = 0;
};

// What the injected library is to keep, in the environment: names with commas, "7-9", "1".
inline constexpr const char* kernels_variable = "CUDAL1_RECORD_KERNELS";
inline constexpr const char* launches_variable = "CUDAL1_RECORD_LAUNCHES";
inline constexpr const char* stop_variable = "CUDAL1_RECORD_STOP";
inline constexpr const char* cupti_variable = "CUDAL1_RECORD_CUPTI";  // path of libcupti

// Kind::missing: only the name of what the program called and nobody here knows. No reply.

}  // namespace cudal1::record::wire
