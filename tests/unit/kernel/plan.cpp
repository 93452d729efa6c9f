// SPDX-License-Identifier: Apache-2.0
#include "kernel/plan.hpp"

#include "catch.hpp"
#include "example_files.hpp"
#include "kernel/workload.hpp"

#include <cstring>

using namespace cudal1;
using namespace cudal1::kernel;

namespace {

File parsed(const std::string& source) {
  const auto file = parse(source, "t.cu");
  if (!file) FAIL(base::render(file.error()));
  return *file;
}

Environment sizes_of(const File& file, const Assignment& assignment) {
  const auto values = environment(file, assignment);
  if (!values) FAIL(base::render(values.error()));
  return *values;
}

Plan resolved(const File& file, const Environment& values) {
  const auto plan = resolve(file, values);
  if (!plan) FAIL(base::render(plan.error()));
  return *plan;
}

template <typename T>
T scalar(const Argument& argument) {
  const auto& bytes = std::get<ScalarArgument>(argument);
  REQUIRE(bytes.size == sizeof(T));
  T value;
  std::memcpy(&value, bytes.bytes.data(), sizeof value);
  return value;
}

}  // namespace

TEST_CASE("the manual's task resolves at its workload and at its check sizes") {
  const File task = parsed(diag_matmul_task);
  CHECK(task.task == "diag_matmul");
  CHECK(task.torch->first == "C = torch.diag(A) @ B");
  const Plan plan = resolved(task, sizes_of(task, workloads(task).front()));
  REQUIRE(plan.buffers.size() == 3);
  CHECK(plan.buffers[1].shape == std::vector<std::int64_t>{4096, 4096});
  CHECK(plan.buffers[1].bytes == 4096u * 4096u * 4u);
  const auto& launch = std::get<Launch>(plan.steps.at(0));
  CHECK(launch.grid == Dim3{256, 256, 1});
  CHECK(launch.block == Dim3{16, 16, 1});
  CHECK(std::get<BufferArgument>(launch.arguments[2]).buffer == 2);
  CHECK(scalar<std::int32_t>(launch.arguments[3]) == 4096);

  const Plan small = resolved(task, sizes_of(task, checks(task).at(0)));
  CHECK(std::get<Launch>(small.steps.at(0)).grid == Dim3{5, 3, 1});
}

TEST_CASE("an answer binds to its task and is a family of three") {
  const File task = parsed(diag_matmul_task);
  const auto answer = bind(task, parsed(diag_matmul_answer));
  REQUIRE(answer);
  CHECK(answer->of->first == "diag_matmul.cu");
  const auto members = family(*answer);
  REQUIRE(members);
  REQUIRE(members->size() == 3);
  Environment values = sizes_of(*answer, workloads(*answer).front());
  values.insert(members->at(1).begin(), members->at(1).end());
  const Plan plan = resolved(*answer, values);
  const auto& launch = std::get<Launch>(plan.steps.at(0));
  CHECK(launch.grid == Dim3{16, 4096, 1});
  CHECK(launch.block == Dim3{256, 1, 1});
  CHECK(plan.kernels() == std::vector<std::string>{"scale_rows"});
  CHECK(tunable_prelude(members->at(1)) == "constexpr int BLOCK = 256;\n");
}
