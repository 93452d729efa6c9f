// SPDX-License-Identifier: Apache-2.0
// Operators of `cudal1.load` as C++ kernels of PyTorch's dispatcher: a call that is like a prepared one checks its tensors, allocates and launches here,
// without Python. Any other call goes to the operator's general form, which is Python and prepares such a call. The library needs libc alone: PyTorch's and the
// driver's functions are handed over, and errors are thrown by PyTorch itself, through frames that have nothing to clean up.
#include "torch.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <utility>

namespace cudal1::launcher {

namespace {

constexpr std::size_t max_operators = 256;
constexpr std::uintptr_t alignment = 256;  // of every buffer that a variant was judged with

struct Operator {
  std::atomic<const Call*> calls{nullptr};  // the newest first
  char general[256] = {};                   // the operator to call where none fits
};

Torch torch;
Driver driver;
std::array<Operator, max_operators> operators;
std::atomic<std::size_t> known{0};

using Words = char[1024];
thread_local Words said;  // what the general form has said since it was called, if it failed

void say(Words& words, const char* one, const char* two = "", const char* three = "", const char* four = "") {
  words[0] = 0;
  for (const char* text : {one, two, three, four}) std::strncat(words, text, sizeof words - std::strlen(words) - 1);
}

enum class Result { done, failed, no_memory };

// The address of a tensor that is as the prepared call had it; 0 for one that is not. An empty tensor's address is 0, too, and takes the general form.
std::uintptr_t address_of(Tensor tensor, const Call& call, const Buffer& wanted) {
  std::int64_t dims = 0, *sizes = nullptr;
  std::int32_t dtype = 0, device = 0;
  bool contiguous = false;
  void* data = nullptr;
  if (torch.get_dim(tensor, &dims) || dims != wanted.dims || torch.get_sizes(tensor, &sizes)) return 0;
  for (std::int64_t i = 0; i < dims; ++i)
    if (sizes[i] != wanted.sizes[i]) return 0;
  if (torch.get_dtype(tensor, &dtype) || dtype != wanted.dtype || torch.get_device_index(tensor, &device) || device != call.device) return 0;
  if (torch.is_contiguous(tensor, &contiguous) || !contiguous || torch.get_data_ptr(tensor, &data)) return 0;
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  return address % alignment == 0 ? address : 0;
}

bool fits(const Call& call, const Value* stack, std::uint64_t inputs, std::uintptr_t* addresses) {
  if (inputs != static_cast<std::uint64_t>(call.tensors + call.keywords)) return false;
  for (std::int32_t k = 0; k < call.keywords; ++k)
    if (static_cast<std::int64_t>(stack[call.tensors + k]) != call.keyword[k]) return false;
  for (std::int32_t b = 0; b < call.buffers; ++b) {
    const Buffer& buffer = call.buffer[b];
    if (buffer.input < 0) continue;
    addresses[b] = address_of(reinterpret_cast<Tensor>(stack[buffer.input]), call, buffer);
    if (addresses[b] == 0) return false;
  }
  return true;
}

int launch(const Step& step, const std::uintptr_t* addresses, void* stream) {
  alignas(128) unsigned char maps[max_maps][128];
  std::uint64_t pointers[max_arguments];
  void* arguments[max_arguments];
  std::size_t mapped = 0;
  for (std::int32_t i = 0; i < step.arguments; ++i) {
    const Argument& argument = step.argument[i];
    if (argument.map != nullptr) {
      const TensorMap& map = *argument.map;
      arguments[i] = maps[mapped++];
      auto* const address = reinterpret_cast<void*>(addresses[map.buffer] + static_cast<std::uintptr_t>(map.offset));
      const int status = driver.encode(arguments[i], map.type, static_cast<std::uint32_t>(map.rank), address, map.extents, map.strides, map.box, map.steps, 0,
                                       map.swizzle, map.promotion, 0);
      if (status != 0) return status;
    } else if (argument.bytes != nullptr) {
      arguments[i] = const_cast<void*>(argument.bytes);
    } else {
      pointers[i] = addresses[argument.buffer] + static_cast<std::uint64_t>(argument.offset);
      arguments[i] = &pointers[i];
    }
  }
  Config config = step.config;
  config.stream = stream;
  return driver.launch(&config, step.function, arguments, nullptr);
}

// What the driver returns.
int run(const Step& step, const std::uintptr_t* addresses, void* stream) {
  switch (step.kind) {
    case Step::launch: return launch(step, addresses, stream);
    case Step::memset: return step.bytes ? driver.memset(addresses[step.buffer], static_cast<unsigned char>(step.value), step.bytes, stream) : 0;
    default: return step.address ? driver.copy(step.address, addresses[step.buffer], step.bytes, stream) : 0;
  }
}

// Where it has failed, `words` has the reason. The operator's outputs lie in `made`, of which nothing else is left.
Result perform(const Call& call, std::uintptr_t* addresses, Tensor* made, Words& words) {
  std::memset(made, 0, sizeof(Tensor) * static_cast<std::size_t>(call.buffers));
  for (std::int32_t b = 0; b < call.buffers; ++b) {
    const Buffer& buffer = call.buffer[b];
    if (buffer.input >= 0) continue;
    void* data = nullptr;
    if (torch.empty_strided(buffer.dims, buffer.sizes, buffer.strides, buffer.dtype, call.device_type, call.device, &made[b]) || torch.get_data_ptr(made[b], &data))
      return Result::no_memory;
    addresses[b] = reinterpret_cast<std::uintptr_t>(data);
  }
  void *stream = nullptr, *context = nullptr;
  if (torch.current_stream(call.device, &stream)) return say(words, "the current stream is not known"), Result::failed;
  driver.current_context(&context);
  const bool elsewhere = context != call.context;  // another GPU is the current one
  if (elsewhere) driver.push_context(call.context);
  const Step* failed = nullptr;
  int status = 0;
  for (std::int32_t s = 0; s < call.steps && failed == nullptr; ++s)
    if ((status = run(call.step[s], addresses, stream)) != 0) failed = &call.step[s];
  if (elsewhere) driver.pop_context(&context);
  if (failed == nullptr) return Result::done;
  const char* name = nullptr;
  driver.error_name(status, &name);
  return say(words, failed->kind == Step::launch ? "kernel " : "", failed->name, ": ", name ? name : "error"), Result::failed;
}

void discard(const Call& call, Tensor* made, bool outputs_too) {
  if (!outputs_too)
    for (std::int32_t i = 0; i < call.outputs; ++i) made[call.output[i]] = nullptr;
  for (std::int32_t b = 0; b < call.buffers; ++b)
    if (made[b] != nullptr) torch.delete_tensor_object(made[b]);
}

// The stack holds the inputs, which are ours to delete, and is left holding the outputs.
void call(const Operator& op, Value* stack, std::uint64_t inputs, std::uint64_t outputs) {
  std::uintptr_t addresses[max_buffers];
  Tensor made[max_buffers];
  Words words;
  for (const Call* one = op.calls.load(std::memory_order_acquire); one != nullptr; one = one->next) {
    if (!fits(*one, stack, inputs, addresses)) continue;
    const Result result = perform(*one, addresses, made, words);
    const bool done = result == Result::done;
    if (result == Result::no_memory) {  // the general form has it, too, or throws PyTorch's own error
      discard(*one, made, true);
      break;
    }
    for (std::int32_t t = 0; t < one->tensors; ++t) torch.delete_tensor_object(reinterpret_cast<Tensor>(stack[t]));
    for (std::int32_t i = 0; done && i < one->outputs; ++i) stack[i] = reinterpret_cast<Value>(made[one->output[i]]);
    discard(*one, made, !done);
    if (!done) torch.check(false, "call", "cudal1", 0, words);
    return;
  }
  said[0] = 0;
  const std::int32_t status = torch.call_dispatcher(op.general, "", stack);
  if (status == 0 && said[0] == 0) return;
  for (std::uint64_t i = 0; status == 0 && i < outputs; ++i) torch.delete_tensor_object(reinterpret_cast<Tensor>(stack[i]));
  say(words, said[0] ? said : "the operator failed");
  said[0] = 0;  // the general form of another operator, of whose call this one is a part, may catch the error
  torch.check(false, "call", "cudal1", 0, words);
}

// PyTorch calls a kernel without saying which operator it is called for, so each has an entry of its own.
template <std::size_t I>
void entry(Value* stack, std::uint64_t inputs, std::uint64_t outputs) {
  call(operators[I], stack, inputs, outputs);
}

template <std::size_t... I>
constexpr std::array<Kernel, sizeof...(I)> entries(std::index_sequence<I...>) {
  return {entry<I>...};
}

constexpr auto all_entries = entries(std::make_index_sequence<max_operators>());

}  // namespace

}  // namespace cudal1::launcher

using namespace cudal1::launcher;

#pragma GCC visibility push(default)
extern "C" {

// Once, before all others.
void cudal1_launcher_begin(const Torch* functions, const Driver* of_driver) { torch = *functions, driver = *of_driver; }

// Makes `space::name` for `key` ("CUDA") a kernel of this library; `general` is the operator that is called where no prepared call fits. Its number, or -1.
int cudal1_launcher_register(const char* space, const char* name, const char* key, const char* general) {
  const std::size_t number = known.fetch_add(1);
  if (number >= max_operators || std::strlen(general) >= sizeof Operator::general) return -1;
  std::strcpy(operators[number].general, general);
  void* library = nullptr;  // kept, as the operator is
  if (torch.library_init_impl(space, key, "cudal1", 0, &library) || torch.library_impl(library, name, all_entries[number])) return -1;
  return static_cast<int>(number);
}

// One thread at a time for one operator.
void cudal1_launcher_prepare(int number, Call* prepared) {
  Operator& op = operators[static_cast<std::size_t>(number)];
  prepared->next = op.calls.load(std::memory_order_relaxed);
  op.calls.store(prepared, std::memory_order_release);
}

// The general form, called by this thread, has failed: the call throws with these words.
void cudal1_launcher_failed(const char* words) { say(said, words[0] ? words : "the operator failed"); }
}
#pragma GCC visibility pop
