// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace cudal1::families {

// Of one kernel, at the first workload.
struct Work {
  double moved = 0;  // bytes
  double bytes = 0;  // as many would take as long at the memory's full rate: more than are moved where too few blocks ask for them
  double operations = 0;
};

inline Work sum(const std::vector<Work>& kernels) {
  Work result;
  for (const Work& each : kernels) result = {result.moved + each.moved, result.bytes + each.bytes, result.operations + each.operations};
  return result;
}

}  // namespace cudal1::families

// The numbers that expected times are made of, all of them, beside bytes, operations and launches, which families count. They order
// candidates; no figure is reported from them. Tables are those of tests/figures/README.md, measured on an H200; "estimate" means
// that no measurement has this number alone.
namespace cudal1::families::costs {

// Where nothing is known of a GPU: bytes and fp32 operations per second.
constexpr double memory_rate = 3e12, flops = 5e13;  // estimate: below an H200's
constexpr double flops_reached = 0.7;               // of the fp32 rate by products without tensor cores; estimate
constexpr double launch_seconds = 2e-6;             // what an empty measurement takes (table of examples)
constexpr double candidates_differ = 0.05;          // expected times closer than this are equal (table of choices: the first pick is within 0.3 %)

constexpr double seconds(const Work& kernel, double rate = memory_rate, double fp32 = flops) {
  const double memory = kernel.bytes / rate, arithmetic = kernel.operations / (flops_reached * fp32);
  return (memory > arithmetic ? memory : arithmetic) + launch_seconds;
}

// Tensor cores: time per operation, of that without them. Table of products, 4096³: 2.40 ms from halves and 1.01 ms rounded, where
// 0.7 of the fp32 rate would take 2.93 ms.
constexpr double product(bool exact) { return exact ? 0.8 : 0.3; }
// Of factors in 16 bits: twice the operations of TF32 in an instruction, half of the bytes. Estimate, not measured yet.
constexpr double half_product = 0.15;
// Of factors in float64, as fast as fp32 without tensor cores on GPUs for data centres. Estimate.
constexpr double double_product = 1;
// By warpgroups (wgmma), of halves: three products, or one. Table of products by warpgroups: 4096³ in 0.656 ms and 8192³ in 5.41 ms, what prepares
// them included; bf16 in 0.191 and 1.665 ms.
constexpr double warpgroup_product(bool exact) { return exact ? 0.2 : 0.07; }
// From where the right factor lies, in TF32: twice the instructions. Estimate.
constexpr double straight_product(bool exact) { return exact ? 0.4 : 0.14; }
constexpr double as_operations(double seconds) { return seconds * flops_reached * flops; }
// Convolutions that may be rounded to TF32. All of these are fitted to an H100 (table of convolutions in TF32 there); those as exact as float32 keep the estimates above.
constexpr double clock_rate = 1.7e9;
constexpr double straight_convolution(double clocks) { return as_operations(clocks / clock_rate); }  // of a multiprocessor, which straight_tile.cpp counts
constexpr double rounded_convolution = 0.05;    // by warpgroups, in the middle of their sums; what is read and written takes as long as without them
constexpr double rounded_share = 0.63;          // of the memory's rate, by the kernel that rounds inputs and lays their channels side by side
constexpr double preparation_seconds = 3e-6;    // of a kernel in front of a convolution, beside its launch: it begins with nothing in the caches
constexpr double tensor_core_bytes = 1.5;       // times as long as a copy of them, beside the operations, on tensor cores without warpgroups
constexpr double few_channels = 2;              // times as many operations on tensor cores where a step of the depth holds few of them
constexpr double strided_threads = 4;           // times as many without tensor cores, of a transposed convolution with a stride
// Results that are a stride apart: each store writes parts of sectors, and large results leave the L2 before the other parts come.
constexpr double strided_results(double bytes, bool straight) { return bytes / (bytes < 1.5e8 ? 8e11 : straight ? 3.5e11 : 4.5e11); }
constexpr double prepared_share = 1;  // of the memory's rate, by kernels that cut factors into halves
// Fitted to attention before its warps had 32 queries. Table of attention, 64 heads of 1024 × 64: 0.32 ms, which is 0.9.
constexpr double attention(bool exact) { return exact ? 0.5 : 0.3; }
constexpr double warpgroup_attention = 0.07;  // of 16-bit elements: 500 TFLOP/s; estimate
// Table of convolutions, with inputs that stand in shared memory once for all taps, and gathered for each tap: gathering costs the
// tensor cores more than the sums unless many channels share what is gathered.
constexpr double staged_convolution(bool exact) { return exact ? 0.7 : 0.4; }
constexpr double gathered_convolution(bool exact, bool many_channels) { return !exact ? 0.6 : many_channels ? 0.9 : 1.2; }
// A thread per result has one accumulator: every product waits for loads through the cache. Estimate.
constexpr double direct_convolution = 6;

// Share of the memory's rate that kernels reach. Fitted to lines/memory_h200.jsonl, all candidates of 39 lines.
constexpr double direct_pool = 0.5;           // inputs pass the cache once per tap
constexpr double unaligned_strips = 0.7;      // what lanes find in sectors of their own passes the L1 cache more often than once
constexpr double unaligned_by_columns = 0.9;  // the same pool with a thread per column: 0.090 ms for 0.129 ms
constexpr double columns_kept_singly = 0.8;   // kept columns read four bytes at a time: column_softmax, 0.171 ms for 0.132 ms
constexpr double few_bytes = 1e6;             // below them the number of blocks does not matter; estimate
constexpr double blocks_per_multiprocessor = 2;  // as many keep the memory busy; estimate

}  // namespace cudal1::families::costs
