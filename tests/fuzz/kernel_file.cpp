// SPDX-License-Identifier: Apache-2.0
// Any text may come as a kernel file: parsing, printing, resolving, writing and drafting must end with a value.
#include "kernel/output.hpp"
#include "kernel/signature.hpp"
#include "kernel/workload.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

using namespace cudal1;
using namespace cudal1::kernel;

namespace {

[[noreturn]] void fail(const char* what, const std::string& a, const std::string& b) {
  fmt::print(stderr, "{}\n--- first\n{}\n--- second\n{}\n", what, a, b);
  std::abort();
}

void check_printing(const File& file) {
  const std::string printed = print(file);
  const auto again = parse(printed + code(file), "printed.cu");
  if (!again) fail("the printed file does not parse", printed + code(file), base::render(again.error()));
  if (print(*again) != printed) fail("printing is not stable", printed, print(*again));
}

void check_output(const File& file, const Environment& tunables) {
  const std::string output = output_file(file, file, tunables);
  const auto again = parse(output, "output.cu");
  if (!again) fail("the output does not parse", output, base::render(again.error()));
  if (!again->tunables.empty()) fail("the output has tunables", output, "");
}

void check_small(const File& file) {
  const auto members = family(file);
  if (!members || members->empty()) return;
  for (const Assignment& assignment : workloads(file)) {
    Environment small;
    for (const auto& [name, value] : assignment.values)
      if (value.names().empty()) small[name] = std::int64_t{3};
    auto values = environment(file, assignment, small);
    if (!values) continue;
    values->insert(members->front().begin(), members->front().end());
    const auto plan = resolve(file, *values);
    if (plan) static_cast<void>(plan->kernels());
  }
  if (validate_task(file).empty()) check_output(file, members->front());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 20'000) return 0;
  const std::string source(reinterpret_cast<const char*>(data), size);
  static_cast<void>(signatures(source));
  static_cast<void>(valid_host_text(source, "fuzz.cu"));
  static_cast<void>(draft(source, "fuzz.cu").text);
  const auto file = parse(source, "fuzz.cu");
  if (!file) {
    static_cast<void>(base::render(file.error()));
    return 0;
  }
  check_printing(*file);
  static_cast<void>(unlaunched(*file));
  static_cast<void>(bind(*file, *file));
  check_small(*file);
  return 0;
}
