// SPDX-License-Identifier: Apache-2.0
// Faults of asynchronous code and their twins, for tests/unit/sim/hopper.cpp; a marked line is where the finding belongs.
// hopper.ptx is made of it:
//   mkdir -p /tmp/h && cp lib/compile/headers/hopper*.cuh /tmp/h && nvcc -I/tmp/h -arch=compute_90a -lineinfo -ptx -o tests/ptx/hopper/hopper.ptx tests/ptx/hopper/hopper.cu
// and the folders in its .file lines are taken out.
// 128 threads, one block; x holds 2048 halves.
#include "hopper.cuh"
#include <cuda_fp16.h>
using namespace hopper;
#define KERNEL(name) extern "C" __global__ void name(const half* x, float* out)
#define T threadIdx.x
// Tiles without swizzle: A has 64 rows, B 8, both 16 of k.
struct Tiles {
  half a[64 * 16], b[8 * 16];
};
#define SHARED                              \
  __shared__ __align__(1024) Tiles s;       \
  __shared__ __align__(8) u64 barrier_word; \
  const u32 bar = shared_address(&barrier_word);

__device__ __forceinline__ void fill(Tiles& s, const half* x) {
  for (int i = T; i < 64 * 16; i += 128) s.a[i] = x[i];
  s.b[T] = x[1024 + T];
}
// A macro, so that a finding is at the line that uses it.
#define product(d, s, keep) \
  multiply_f16<0, 0>(d, plain_descriptor(shared_address(s.a), 128, 256), plain_descriptor(shared_address(s.b), 128, 256), keep)
__device__ __forceinline__ void result(const float (&d)[4], float* out) {
  for (int i = 0; i < 4; ++i) out[T * 4 + i] = d[i];
}

KERNEL(in_flight_read_accumulator_bad) {
  SHARED
  float d[4] = {};
  fill(s, x);
  fence_stores();
  __syncthreads();
  product_fence();
  product(d, s, 0);
  product_commit();
  out[T] = d[0];  // FAULT
  product_wait<0>();
  out[T + 128] = d[1];
}
KERNEL(in_flight_read_accumulator_ok) {
  SHARED
  float d[4] = {};
  fill(s, x);
  fence_stores();
  __syncthreads();
  product_fence();
  product(d, s, 0);
  product_commit();
  product_wait<0>();
  hold(d);
  out[T] = d[0];
  out[T + 128] = d[1];
}
KERNEL(in_flight_read_accumulator_group_bad) {
  SHARED
  float d[4] = {}, e[4] = {};
  fill(s, x);
  fence_stores();
  __syncthreads();
  product_fence();
  product(d, s, 0);
  product_commit();
  product(e, s, 0);
  product_commit();
  product_wait<1>();
  hold(d);
  out[T] = d[0];
  out[T + 128] = e[0];  // FAULT
  product_wait<0>();
}
KERNEL(in_flight_read_accumulator_group_ok) {
  SHARED
  float d[4] = {}, e[4] = {};
  fill(s, x);
  fence_stores();
  __syncthreads();
  product_fence();
  product(d, s, 0);
  product_commit();
  product(e, s, 0);
  product_commit();
  product_wait<1>();
  hold(d);
  out[T] = d[0];
  product_wait<0>();
  hold(e);
  out[T + 128] = e[0];
}
KERNEL(in_flight_read_scaled_between_bad) {
  SHARED
  float d[4] = {};
  fill(s, x);
  fence_stores();
  __syncthreads();
  product_fence();
  product(d, s, 0);
  for (int i = 0; i < 4; ++i) d[i] *= 2;  // FAULT
  product(d, s, 1);  // FAULT
  product_commit();
  product_wait<0>();
  hold(d);
  result(d, out);
}
KERNEL(in_flight_read_scaled_between_ok) {
  SHARED
  float d[4] = {};
  fill(s, x);
  fence_stores();
  __syncthreads();
  product_fence();
  product(d, s, 0);
  product_commit();
  product_wait<0>();
  hold(d);
  for (int i = 0; i < 4; ++i) d[i] *= 2;
  product_fence();
  product(d, s, 1);
  product_commit();
  product_wait<0>();
  hold(d);
  result(d, out);
}
KERNEL(in_flight_read_no_fence_bad) {
  SHARED
  float d[4] = {};
  fill(s, x);
  fence_stores();
  __syncthreads();
  product(d, s, 0);  // FAULT
  product_commit();
  product_wait<0>();
  hold(d);
  result(d, out);
}
KERNEL(in_flight_read_no_fence_ok) {
  SHARED
  float d[4] = {};
  fill(s, x);
  fence_stores();
  __syncthreads();
  product_fence();
  product(d, s, 0);
  product_commit();
  product_wait<0>();
  hold(d);
  result(d, out);
}
KERNEL(shared_race_overwritten_bad) {
  SHARED
  float d[4] = {};
  fill(s, x);
  fence_stores();
  __syncthreads();
  product_fence();
  product(d, s, 0);
  product_commit();
  __syncthreads();
  s.b[T] = x[T];  // FAULT
  product_wait<0>();
  hold(d);
  result(d, out);
}
KERNEL(shared_race_overwritten_ok) {
  SHARED
  float d[4] = {};
  fill(s, x);
  fence_stores();
  __syncthreads();
  product_fence();
  product(d, s, 0);
  product_commit();
  product_wait<0>();
  __syncthreads();
  s.b[T] = x[T];
  hold(d);
  result(d, out);
}
KERNEL(shared_race_copied_over_bad) {
  SHARED
  float d[4] = {};
  if (T == 0) barrier_init(bar, 1), barrier_init_done();
  fill(s, x);
  fence_stores();
  __syncthreads();
  product_fence();
  product(d, s, 0);
  product_commit();
  __syncthreads();
  if (T == 0) {
    arrive_expect(bar, 256);
    bulk_load(shared_address(s.b), x, 256, bar);  // FAULT
  }
  product_wait<0>();
  wait(bar, 0);
  hold(d);
  result(d, out);
}
KERNEL(shared_race_copied_over_ok) {
  SHARED
  float d[4] = {};
  if (T == 0) barrier_init(bar, 1), barrier_init_done();
  fill(s, x);
  fence_stores();
  __syncthreads();
  product_fence();
  product(d, s, 0);
  product_commit();
  product_wait<0>();
  __syncthreads();
  if (T == 0) {
    arrive_expect(bar, 256);
    bulk_load(shared_address(s.b), x, 256, bar);
  }
  wait(bar, 0);
  hold(d);
  result(d, out);
}
KERNEL(shared_race_no_proxy_fence_bad) {
  SHARED
  float d[4] = {};
  fill(s, x);
  __syncthreads();
  product_fence();
  product(d, s, 0);  // FAULT
  product_commit();
  product_wait<0>();
  hold(d);
  result(d, out);
}
KERNEL(shared_race_no_proxy_fence_ok) {
  SHARED
  float d[4] = {};
  fill(s, x);
  __syncthreads();
  fence_stores();
  __syncthreads();
  product_fence();
  product(d, s, 0);
  product_commit();
  product_wait<0>();
  hold(d);
  result(d, out);
}
KERNEL(shared_race_fence_too_early_bad) {
  SHARED
  float d[4] = {};
  fill(s, x);
  fence_stores();
  __syncthreads();
  s.b[T] = x[T];
  __syncthreads();
  product_fence();
  product(d, s, 0);  // FAULT
  product_commit();
  product_wait<0>();
  hold(d);
  result(d, out);
}
KERNEL(shared_race_fence_too_early_ok) {
  SHARED
  float d[4] = {};
  fill(s, x);
  __syncthreads();
  s.b[T] = x[T];
  fence_stores();
  __syncthreads();
  if (T < 32) fence_stores();
  __syncthreads();
  product_fence();
  product(d, s, 0);
  product_commit();
  product_wait<0>();
  hold(d);
  result(d, out);
}
KERNEL(shared_race_store_no_proxy_fence_bad) {
  __shared__ __align__(128) float s[128];
  s[T] = __half2float(x[T]);
  __syncthreads();
  if (T == 0) {
    bulk_store(out, shared_address(s), 512);  // FAULT
    bulk_commit();
    bulk_wait<0>();
  }
}
KERNEL(shared_race_store_no_proxy_fence_ok) {
  __shared__ __align__(128) float s[128];
  s[T] = __half2float(x[T]);
  fence_stores();
  __syncthreads();
  if (T == 0) {
    bulk_store(out, shared_address(s), 512);
    bulk_commit();
    bulk_wait<0>();
  }
}
KERNEL(shared_race_stored_too_early_bad) {
  __shared__ __align__(128) float s[128];
  s[T] = __half2float(x[T]);
  fence_stores();
  __syncthreads();
  if (T == 0) bulk_store(out, shared_address(s), 512), bulk_commit();
  __syncthreads();
  s[T] = 1;  // FAULT
  if (T == 0) bulk_wait_read<0>();
}
KERNEL(shared_race_stored_too_early_ok) {
  __shared__ __align__(128) float s[128];
  s[T] = __half2float(x[T]);
  fence_stores();
  __syncthreads();
  if (T == 0) bulk_store(out, shared_address(s), 512), bulk_commit(), bulk_wait_read<0>();
  __syncthreads();
  s[T] = 1;
  if (T == 0) bulk_wait<0>();
}
KERNEL(in_flight_read_product_before_copy_bad) {
  SHARED
  float d[4] = {};
  if (T == 0) barrier_init(bar, 1), barrier_init_done();
  __syncthreads();
  if (T == 0) {
    arrive_expect(bar, sizeof(Tiles));
    bulk_load(shared_address(&s), x, sizeof(Tiles), bar);
  }
  __syncthreads();
  product_fence();
  product(d, s, 0);  // FAULT
  product_commit();
  product_wait<0>();
  wait(bar, 0);
  hold(d);
  result(d, out);
}
KERNEL(in_flight_read_product_before_copy_ok) {
  SHARED
  float d[4] = {};
  if (T == 0) barrier_init(bar, 1), barrier_init_done();
  __syncthreads();
  if (T == 0) {
    arrive_expect(bar, sizeof(Tiles));
    bulk_load(shared_address(&s), x, sizeof(Tiles), bar);
  }
  wait(bar, 0);
  product_fence();
  product(d, s, 0);
  product_commit();
  product_wait<0>();
  hold(d);
  result(d, out);
}
KERNEL(in_flight_read_before_copy_bad) {
  SHARED
  if (T == 0) barrier_init(bar, 1), barrier_init_done();
  __syncthreads();
  if (T == 0) arrive_expect(bar, 256), bulk_load(shared_address(s.b), x, 256, bar);
  __syncthreads();
  out[T] = __half2float(s.b[T]);  // FAULT
  wait(bar, 0);
}
KERNEL(in_flight_read_before_copy_ok) {
  SHARED
  if (T == 0) barrier_init(bar, 1), barrier_init_done();
  __syncthreads();
  if (T == 0) arrive_expect(bar, 256), bulk_load(shared_address(s.b), x, 256, bar);
  wait(bar, 0);
  out[T] = __half2float(s.b[T]);
}
KERNEL(divergent_barrier_too_many_bytes_bad) {
  SHARED
  if (T == 0) barrier_init(bar, 1), barrier_init_done();
  __syncthreads();
  if (T == 0) arrive_expect(bar, 512), bulk_load(shared_address(s.b), x, 256, bar);
  wait(bar, 0);  // FAULT
  out[T] = __half2float(s.b[T]);
}
KERNEL(divergent_barrier_too_many_bytes_ok) {
  SHARED
  if (T == 0) barrier_init(bar, 1), barrier_init_done();
  __syncthreads();
  if (T == 0) arrive_expect(bar, 256), bulk_load(shared_address(s.b), x, 256, bar);
  wait(bar, 0);
  out[T] = __half2float(s.b[T]);
}
KERNEL(divergent_barrier_too_few_arrivals_bad) {
  SHARED
  if (T == 0) barrier_init(bar, 128), barrier_init_done();
  __syncthreads();
  if (T < 127) arrive(bar);
  wait(bar, 0);  // FAULT
  out[T] = 1;
}
KERNEL(divergent_barrier_too_few_arrivals_ok) {
  SHARED
  if (T == 0) barrier_init(bar, 128), barrier_init_done();
  __syncthreads();
  arrive(bar);
  wait(bar, 0);
  out[T] = 1;
}
KERNEL(in_flight_read_never_waited_bad) {
  SHARED
  if (T == 0) barrier_init(bar, 1), barrier_init_done();
  __syncthreads();
  if (T == 0) arrive_expect(bar, 256), bulk_load(shared_address(s.b), x, 256, bar);  // FAULT
  out[T] = 1;
}
KERNEL(in_flight_read_never_waited_ok) {
  SHARED
  if (T == 0) barrier_init(bar, 1), barrier_init_done();
  __syncthreads();
  if (T == 0) arrive_expect(bar, 256), bulk_load(shared_address(s.b), x, 256, bar), wait(bar, 0);
  out[T] = 1;
}
KERNEL(bad_warp_mask_three_warps_bad) {
  SHARED
  float d[4] = {};
  fill(s, x);
  fence_stores();
  __syncthreads();
  if (T < 96) {
    product_fence();
    product(d, s, 0);  // FAULT
    product_commit();
    product_wait<0>();
    hold(d);
  }
  result(d, out);
}
KERNEL(bad_warp_mask_three_warps_ok) {
  SHARED
  float d[4] = {};
  fill(s, x);
  fence_stores();
  __syncthreads();
  if (T < 128) {
    product_fence();
    product(d, s, 0);
    product_commit();
    product_wait<0>();
    hold(d);
  }
  result(d, out);
}
KERNEL(misaligned_bulk_bad) {
  SHARED
  if (T == 0) barrier_init(bar, 1), barrier_init_done();
  __syncthreads();
  if (T == 0) arrive_expect(bar, 256), bulk_load(shared_address(s.b), x + 4, 256, bar);  // FAULT
  out[T] = 1;
}
KERNEL(misaligned_bulk_ok) {
  SHARED
  if (T == 0) barrier_init(bar, 1), barrier_init_done();
  __syncthreads();
  if (T == 0) arrive_expect(bar, 256), bulk_load(shared_address(s.b), x + 8, 256, bar), wait(bar, 0);
  out[T] = 1;
}
KERNEL(out_of_bounds_bulk_bad) {
  SHARED
  if (T == 0) barrier_init(bar, 1), barrier_init_done();
  __syncthreads();
  if (T == 0) arrive_expect(bar, 256), bulk_load(shared_address(s.b), x + 2040, 256, bar);  // FAULT
  out[T] = 1;
}
KERNEL(out_of_bounds_bulk_ok) {
  SHARED
  if (T == 0) barrier_init(bar, 1), barrier_init_done();
  __syncthreads();
  if (T == 0) arrive_expect(bar, 256), bulk_load(shared_address(s.b), x + 1920, 256, bar), wait(bar, 0);
  out[T] = 1;
}
// One lane waits alone, while the others of its warp go ahead to what all of them run together.
KERNEL(bad_warp_mask_product_of_some_bad) {
  SHARED
  float d[4] = {};
  fill(s, x);
  fence_stores();
  __syncthreads();
  if (T % 32 > 0) {
    product_fence();
    product(d, s, 0);  // FAULT
    product_commit();
    product_wait<0>();
    hold(d);
  }
  result(d, out);
}
KERNEL(bad_warp_mask_product_of_some_ok) {
  SHARED
  float d[4] = {};
  if (T == 0) barrier_init(bar, 1), barrier_init_done();
  fill(s, x);
  fence_stores();
  __syncthreads();
  if (T == 96) arrive(bar);
  if (T == 0) wait(bar, 0);
  product_fence();
  product(d, s, 0);
  product_commit();
  product_wait<0>();
  hold(d);
  result(d, out);
}
KERNEL(bad_warp_mask_elected_of_some_bad) {
  if (T % 32 > 0) out[T] = elected();  // FAULT
}
KERNEL(bad_warp_mask_elected_of_some_ok) {
  SHARED
  if (T == 0) barrier_init(bar, 1), barrier_init_done();
  __syncthreads();
  if (T == 96) arrive(bar);
  if (T == 0) wait(bar, 0);
  out[T] = elected();
}
