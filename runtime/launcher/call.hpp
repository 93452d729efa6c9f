// SPDX-License-Identifier: Apache-2.0
// A call of an operator, prepared: what its tensors must be like, what is allocated, and its steps. Filled by python/cudal1/launcher.py, whose
// structures have this layout. Prepared calls are never freed or changed.
#pragma once
#include <cstddef>
#include <cstdint>

namespace cudal1::launcher {

constexpr int max_dims = 8, max_buffers = 32, max_arguments = 64, max_maps = 8, max_keywords = 8;

struct Buffer {
  std::int64_t dims, sizes[max_dims], strides[max_dims];
  std::int32_t dtype;  // PyTorch's number
  std::int32_t input;  // which of the operator's tensors, or -1: allocated for this call
};

// What cuTensorMapEncodeTiled takes, with interleave none, steps of one and fill none.
struct TensorMap {
  std::uint64_t extents[5], strides[5];
  std::uint32_t box[5], steps[5];
  std::int64_t offset;
  std::int32_t buffer, type, rank, swizzle, promotion;
};

// One of three: bytes that never change, an address within a buffer, or a tensor map of one.
struct Argument {
  const void* bytes;
  const TensorMap* map;
  std::int64_t offset;
  std::int32_t buffer;
};

// CUlaunchConfig.
struct Config {
  std::uint32_t grid[3], block[3], shared_bytes;
  void* stream;
  void* attributes;
  std::uint32_t attribute_count;
};

struct Step {
  enum Kind : std::int32_t { launch, memset, copy };
  std::int32_t kind, buffer;       // memset and copy: of this buffer
  std::int32_t value, arguments;   // memset: the byte; launch: how many
  std::uint64_t bytes, address;    // memset and copy: how many; copy: to this address
  Config config;
  void* function;
  const Argument* argument;
  const char* name;                // of the kernel, for errors
};

struct Call {
  const Call* next;  // another call of the same operator, prepared before
  void* context;     // the CUDA context to which functions and addresses belong
  std::int32_t device_type, device, tensors, keywords, buffers, outputs, steps;
  std::int64_t keyword[max_keywords];
  std::int32_t output[max_buffers];
  const Buffer* buffer;
  const Step* step;
};

}  // namespace cudal1::launcher
