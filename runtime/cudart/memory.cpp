// SPDX-License-Identifier: Apache-2.0
// Memory: it is mapped here and in cudal1 at the same addresses, so that copies are plain ones. Cudal1 is only told what
// was written, for the check of uninitialised memory.
#include "connection.hpp"
#include "errors.hpp"
#include "symbols.hpp"

#include <cstdlib>
#include <cstring>

using namespace cudal1::runtime;

namespace {

Connection& link() { return Connection::get(); }

cudaError_t allocate(void** pointer, std::size_t bytes, wire::Purpose purpose) {
  if (pointer == nullptr) return keep(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  const auto place = link().ask<wire::Place>(wire::Kind::allocate, wire::Allocate{bytes, purpose}, {});
  if (place.address == 0) return keep(cudaErrorMemoryAllocation);
  *pointer = reinterpret_cast<void*>(place.address);
  return keep(cudaSuccess);
}

cudaError_t release(void* pointer) {
  if (pointer == nullptr) return keep(cudaSuccess);
  const auto done = link().ask<wire::Number>(wire::Kind::release, wire::Release{reinterpret_cast<std::uint64_t>(pointer)}, {});
  return keep(done.value == 0 ? cudaSuccess : cudaErrorInvalidValue);
}

void said_written(const void* to, std::size_t bytes) {
  if (link().on_device(to)) link().tell(wire::Kind::written, wire::Written{reinterpret_cast<std::uint64_t>(to), bytes});
}

void said_copied(const void* from, const void* to, std::size_t bytes) {
  if (!link().on_device(to)) return;
  if (!link().on_device(from)) return said_written(to, bytes);
  link().tell(wire::Kind::copied, wire::Copied{reinterpret_cast<std::uint64_t>(from), reinterpret_cast<std::uint64_t>(to), bytes});
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return keep(cudaSuccess);
  if (to == nullptr || from == nullptr) return keep(cudaErrorInvalidValue);
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if ((to_device && !link().on_device(to)) || (from_device && !link().on_device(from))) return keep(cudaErrorInvalidValue);
  for (const void* place : {static_cast<const void*>(to), from}) {
    if (!link().on_device(place)) continue;
    const auto range = link().ask<wire::Place>(wire::Kind::symbol, wire::OfModule{-1}, {reinterpret_cast<const char*>(&place), sizeof place});
    const auto at = reinterpret_cast<std::uint64_t>(place);
    if (range.address == 0 || bytes > range.bytes - (at - range.address)) return keep(cudaErrorInvalidValue);
  }
  std::memmove(to, from, bytes);
  said_copied(from, to, bytes);
  return keep(cudaSuccess);
}

cudaError_t fill(void* pointer, int value, std::size_t bytes) {
  if (bytes == 0) return keep(cudaSuccess);
  if (!link().on_device(pointer)) return keep(cudaErrorInvalidValue);
  const auto range = link().ask<wire::Place>(wire::Kind::symbol, wire::OfModule{-1}, {reinterpret_cast<const char*>(&pointer), sizeof pointer});
  if (range.address == 0 || bytes > range.bytes - (reinterpret_cast<std::uint64_t>(pointer) - range.address)) return keep(cudaErrorInvalidValue);
  std::memset(pointer, value, bytes);
  said_written(pointer, bytes);
  return keep(cudaSuccess);
}

constexpr std::size_t pitch_step = 512;
std::size_t pitched(std::size_t width) { return (width + pitch_step - 1) / pitch_step * pitch_step; }

cudaError_t copy_2d(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  if (width > to_pitch || width > from_pitch) return keep(cudaErrorInvalidValue);
  for (std::size_t row = 0; row < height; ++row)
    if (const cudaError_t error = copy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width, kind)) return error;
  return keep(cudaSuccess);
}

}  // namespace

cudaError_t cudaMalloc(void** pointer, size_t bytes) { return allocate(pointer, bytes, wire::Purpose::device); }
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t) { return allocate(pointer, bytes, wire::Purpose::device); }
cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t, cudaStream_t) { return allocate(pointer, bytes, wire::Purpose::device); }
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned int) { return allocate(pointer, bytes, wire::Purpose::managed); }
cudaError_t cudaMallocHost(void** pointer, size_t bytes) { return allocate(pointer, bytes, wire::Purpose::host); }
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned int) { return allocate(pointer, bytes, wire::Purpose::host); }
cudaError_t cudaFree(void* pointer) { return release(pointer); }
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return release(pointer); }
cudaError_t cudaFreeHost(void* pointer) { return release(pointer); }
cudaError_t cudaHostRegister(void*, size_t, unsigned int) { return keep(cudaSuccess); }
cudaError_t cudaHostUnregister(void*) { return keep(cudaSuccess); }
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int) {
  if (!link().on_device(host)) return lacks("cudaHostGetDevicePointer of memory that cudaHostRegister registered");
  *device = host;
  return keep(cudaSuccess);
}
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  *pitch = pitched(width);
  return allocate(pointer, *pitch * height, wire::Purpose::device);
}
cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  pointer->pitch = pitched(extent.width);
  pointer->xsize = extent.width;
  pointer->ysize = extent.height;
  return allocate(&pointer->ptr, pointer->pitch * extent.height * extent.depth, wire::Purpose::device);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) { return copy(to, from, bytes, kind); }
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t) { return copy(to, from, bytes, kind); }
cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) { return copy(to, from, bytes, cudaMemcpyDeviceToDevice); }
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t) { return copy(to, from, bytes, cudaMemcpyDeviceToDevice); }
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind) {
  return copy_2d(to, to_pitch, from, from_pitch, width, height, kind);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t) {
  return copy_2d(to, to_pitch, from, from_pitch, width, height, kind);
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) {
  if (p->srcArray != nullptr || p->dstArray != nullptr) return lacks("cudaMemcpy3D with a CUDA array");
  const auto at = [](const cudaPitchedPtr& base, const cudaPos& pos, std::size_t slice) {
    return static_cast<char*>(base.ptr) + ((pos.z + slice) * base.ysize + pos.y) * base.pitch + pos.x;
  };
  for (std::size_t z = 0; z < p->extent.depth; ++z)
    if (const cudaError_t error = copy_2d(at(p->dstPtr, p->dstPos, z), p->dstPtr.pitch, at(p->srcPtr, p->srcPos, z), p->srcPtr.pitch, p->extent.width, p->extent.height, p->kind)) return error;
  return keep(cudaSuccess);
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t) { return cudaMemcpy3D(p); }

cudaError_t cudaMemset(void* pointer, int value, size_t bytes) { return fill(pointer, value, bytes); }
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t) { return fill(pointer, value, bytes); }
cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  for (std::size_t row = 0; row < height; ++row)
    if (const cudaError_t error = fill(static_cast<char*>(pointer) + row * pitch, value, width)) return error;
  return keep(cudaSuccess);
}
cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t) { return cudaMemset2D(pointer, pitch, value, width, height); }

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  const auto place = symbol_place(symbol);
  if (place.address == 0) return keep(cudaErrorInvalidSymbol);
  *pointer = reinterpret_cast<void*>(place.address);
  return keep(cudaSuccess);
}
cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  const auto place = symbol_place(symbol);
  if (place.address == 0) return keep(cudaErrorInvalidSymbol);
  *bytes = place.bytes;
  return keep(cudaSuccess);
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind) {
  const auto place = symbol_place(symbol);
  if (place.address == 0) return keep(cudaErrorInvalidSymbol);
  if (offset > place.bytes || bytes > place.bytes - offset) return keep(cudaErrorInvalidValue);
  return copy(reinterpret_cast<void*>(place.address + offset), from, bytes, cudaMemcpyDefault);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind) {
  const auto place = symbol_place(symbol);
  if (place.address == 0) return keep(cudaErrorInvalidSymbol);
  if (offset > place.bytes || bytes > place.bytes - offset) return keep(cudaErrorInvalidValue);
  return copy(to, reinterpret_cast<const void*>(place.address + offset), bytes, cudaMemcpyDefault);
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  *total = link().device().memory_bytes;
  *free = *total - *total / 16;
  return keep(cudaSuccess);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  *attributes = {};
  if (link().on_device(pointer)) {
    attributes->type = cudaMemoryTypeDevice;
    attributes->devicePointer = const_cast<void*>(pointer);
  } else {
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->hostPointer = const_cast<void*>(pointer);
  }
  return keep(cudaSuccess);
}

#if CUDART_VERSION >= 13000
cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned int, cudaStream_t) { return keep(cudaSuccess); }
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, cudaMemLocation) { return keep(cudaSuccess); }
#else
cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t) { return keep(cudaSuccess); }
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int) { return keep(cudaSuccess); }
#endif
