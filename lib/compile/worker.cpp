// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler.hpp"

#include "base/error.hpp"
#include "compile/messages.hpp"
#include "compile/nvrtc.hpp"
#include "compile/sandbox.hpp"

#include <memory>
#include <new>

#include <unistd.h>

namespace cudal1::compile {
namespace {

// NVRTC reads files and opens its builtins at its first compile only, so one is made before the door is shut.
Job warm_up(int architecture) {
  Job job;
  job.source = "template <int N> __global__ void warm(float* x) { __shared__ float s[N]; s[threadIdx.x] = expf(x[threadIdx.x]);"
               " __syncthreads(); x[threadIdx.x] = s[N - 1 - threadIdx.x]; printf(\"%f\", x[0]); }";
  job.name = "warm.cu";
  job.kernels = {"warm<32>"};
  job.options = {"-arch=sm_" + std::to_string(architecture), "-lineinfo", "--ptxas-options=-v", "-std=c++17"};
  return job;
}

std::unique_ptr<Nvrtc> prepare(const Setup& setup, Ready& ready) {
  try {
    auto nvrtc = std::make_unique<Nvrtc>(setup.library, setup.builtins);
    ready.major = nvrtc->major();
    ready.minor = nvrtc->minor();
    ready.architectures = nvrtc->architectures();
    const Product product = nvrtc->compile(warm_up(ready.architectures.empty() ? 80 : ready.architectures.front()));
    if (!product.compiled)
      throw base::Error(base::Fault::no_device, setup.library + " cannot compile anything: " + product.status + "\n" + product.log);
    if (::chdir("/") != 0) throw base::Error(base::Fault::internal, "cannot leave the folder");
    if (setup.sandbox) confine({setup.readable.begin(), setup.readable.end()});
    return nvrtc;
  } catch (const base::Error& error) {
    ready.fault = error.fault() == base::Fault::no_device ? "nvrtc" : "sandbox";
    ready.message = error.what();
    return nullptr;
  }
}

}  // namespace

int worker_main() {
  base::Channel channel = base::worker_channel();
  std::string message;
  if (channel.receive(message) != base::Channel::Status::message) return 0;
  Ready ready;
  const std::unique_ptr<Nvrtc> nvrtc = prepare(decode_setup(message), ready);
  if (!channel.send(encode(ready)) || !nvrtc) return 1;
  while (channel.receive(message) == base::Channel::Status::message) {
    Product product;
    try {
      product = nvrtc->compile(decode_job(message));
    } catch (const std::bad_alloc&) {
      product.out_of_memory = true;
      product.status = "out of memory";
    }
    if (!channel.send(encode(product))) break;
  }
  return 0;
}

}  // namespace cudal1::compile
