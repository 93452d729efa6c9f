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

namespace cudal1::cli {

// Variants that a user brings along, judged without any run: `verify` and `bench`.
struct JudgedVariantsOptions {
  TaskOptions task;
  std::vector<std::string> variants;
  DeviceOptions device;
  WorkbenchOptions workbench;
  bool quick = false, counters = false, as_json = false;
};
void add_judged_variants_options(Arguments app, JudgedVariantsOptions& options);

// Judges each in turn and prints the table or the JSON. Throws base::Error for a broken task or a file that cannot be
// read, never for what is wrong with a variant.
struct JudgedVariants {
  std::vector<report::NamedJudgement> judgements;
  bool predicted = false;  // because no GPU was found
};
JudgedVariants judge_variants(const JudgedVariantsOptions& options, const Console& console);

}  // namespace cudal1::cli
