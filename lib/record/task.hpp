// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/device.hpp"
#include "kernel/file.hpp"
#include "record/device_source.hpp"
#include "record/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::record {

// A task made of what was kept: the kernel file and the arrays beside it.
struct RecordedTask {
  struct Buffer {
    std::string name;
    tensor::Dtype dtype = tensor::Dtype::float32;
    kernel::Buffer::Role role = kernel::Buffer::Role::inout;
    std::size_t bytes = 0;
    bool constant = true;                // every parameter that leads to it points to const
    const Memory* memory = nullptr;
    std::optional<kernel::Structure> structure = std::nullopt;   // of each element, instead of `dtype`
  };
  struct Scalar {
    std::string name, value;
    tensor::Dtype dtype = tensor::Dtype::int32;
  };
  std::string name;                      // of the task, and of its arrays' files
  std::string origin;                    // for a comment on top
  std::vector<Buffer> buffers;
  std::vector<Scalar> scalars;
  std::vector<std::string> launches, options, includes;
  std::string code;
  enum class Replayed { same, rounded, varying };   // byte for byte; up to rounding; and not twice the same
  Replayed replayed = Replayed::same;               // by settle_roles
  bool device_lost = false;                         // by settle_roles: a run of its kernel on the GPU has no end

  std::string text() const;
  std::map<std::string, std::string> arrays() const;   // by file name
};

bool all_zero(const Bytes& bytes);
// What one member of a buffer of structures holds, all elements' one after the other.
Bytes member_bytes(const kernel::Structure& structure, std::size_t member, std::span<const std::byte> bytes);

// What source and recording say together; which buffers are only read or only written is not settled yet. The error is
// one sentence: what such a task would need. `kept` must outlive the result.
tl::expected<RecordedTask, std::string> draft_task(const Kept& kept, const DeviceSource& source, const std::string& name);

// Settles the buffers' roles by running the task's kernel: what it leaves alone is an input, what it overwrites without
// a look an output. `checked`: the device survives accesses out of bounds. The error says in one sentence why the recorded
// result does not come out.
tl::expected<void, std::string> settle_roles(RecordedTask& task, device::Device& device, const device::Module& module, const kernel::Plan& plan, bool checked);

}  // namespace cudal1::record
