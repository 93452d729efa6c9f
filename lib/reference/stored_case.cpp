// SPDX-License-Identifier: Apache-2.0
#include "reference/stored_case.hpp"

#include "base/error.hpp"

#include <fstream>

#include <fmt/format.h>

namespace cudal1::reference {

namespace {

using Role = kernel::Buffer::Role;

std::size_t elements(const std::vector<kernel::Expression>& shape, const task::Workload& workload) {
  const auto extents = kernel::extents(shape, workload.environment);
  if (!extents) throw base::Error(base::Fault::bad_task, base::render(extents.error()));
  std::size_t count = 1;
  for (const std::int64_t extent : *extents) count *= static_cast<std::size_t>(extent);
  return count;
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), file_(path, std::ios::binary) {}

  template <typename Element>
  std::vector<Element> take(std::size_t count) {
    std::vector<Element> values(count);
    const auto bytes = static_cast<std::streamsize>(count * sizeof(Element));
    if (!file_.read(reinterpret_cast<char*>(values.data()), bytes))
      throw base::Error(base::Fault::internal, fmt::format("the shared memory {} does not hold a whole case", path_));
    return values;
  }

 private:
  const std::string& path_;
  std::ifstream file_;
};

}  // namespace

ReadCase read(const StoredCase& stored, const task::Task& task, const task::Workload& workload) {
  Reader reader(stored.path);
  ReadCase result;
  for (const kernel::Buffer& buffer : task.file.buffers) {
    Bytes& bytes = result.inputs.emplace_back();
    if (buffer.role != Role::output)
      bytes = reader.take<std::byte>(elements(buffer.shape, workload) * tensor::size_of(buffer.dtype));
  }
  result.expected = outputs(task, workload);
  std::size_t next = 0;
  for (const kernel::Buffer& buffer : task.file.buffers) {
    if (buffer.role == Role::input) continue;
    Expected& expected = result.expected[next++];
    const std::size_t count = elements(buffer.shape, workload);
    expected.truth = reader.take<double>(count);
    expected.reference = reader.take<double>(count);
    expected.sigma = reader.take<double>(count);
    expected.sampled = true;
    expected.kernelbench = stored.kernelbench;
  }
  return result;
}

}  // namespace cudal1::reference
