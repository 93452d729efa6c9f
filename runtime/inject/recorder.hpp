// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries.hpp"
#include "socket.hpp"
#include "variables.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace cudal1::runtime {

// A launch as the driver is asked for it.
struct ObservedCall {
  CUfunction function = nullptr;
  std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1};
  unsigned shared_bytes = 0;
  bool cooperative = false, cluster = false;
  CUstream stream = nullptr;
  void** parameters = nullptr;
  void** extra = nullptr;
};

// What this process tells cudal1 about its launches. cudal1 decides which of them are kept; of those the memory is sent
// before and after. Of the others nothing is looked at but, now and then, the arguments.
class Recorder {
 public:
  static Recorder& get();

  void add_module(std::string_view cubin);
  void entered(const ObservedCall& call, const char* symbol);
  void returned(bool success);
  void graph();                               // one is launched: its kernels are seen in CUPTI's records alone
  void problem(const std::string& sentence);
  void finish();                              // the program's end

 private:
  struct Function {
    std::string symbol;
    std::vector<wire::Parameter> parameters;
    bool known = false;                       // the parameters are
    wire::Ask ask = wire::Ask::always;
    double largest = 0;                       // threads of a launch that was asked about
    std::uint64_t launches = 0;               // not told yet
  };

  bool connect();
  void time(bool fresh);
  bool read_parameters(Function& function, CUfunction handle);
  bool read_values(const Function& function, const ObservedCall& call, std::string& values);
  void begin(const Function& function, const ObservedCall& call, const std::vector<wire::Target>& targets, bool fresh);
  void send_memory(std::uint64_t address, std::uint64_t bytes, wire::Moment moment, std::string_view symbol);
  void send_all(wire::Moment moment);
  void send_totals(bool wait);

  std::recursive_mutex mutex_;                // a call to the driver may bring a module, which calls back
  Socket socket_;
  enum class Link { none, open, closed } link_ = Link::none;
  wire::Orders orders_;
  bool all_ = false, graphs_ = false;
  std::uint64_t launches_ = 0, fresh_ = 0;    // and the last one that was new: of another kernel, or larger
  std::unordered_map<CUfunction, Function> functions_;
  std::mutex modules_mutex_;                  // its own: modules come while the driver holds locks that calls of ours wait for
  Variables variables_;
  std::map<std::uint64_t, std::uint64_t> kept_;                               // address → bytes
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> kept_variables_;
  std::vector<char> staging_;
  std::chrono::steady_clock::time_point kept_since_;                         // of the launch under way
  double kept_seconds_ = 0;                   // not told yet
  std::string trouble_;                       // why the launch under way cannot be kept
  CUevent from_ = nullptr, to_ = nullptr;
  CUstream stream_ = nullptr;
};

}  // namespace cudal1::runtime
