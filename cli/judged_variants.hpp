// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments.hpp"
#include "console.hpp"
#include "device_options.hpp"
#include "task_options.hpp"
#include "workbench.hpp"

#include "report/judgement_table.hpp"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace cudal1::cli {

// Variants that a user brings along, judged without any run: `verify` and `bench`.
struct JudgedVariantsOptions {
  TaskOptions task;
  std::vector<std::string> variants;
  DeviceOptions device;
  WorkbenchOptions workbench;
  bool quick = false, counters = false, as_json = false;
  bool untimed = false;   // of published answers, only whether they are right
};
void add_judged_variants_options(Arguments app, JudgedVariantsOptions& options);

// What one device says of them.
struct JudgedHere {
  DeviceChoice choice;
  std::string task;
  judge::ReferenceFacts reference;
  std::vector<report::NamedJudgement> judgements;
};
// Throws as judge_variants does; says what is to be said of the task and of the device, but no verdict.
JudgedHere judge_on(const DeviceChoice& choice, const JudgedVariantsOptions& options, const Console& console);
nlohmann::ordered_json to_json(const JudgedHere& judged);

// Judges each in turn and prints the table or the JSON. Throws base::Error for a broken task or a file that cannot be
// read, never for what is wrong with a variant.
struct JudgedVariants {
  std::vector<report::NamedJudgement> judgements;
  bool predicted = false;  // because no GPU was found
};
JudgedVariants judge_variants(const JudgedVariantsOptions& options, const Console& console);

}  // namespace cudal1::cli
