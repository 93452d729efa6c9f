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
  observed, observed_launch, observed_memory, observed_end, observed_total, observed_kept                        // from a GPU
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
  std::uint64_t base = 0, bytes = 0;        // 
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

// From a GPU. A process says this before its first launch. → Observed, then the program's name. ← Orders.
struct Observed {
  std::uint32_t version = wire::version;
  std::int32_t process = 0;
  char device[128] = {};
};
struct Orders {
  std::uint64_t first = 0, last = 0;        // launches to ask about, by number; 0: none by number
};

// What is to be done about a launch that is about to happen. → ObservedLaunch, `symbol_bytes` of the symbol,
// `parameters` Parameters, `parameter_bytes` with their values at these offsets, `targets` Targets. ← Decision.
struct ObservedLaunch {
  std::uint64_t number = 0;
  std::uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  std::uint32_t shared_bytes = 0, cooperative = 0, symbol_bytes = 0, parameters = 0, parameter_bytes = 0, targets = 0;
};
struct Target {
  std::uint64_t word = 0;                   // an address among the parameters
  std::uint64_t address = 0, bytes = 0;     // of the allocation that it lies in
};
enum class Ask : std::uint32_t { never, larger, always };
struct Decision {
  std::uint32_t keep = 0;                   // its memory, before and after
  std::uint32_t fresh = 0;                  // and what was kept so far is forgotten
  Ask again = Ask::never;                   // about further launches of this kernel
  std::uint32_t all = 0;                    // about every launch from now on
};
// For a launch that is kept: a piece of an allocation or of a variable, without reply. Then its bytes; a variable's symbol
// before them.
enum class Moment : std::uint32_t { before, between, after };
struct ObservedMemory {
  std::uint64_t address = 0, bytes = 0, at = 0;
  Moment moment = Moment::before;
  std::uint32_t symbol_bytes = 0;
};
// ← Number: 1 when the program may end. Then why it could not be kept, if so.
struct ObservedEnd {
  double ms = 0;
};
// All launches of a kernel, once or more often: what is new since. Then its symbol. No reply.
struct ObservedTotal {
  std::uint64_t launches = 0, timed = 0;
  double ms = 0;
};

// How long the program waited while memory of launches was kept; what is new since. No reply.
struct ObservedKept {
  double seconds = 0;
};

inline constexpr const char* times_variable = "CUDAL1_RECORD_TIMES";  // environment: 0 where nobody asks how long kernels take
inline constexpr const char* task_variable = "CUDAL1_RECORD_TASK";    // environment: 1 where memory may be kept
inline constexpr const char* cupti_variable = "CUDAL1_RECORD_CUPTI";  // environment: path of libcupti

// Kind::missing: Number, then what the program called and nobody here knows, or, from a GPU, a whole sentence. No reply.

}  // namespace cudal1::record::wire
