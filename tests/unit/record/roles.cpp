// SPDX-License-Identifier: Apache-2.0
// Roles of buffers as a GPU tells them, where garbage in a buffer would be dangerous.
#include "catch.hpp"
#include "record/task.hpp"
#include "verify/host_device.hpp"

#include <cstring>
#include <functional>

using namespace cudal1;
using Role = kernel::Buffer::Role;

namespace {

using Values = std::vector<float>;
using Body = std::function<void(std::vector<Values>&)>;

record::Bytes bytes_of(const Values& values) {
  record::Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// The roles of two buffers, x unchanged and y of this before and after.
std::vector<Role> roles(const Body& body, const Values& x, const Values& before) {
  std::vector<Values> values{x, before};
  body(values);
  const record::Memory first{1, bytes_of(x), bytes_of(values[0]), true}, second{2, bytes_of(before), bytes_of(values[1]), true};
  record::RecordedTask task;
  for (const auto* memory : {&first, &second}) task.buffers.push_back({memory == &first ? "x" : "y", tensor::Dtype::float32, Role::inout, memory->before.size(), memory == &first, memory});
  HostDevice device;
  HostDevice::Code code;
  code.kernel = [&](const std::vector<std::byte*>& buffers) {
    std::vector<Values> held{x, before};
    for (std::size_t i = 0; i < 2; ++i) std::memcpy(held[i].data(), buffers[i], held[i].size() * sizeof(float));
    body(held);
    for (std::size_t i = 0; i < 2; ++i) std::memcpy(buffers[i], held[i].data(), held[i].size() * sizeof(float));
  };
  const auto settled = record::settle_roles(task, device, code, {}, false);
  INFO((settled ? "" : settled.error()));
  REQUIRE(settled);
  return {task.buffers[0].role, task.buffers[1].role};
}

}  // namespace

TEST_CASE("what a kernel overwrites without a look is an output") {
  CHECK(roles([](auto& v) { for (std::size_t i = 0; i < 4; ++i) v[1][i] = 2 * v[0][i]; }, {1, 2, 3, 4}, {0, 0, 0, 0}) == std::vector{Role::input, Role::output});
}

TEST_CASE("what a kernel adds to is an inout") {
  CHECK(roles([](auto& v) { for (std::size_t i = 0; i < 4; ++i) v[1][i] += v[0][i]; }, {1, 2, 3, 4}, {5, 5, 5, 5}) == std::vector{Role::input, Role::inout});
}

TEST_CASE("zeros that a kernel leaves alone make an inout") {
  CHECK(roles([](auto& v) { for (std::size_t i = 0; i < 3; ++i) v[1][i] = 1e6F * v[0][i]; }, {1, 2, 3, 4}, {0, 0, 0, 0}) == std::vector{Role::input, Role::inout});
}

TEST_CASE("where a trial does not end, what is not settled is an inout and the device is left alone") {
  const Values x{1, 2, 3, 4}, before{1, 2, 3, 0}, after{1, 1, 1, 0};
  const record::Memory first{1, bytes_of(x), bytes_of(x), true}, second{2, bytes_of(before), bytes_of(after), true};
  record::RecordedTask task;
  task.buffers.push_back({"x", tensor::Dtype::float32, Role::inout, 16, true, &first});
  task.buffers.push_back({"list", tensor::Dtype::float32, Role::inout, 16, false, &second});
  HostDevice device;
  HostDevice::Code code;
  code.kernel = [&](const std::vector<std::byte*>& buffers) {
    Values list(4);
    std::memcpy(list.data(), buffers[1], 16);
    int steps = 0;
    for (float at = list[0]; at != 0 && !device.endless; at = list[static_cast<std::size_t>(at)]) device.endless = ++steps > 100;
    if (!device.endless) std::memcpy(buffers[1], after.data(), 16);
  };
  // After the launch the list leads into itself.
  REQUIRE(record::settle_roles(task, device, code, {}, false));
  CHECK(task.device_lost);
  CHECK(task.buffers[0].role == Role::input);
  CHECK(task.buffers[1].role == Role::inout);
  CHECK(device.allocations() == 3);
}

TEST_CASE("a list of zeros need not end") {
  const auto follow = [](auto& v) {
    int steps = 0;
    for (float at = v[1][0]; at != 3; at = v[1][static_cast<std::size_t>(at)]) REQUIRE(++steps < 100);
    v[1][0] = static_cast<float>(steps);
  };
  CHECK(roles(follow, {1, 2, 3, 4}, {1, 2, 3, 0}) == std::vector{Role::input, Role::inout});
}
