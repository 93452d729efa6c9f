// SPDX-License-Identifier: Apache-2.0
// The rule of right for tests in Python, one line of JSON for each line of JSON: {} gives its numbers; "measured", a deviation that
// comparison.py measured, what is wrong with it; "got" with "truth", "sigma", "shape", "dtype" and "runs", what verify::compare finds.
#include "pytorch/measured.hpp"
#include "verify/compare.hpp"

#include <cstdio>
#include <iostream>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace cudal1;
using json = nlohmann::json;

namespace {

json compared(const json& asked) {
  reference::Expected expected;
  expected.dtype = tensor::parse_dtype(asked.at("dtype").get<std::string>()).value();
  expected.shape = asked.at("shape").get<std::vector<std::int64_t>>();
  expected.truth = asked.at("truth").get<std::vector<double>>();
  expected.sigma = asked.at("sigma").get<std::vector<double>>();
  expected.sampled = asked.at("runs") > 0;
  expected.few_runs = expected.sampled && asked.at("runs") < reference::enough_runs;
  const verify::Comparison found = verify::compare(expected, asked.at("got").get<std::vector<double>>(), std::nullopt);
  const reference::Deviation& deviation = found.deviation;
  return {{"why", found.why},
          {"deviation", {{"whole", deviation.whole}, {"count", deviation.count}, {"slice", deviation.slice}, {"slice_name", deviation.slice_name},
                         {"element", deviation.element}, {"bias", deviation.bias}, {"alike", deviation.alike}}}};
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const json asked = json::parse(line);
    json reply;
    if (asked.empty()) reply = json::parse(pytorch::rule_numbers());
    else if (asked.contains("measured")) {
      const reference::Deviation deviation = pytorch::measured_deviation(asked.at("measured").dump());
      reply = {{"why", reference::judge(deviation)}, {"count", deviation.count}};
    } else reply = compared(asked);
    fmt::print("{}\n", reply.dump());
    std::fflush(stdout);
  }
}
