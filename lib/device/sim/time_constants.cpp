// SPDX-License-Identifier: Apache-2.0
// Fitted to kernels timed on an H200: tests/figures/time_model/README.md has the data, the error, and the command that writes
// the numbers below.
#include "sim/predict.hpp"

namespace cudal1::sim {

const TimeConstants& fitted_constants() {
  static constexpr TimeConstants constants{
      .launch_seconds = 2.75e-06,
      .block_seconds = 5.56e-10,
      .dram_share = 0.864,
      .l2_read_bytes = 30.5,
      .store_line_cycles = 1.78,
      .store_sector_cycles = 2.12,
      .line_cycles = 1,
      .issue_share = 1.06,
      .integer_share = 1.33,
      .tensor_share = 0.7,
      .warpgroup_share = 0.85,
      .latency_scale = 1.13,
      .warp_start_cycles = 13.2,
      .dram_run_bytes = 46.5,
      .line_step_seconds = 1.33e-09,
      .step_seconds = 5e-12,
      .sharpness = 3.48,
      .latency_sharpness = 1.59,
  };
  return constants;
}

const std::vector<TimeConstantField>& time_constant_fields() {
  static const std::vector<TimeConstantField> fields{
      {"launch_seconds", &TimeConstants::launch_seconds},
      {"block_seconds", &TimeConstants::block_seconds},
      {"dram_share", &TimeConstants::dram_share},
      {"l2_read_bytes", &TimeConstants::l2_read_bytes},
      {"store_line_cycles", &TimeConstants::store_line_cycles},
      {"store_sector_cycles", &TimeConstants::store_sector_cycles},
      {"line_cycles", &TimeConstants::line_cycles},
      {"issue_share", &TimeConstants::issue_share},
      {"integer_share", &TimeConstants::integer_share},
      {"tensor_share", &TimeConstants::tensor_share},
      {"warpgroup_share", &TimeConstants::warpgroup_share},
      {"latency_scale", &TimeConstants::latency_scale},
      {"warp_start_cycles", &TimeConstants::warp_start_cycles},
      {"dram_run_bytes", &TimeConstants::dram_run_bytes},
      {"line_step_seconds", &TimeConstants::line_step_seconds},
      {"step_seconds", &TimeConstants::step_seconds},
      {"sharpness", &TimeConstants::sharpness},
      {"latency_sharpness", &TimeConstants::latency_sharpness},
  };
  return fields;
}

}  // namespace cudal1::sim
