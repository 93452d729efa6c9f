// SPDX-License-Identifier: Apache-2.0
// The functions that the launcher calls: PyTorch's of its stable C interface (torch/csrc/inductor/aoti_torch/c/shim.h, torch/csrc/stable/library.h), and
// the driver's. Python hands over their addresses, so that this library needs neither to be built nor to be loaded.
#pragma once
#include "call.hpp"

namespace cudal1::launcher {

struct OpaqueTensor;
using Tensor = OpaqueTensor*;
using Value = std::uint64_t;  // StableIValue: a Tensor or a number
using Kernel = void (*)(Value* stack, std::uint64_t inputs, std::uint64_t outputs);

// Functions that return std::int32_t return 0, or an error whose text PyTorch has printed. In the order of launcher.py.
struct Torch {
  std::int32_t (*get_dim)(Tensor, std::int64_t*);
  std::int32_t (*get_sizes)(Tensor, std::int64_t**);
  std::int32_t (*get_dtype)(Tensor, std::int32_t*);
  std::int32_t (*get_device_index)(Tensor, std::int32_t*);
  std::int32_t (*is_contiguous)(Tensor, bool*);
  std::int32_t (*get_data_ptr)(Tensor, void**);
  std::int32_t (*delete_tensor_object)(Tensor);
  std::int32_t (*empty_strided)(std::int64_t, const std::int64_t*, const std::int64_t*, std::int32_t, std::int32_t, std::int32_t, Tensor*);
  std::int32_t (*call_dispatcher)(const char* name, const char* overload, Value* stack);
  void (*check)(bool condition, const char* function, const char* file, std::uint32_t line, const char* message);  // throws c10::Error
  std::int32_t (*library_init_impl)(const char* space, const char* key, const char* file, std::uint32_t line, void** library);
  std::int32_t (*library_impl)(void* library, const char* name, Kernel);
  std::int32_t (*current_stream)(std::int32_t device, void** stream);
};

// The driver's functions return CUresult.
struct Driver {
  int (*launch)(const Config*, void* function, void** arguments, void** extra);
  int (*memset)(std::uint64_t address, unsigned char value, std::size_t bytes, void* stream);
  int (*copy)(std::uint64_t to, std::uint64_t from, std::size_t bytes, void* stream);
  int (*encode)(void* map, int type, std::uint32_t rank, void* address, const std::uint64_t* extents, const std::uint64_t* strides, const std::uint32_t* box,
                const std::uint32_t* steps, int interleave, int swizzle, int promotion, int fill);
  int (*error_name)(int status, const char** name);
  int (*current_context)(void** context);
  int (*push_context)(void* context);
  int (*pop_context)(void** context);
};

}  // namespace cudal1::launcher
