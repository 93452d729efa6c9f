// SPDX-License-Identifier: Apache-2.0
#include "judge/input_file.hpp"

#include "base/error.hpp"

#include <fstream>

#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

namespace cudal1::judge {

InputFile::InputFile(const kernel::Plan& plan) : file_(memfd_create("cudal1", MFD_CLOEXEC)) {
  if (file_ >= 0 && ftruncate(file_, static_cast<off_t>(bytes(plan))) == 0) return;
  if (file_ >= 0) close(file_);
  throw base::Error(base::Fault::no_device, fmt::format("{} bytes of shared memory cannot be had", bytes(plan)));
}

InputFile::~InputFile() { close(file_); }

std::string InputFile::path() const { return fmt::format("/proc/{}/fd/{}", getpid(), file_); }

std::size_t InputFile::bytes(const kernel::Plan& plan) {
  std::size_t total = 0;
  for (const kernel::PlanBuffer& buffer : plan.buffers)
    if (buffer.role == kernel::PlanBuffer::Role::input) total += buffer.bytes;
  return total;
}

std::vector<reference::Bytes> InputFile::read(const std::string& path, const kernel::Plan& plan) {
  std::ifstream file(path, std::ios::binary);
  std::vector<reference::Bytes> inputs;
  for (const kernel::PlanBuffer& buffer : plan.buffers) {
    reference::Bytes& bytes = inputs.emplace_back();
    if (buffer.role != kernel::PlanBuffer::Role::input) continue;
    bytes.resize(buffer.bytes);
    if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())))
      throw base::Error(base::Fault::internal, fmt::format("the shared memory {} does not hold all inputs", path));
  }
  return inputs;
}

void InputFile::write(const std::string& path, const std::vector<reference::Bytes>& inputs) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  for (const reference::Bytes& bytes : inputs) file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw base::Error(base::Fault::internal, fmt::format("the shared memory {} cannot be written", path));
}

}  // namespace cudal1::judge
