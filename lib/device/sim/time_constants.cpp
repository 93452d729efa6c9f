// SPDX-License-Identifier: Apache-2.0
// Fitted to kernels timed on an H200: tests/figures/time_model/README.md has the data, the error, and the command that writes
// the numbers below.
#include "sim/predict.hpp"

namespace cudal1::sim {

const TimeConstants& fitted_constants() {
  static constexpr TimeConstants constants{
      .launch_seconds = 3e-6,
      .block_seconds = 0.61e-9,
      .dram_share = 0.9,
      .l2_read_bytes = 22,
      .store_line_cycles = 2.07,
      .store_sector_cycles = 1.88,
      .line_cycles = 1,
      .issue_share = 0.9,
      .pipe_share = 0.95,
      .tensor_share = 0.6,
      .latency_scale = 1,
      .dram_run_bytes = 100,
      .line_step_seconds = 1.7e-9,
      .step_seconds = 5e-12,
      .sharpness = 5,
      .latency_sharpness = 2,
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
      {"pipe_share", &TimeConstants::pipe_share},
      {"tensor_share", &TimeConstants::tensor_share},
      {"latency_scale", &TimeConstants::latency_scale},
      {"dram_run_bytes", &TimeConstants::dram_run_bytes},
      {"line_step_seconds", &TimeConstants::line_step_seconds},
      {"step_seconds", &TimeConstants::step_seconds},
      {"sharpness", &TimeConstants::sharpness},
      {"latency_sharpness", &TimeConstants::latency_sharpness},
  };
  return fields;
}

}  // namespace cudal1::sim
