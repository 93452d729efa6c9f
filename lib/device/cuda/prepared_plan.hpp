// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/device.hpp"

#include "cuda/driver.hpp"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cudal1::cuda {

struct LoadedModule final : device::Module {
  explicit LoadedModule(CUmodule handle) : module(handle) {}
  ~LoadedModule() override { driver().module_unload(module); }
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  CUmodule module;
  std::map<std::string, CUfunction> functions;  // by name expression
  CUfunction fill64 = nullptr;                  // the tool's own
  struct Variable {
    std::string symbol;
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    std::uint64_t digest = 0;                   // of what it held at first
  };
  std::vector<Variable> variables;
  std::vector<Variable> constants;              // which a plan may fill
};

// A plan bound to addresses, ready to be queued any number of times: initial values of scratch memory, launches and
// memsets in order.
class PreparedPlan {
 public:
  // `address` gives a region's device address. An error is one line: what a launch asks for and does not get.
  static tl::expected<PreparedPlan, std::string> make(const device::BoundPlan& plan,
                                                      const std::function<CUdeviceptr(const device::Region&)>& address);

  struct Failure {
    CUresult status = CUDA_SUCCESS;
    std::string step;    // "kernel scale_rows"
  };
  Failure enqueue(CUstream stream);
  std::size_t steps() const { return steps_.size(); }
  bool is_graph() const { return graph_ != nullptr; }
  std::string first_kernel() const;

  // From now on enqueue() launches all steps as one graph. An error is the driver's.
  CUresult make_graph(CUstream stream);

 private:
  struct Fill {
    CUdeviceptr address = 0;
    std::size_t count = 0;
    std::size_t width = 1;           // bytes of an element: 1, 2, 4 or 8
    std::uint64_t value = 0;
    CUfunction fill64 = nullptr;
  };
  struct Launch {
    std::string name;
    CUfunction function = nullptr;
    CUlaunchConfig config{};
    std::array<CUlaunchAttribute, 2> attributes{};
    struct alignas(64) Argument {
      std::array<std::byte, sizeof(CUtensorMap)> bytes{};
    };
    std::vector<Argument> arguments;
  };
  struct Copy {
    CUdeviceptr to = 0, from = 0;
    std::size_t bytes = 0;
  };
  struct Step {
    std::optional<Fill> fill;
    std::optional<Launch> launch;
    std::optional<Copy> copy;
  };
  struct GraphDeleter {
    void operator()(CUgraphExec graph) const { driver().graph_exec_destroy(graph); }
  };
  static CUresult queue(Step& step, CUstream stream);

  std::vector<Step> steps_;
  std::unique_ptr<std::remove_pointer_t<CUgraphExec>, GraphDeleter> graph_;
};

}  // namespace cudal1::cuda
