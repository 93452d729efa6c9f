// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/counters.hpp"

#include <string_view>

namespace cudal1::outcome {

// Every counter with its name in JSON and in tables: one row for a new counter.
struct CounterField {
  std::string_view name;
  double Counters::* member;
};

inline constexpr CounterField counter_fields[] = {
    {"warp_instructions", &Counters::warp_instructions},
    {"lane_instructions", &Counters::lane_instructions},
    {"fp32_flops", &Counters::fp32_flops},
    {"fp64_flops", &Counters::fp64_flops},
    {"fp16_flops", &Counters::fp16_flops},
    {"tensor_flops", &Counters::tensor_flops},
    {"integer_instructions", &Counters::integer_instructions},
    {"special_instructions", &Counters::special_instructions},
    {"control_instructions", &Counters::control_instructions},
    {"global_load_requests", &Counters::global_load_requests},
    {"global_load_sectors", &Counters::global_load_sectors},
    {"global_load_bytes", &Counters::global_load_bytes},
    {"global_store_requests", &Counters::global_store_requests},
    {"global_store_sectors", &Counters::global_store_sectors},
    {"global_store_bytes", &Counters::global_store_bytes},
    {"dram_read_bytes", &Counters::dram_read_bytes},
    {"dram_write_bytes", &Counters::dram_write_bytes},
    {"l2_bytes", &Counters::l2_bytes},
    {"shared_requests", &Counters::shared_requests},
    {"shared_wavefronts", &Counters::shared_wavefronts},
    {"local_sectors", &Counters::local_sectors},
    {"atomic_requests", &Counters::atomic_requests},
    {"atomic_serial_steps", &Counters::atomic_serial_steps},
    {"divergent_branches", &Counters::divergent_branches},
    {"branches", &Counters::branches},
    {"barriers", &Counters::barriers},
    {"blocks", &Counters::blocks},
    {"threads", &Counters::threads},
};

}  // namespace cudal1::outcome
