// SPDX-License-Identifier: Apache-2.0
// One record for each GPU whose times are predicted, with the source of its numbers. FP32 and FP64 rates are those of the
// ordinary cores, tensor rates are dense.
#include "sim/sim.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib;

outcome::DeviceFacts record(const char* name, int major, int minor, int sms, double clock_hz, std::size_t memory_bytes, double memory_rate,
                            std::size_t l2, std::size_t shared_per_sm, int threads_per_sm, int blocks_per_sm, double fp32, double fp64,
                            double fp16_tensor, double tf32_tensor) {
  outcome::DeviceFacts facts;
  facts.name = name;
  facts.simulated = true;
  facts.major = major;
  facts.minor = minor;
  facts.sm_count = sms;
  facts.clock_hz = clock_hz;
  facts.memory_bytes = memory_bytes;
  facts.memory_bytes_per_second = memory_rate;
  facts.l2_bytes = l2;
  facts.shared_bytes_per_sm = shared_per_sm;
  facts.shared_bytes_per_block_optin = shared_per_sm - (major >= 8 ? kib : 0);  // one KiB per block is the system's, CUDA C++ Programming Guide
  facts.max_threads_per_sm = threads_per_sm;
  facts.max_blocks_per_sm = blocks_per_sm;
  facts.fp32_flops = fp32;
  facts.fp64_flops = fp64;
  facts.fp16_tensor_flops = fp16_tensor;
  facts.tf32_tensor_flops = tf32_tensor;
  return facts;
}

struct Gpu {
  const char* name;
  outcome::DeviceFacts facts;
};

const std::array<Gpu, 14>& records() {
  static const std::array<Gpu, 14> all{{
      // NVIDIA H100 Tensor Core GPU datasheet (SXM): 80 GB, 3.35 TB/s; FP64 34, FP32 67, TF32 989 and FP16 1,979 TFLOPS, the last
      // two with sparsity, so half of them here. H100 white paper: 132 SMs, 50 MB L2, 256 KB L1 per SM of which 228 KB shared,
      // 2,048 threads. 67 TFLOPS are 132 SMs of 128 lanes at 1,980 MHz, the maximum that the driver reports.
      {"H100", record("H100 SXM", 9, 0, 132, 1.98e9, std::size_t{80} << 30, 3.35e12, 50 * mib, 228 * kib, 2048, 32, 67e12, 34e12, 989e12, 495e12)},
      // NVIDIA H200 datasheet (SXM): 141 GB HBM3e, 4.8 TB/s, arithmetic as the H100's. L2 and clock as the driver reports them.
      {"H200", record("H200", 9, 0, 132, 1.98e9, std::size_t{141} << 30, 4.8e12, 60 * mib, 228 * kib, 2048, 32, 67e12, 34e12, 989e12, 495e12)},
      // NVIDIA A100 80GB datasheet (SXM): 2,039 GB/s; FP64 9.7, FP32 19.5, TF32 156, FP16 312 TFLOPS dense. NVIDIA A100 Tensor
      // Core GPU Architecture white paper: 108 SMs of 64 lanes, 1,410 MHz, 40 MB L2, 192 KB L1 per SM of which 164 KB shared.
      {"A100", record("A100 SXM 80GB", 8, 0, 108, 1.41e9, std::size_t{80} << 30, 2.039e12, 40 * mib, 164 * kib, 2048, 32, 19.5e12, 9.7e12, 312e12, 156e12)},
      // NVIDIA L40 datasheet: 48 GB GDDR6, 864 GB/s; FP32 90.5, TF32 90.5, FP16 181.05 TFLOPS dense; 18,176 cores, which are 142
      // SMs. NVIDIA Ada GPU Architecture white paper: 128 KB L1 per SM of which 100 KB shared, 96 MB L2 on the full AD102, FP64
      // at 1/64. 90.5 TFLOPS are 142 SMs of 128 lanes at 2,490 MHz. CUDA C++ Programming Guide, 8.9: 1,536 threads, 24 blocks.
      {"L40", record("L40", 8, 9, 142, 2.49e9, std::size_t{48} << 30, 864e9, 96 * mib, 100 * kib, 1536, 24, 90.5e12, 1.41e12, 181.05e12, 90.5e12)},
      // NVIDIA Ampere GA102 GPU Architecture white paper, GeForce RTX 3090: 82 SMs, 1,695 MHz, 24 GB GDDR6X at 936 GB/s, 35.6
      // TFLOPS FP32, 71 FP16 (FP32 sums) and 35.6 TF32 tensor TFLOPS dense, 6,144 KB L2, 128 KB L1 per SM of which 100 KB shared,
      // FP64 at 1/64. CUDA C++ Programming Guide, 8.6: 1,536 threads, 16 blocks.
      {"RTX3090", record("GeForce RTX 3090", 8, 6, 82, 1.695e9, std::size_t{24} << 30, 936e9, 6 * mib, 100 * kib, 1536, 16, 35.6e12, 0.556e12, 71e12, 35.6e12)},
      // NVIDIA H20, a Hopper chip sold under this data: 96 GB HBM3, 4.0 TB/s; FP64 1, FP32 44, TF32 74, FP16 148 TFLOPS dense; 78
      // SMs, 60 MB L2. NVIDIA publishes no clock; 1,980 MHz is the H100's, and the FP32 rate would need 2.2 GHz.
      {"H20", record("H20", 9, 0, 78, 1.98e9, std::size_t{96} << 30, 4.0e12, 60 * mib, 228 * kib, 2048, 32, 44e12, 1e12, 148e12, 74e12)},
      // NVIDIA A10 datasheet: 24 GB GDDR6, 600 GB/s; FP32 31.2, TF32 62.5, FP16 125 TFLOPS dense. GA102 white paper: 72 SMs of 128
      // lanes at 1,695 MHz are 31.2 TFLOPS, 6,144 KB L2, the rest as the RTX 3090's.
      {"A10", record("A10", 8, 6, 72, 1.695e9, std::size_t{24} << 30, 600e9, 6 * mib, 100 * kib, 1536, 16, 31.2e12, 0.488e12, 125e12, 62.5e12)},
      // NVIDIA RTX A6000 datasheet: 48 GB GDDR6, 768 GB/s; FP32 38.7 TFLOPS, FP16 309.7 TFLOPS with sparsity, so half of them here, and
      // TF32 half as many again. GA102 white paper: 84 SMs of 128 lanes at 1,800 MHz are 38.7 TFLOPS, the rest as the A10's.
      {"A6000", record("RTX A6000", 8, 6, 84, 1.8e9, std::size_t{48} << 30, 768e9, 6 * mib, 100 * kib, 1536, 16, 38.7e12, 0.605e12, 154.8e12, 77.4e12)},
      // NVIDIA L4 datasheet: 24 GB GDDR6, 300 GB/s; FP32 30.3, TF32 120 and FP16 242 TFLOPS with sparsity, so half of them here. Ada
      // white paper: 58 SMs of 128 lanes, 48 MB L2, FP64 at 1/64. 30.3 TFLOPS are 2,040 MHz.
      {"L4", record("L4", 8, 9, 58, 2.04e9, std::size_t{24} << 30, 300e9, 48 * mib, 100 * kib, 1536, 24, 30.3e12, 0.473e12, 121e12, 60e12)},
      // NVIDIA Ada GPU Architecture white paper, GeForce RTX 4090: 128 SMs, 2,520 MHz, 24 GB GDDR6X at 1,008 GB/s, 82.6 TFLOPS FP32,
      // 165.2 FP16 (FP32 sums) and 82.6 TF32 tensor TFLOPS dense, 72 MB L2, FP64 at 1/64.
      {"RTX4090", record("GeForce RTX 4090", 8, 9, 128, 2.52e9, std::size_t{24} << 30, 1008e9, 72 * mib, 100 * kib, 1536, 24, 82.6e12, 1.29e12, 165.2e12, 82.6e12)},
      // NVIDIA L40S datasheet: 48 GB GDDR6, 864 GB/s; FP32 91.6, TF32 183, FP16 362.05 TFLOPS dense; 18,176 cores, which are 142 SMs.
      // 91.6 TFLOPS are 142 SMs of 128 lanes at 2,520 MHz. The rest as the L40's.
      {"L40S", record("L40S", 8, 9, 142, 2.52e9, std::size_t{48} << 30, 864e9, 96 * mib, 100 * kib, 1536, 24, 91.6e12, 1.43e12, 362.05e12, 183e12)},
      // NVIDIA T4 datasheet: 16 GB GDDR6, 320 GB/s; FP32 8.1, FP16 65 TFLOPS, 2,560 cores. NVIDIA Turing GPU Architecture white paper: SMs
      // of 64 lanes, so 40; 1,590 MHz, 4,096 KB L2, 96 KB L1 per SM of which 64 KB shared, FP64 at 1/32, no TF32. CUDA C++ Programming
      // Guide, 7.5: 1,024 threads, 16 blocks.
      {"T4", record("T4", 7, 5, 40, 1.59e9, std::size_t{16} << 30, 320e9, 4 * mib, 64 * kib, 1024, 16, 8.1e12, 0.254e12, 65e12, 0)},
      // NVIDIA RTX Blackwell GPU Architecture white paper, GeForce RTX 5090: 170 SMs, 2,407 MHz, 32 GB GDDR7 at 1,792 GB/s, 104.8 TFLOPS
      // FP32, 209.5 FP16 (FP32 sums) and 104.8 TF32 tensor TFLOPS dense, 98,304 KB L2, 128 KB L1 per SM, FP64 at 1/64. CUDA C++
      // Programming Guide, 12.0: 100 KB shared, 1,536 threads, 24 blocks.
      {"RTX5090", record("GeForce RTX 5090", 12, 0, 170, 2.407e9, std::size_t{32} << 30, 1792e9, 96 * mib, 100 * kib, 1536, 24, 104.8e12, 1.64e12, 209.5e12, 104.8e12)},
      // NVIDIA DGX B200 and HGX B200 datasheets, for each of eight GPUs: 180 GB HBM3e, 8 TB/s; FP64 37, FP32 75, TF32 2,200 and FP16
      // 4,500 TFLOPS, the last two with sparsity, so half of them here. No datasheet has SMs, clock and L2: 148, 1,965 MHz and 126 MB are
      // assumed, without a source; 148 SMs of 128 lanes at 1,965 MHz would be 74.5 TFLOPS. CUDA C++ Programming Guide, 10.0: 228 KB shared, 2,048
      // threads, 32 blocks.
      {"B200", record("B200", 10, 0, 148, 1.965e9, std::size_t{180} << 30, 8e12, 126 * mib, 228 * kib, 2048, 32, 75e12, 37e12, 2250e12, 1100e12)},
  }};
  return all;
}

std::string plain(const std::string& name) {
  std::string result;
  for (const char c : name)
    if (c != ' ' && c != '_' && c != '-') result += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace

bool same_gpu_name(const std::string& a, const std::string& b) { return plain(a) == plain(b); }

bool fitted(const outcome::DeviceFacts& facts) { return facts.name == gpu("H200").name; }

// What was found is in tests/figures/time_model/README.md.
bool compared(const outcome::DeviceFacts& facts) { return fitted(facts) || facts.name == gpu("H100").name; }

std::vector<std::string> gpu_names() {
  std::vector<std::string> names;
  for (const Gpu& gpu : records()) names.emplace_back(gpu.name);
  return names;
}

const outcome::DeviceFacts& gpu(const std::string& name) {
  for (const Gpu& gpu : records())
    if (same_gpu_name(name, gpu.name) || same_gpu_name(name, gpu.facts.name)) return gpu.facts;
  std::string known;
  for (const std::string& one : gpu_names()) known += (known.empty() ? "" : ", ") + one;
  const auto nearest = base::nearest(plain(name), gpu_names());
  throw base::Error(base::Fault::usage, fmt::format("there is no GPU record \"{}\"{}; known: {}", name,
                                                    nearest ? fmt::format(" (did you mean {}?)", *nearest) : "", known));
}

}  // namespace cudal1::sim
