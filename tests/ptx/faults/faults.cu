// SPDX-License-Identifier: Apache-2.0
// Faulty kernels, one fault each, beside their healthy twins; faults.ptx is NVRTC's output (--gpu-architecture=compute_90
// --generate-line-info). A kernel's name begins with the kind of finding; the line that must be named bears the mark FAULT.
// Every kernel runs as <<<2, 64, 1024>>> with n = 128: a holds n floats, b the numbers 0 … n - 1, c n floats that nobody wrote.
#include <cuda_pipeline.h>
#define KERNEL(name) extern "C" __global__ void name(float* a, int* b, float* c, int n)
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define T ((int)threadIdx.x)

// ---- out of bounds ----
KERNEL(out_of_bounds_guard_bad) { if (I <= n) c[I + (I == n - 1)] = a[I]; }  // FAULT
KERNEL(out_of_bounds_guard_ok) { if (I < n) c[I] = a[I]; }
KERNEL(out_of_bounds_load_bad) { c[I] = a[I + 1]; }  // FAULT
KERNEL(out_of_bounds_load_ok) { c[I] = a[I + 1 < n ? I + 1 : 0]; }
KERNEL(out_of_bounds_before_bad) { c[I] = a[(int)I - 1]; }  // FAULT
KERNEL(out_of_bounds_before_ok) { c[I] = I ? a[I - 1] : 0.0f; }
KERNEL(out_of_bounds_stride_bad) { c[I * 2] = a[I]; }  // FAULT
KERNEL(out_of_bounds_stride_ok) { if (I * 2 < n) c[I * 2] = a[I]; }
KERNEL(out_of_bounds_vector_bad) { ((float4*)c)[I] = make_float4(1, 2, 3, 4); }  // FAULT
KERNEL(out_of_bounds_vector_ok) { if (I * 4 < n) ((float4*)c)[I] = make_float4(1, 2, 3, 4); }
KERNEL(out_of_bounds_index_bad) { c[I] = a[b[I] * 3]; }  // FAULT
KERNEL(out_of_bounds_index_ok) { c[I] = a[b[I] * 3 % n]; }
KERNEL(out_of_bounds_overflow_bad) { int i = (int)I * 67108864; c[I] = a[i & 0x7fffffff]; }  // FAULT
KERNEL(out_of_bounds_overflow_ok) { int i = (int)I * 67108864; c[I] = a[i & 127]; }
KERNEL(out_of_bounds_null_bad) { float* p = (float*)(size_t)(b[0] * 64); c[I] = p[T]; }  // FAULT
KERNEL(out_of_bounds_null_ok) { float* p = a + (size_t)(b[0] * 64); c[I] = p[T]; }
KERNEL(out_of_bounds_atomic_bad) { atomicAdd(&b[I + 100], 1); }  // FAULT
KERNEL(out_of_bounds_atomic_ok) { atomicAdd(&b[I], 1); }
KERNEL(out_of_bounds_shared_bad) {
  __shared__ float s[64];
  extern __shared__ float d[];
  s[T] = a[I];
  __syncthreads();
  c[I] = s[T] + d[T + 1000 + b[T]];  // FAULT
}
KERNEL(out_of_bounds_shared_ok) {
  __shared__ float s[64];
  extern __shared__ float d[];
  s[T] = a[I];
  d[T] = 1;
  __syncthreads();
  c[I] = s[T] + d[T];
}
KERNEL(out_of_bounds_shared_store_bad) {
  extern __shared__ float d[];
  d[T * 8] = a[I];  // FAULT
  c[I] = 0;
}
KERNEL(out_of_bounds_shared_store_ok) {
  extern __shared__ float d[];
  d[T * 4] = a[I];
  c[I] = 0;
}
KERNEL(out_of_bounds_local_bad) {
  float x[8];
  for (int k = 0; k < 8; ++k) x[b[k] & 7] = a[k];
  c[I] = x[b[T] + 1000];  // FAULT
}
KERNEL(out_of_bounds_local_ok) {
  float x[8];
  for (int k = 0; k < 8; ++k) x[b[k] & 7] = a[k];
  c[I] = x[b[T] & 7];
}
KERNEL(out_of_bounds_bytes_bad) { ((unsigned char*)c)[n * 4 - 1 + T] = 1; }  // FAULT
KERNEL(out_of_bounds_bytes_ok) { ((unsigned char*)c)[n * 4 - 64 + T] = 1; }

// ---- misaligned ----
KERNEL(misaligned_vector_bad) { float4 v = *(float4*)(a + 1 + (T & 3)); c[I] = v.x + v.y + v.z + v.w; }  // FAULT
KERNEL(misaligned_vector_ok) { float4 v = *(float4*)(a + 4 * (T & 3)); c[I] = v.x; }
KERNEL(misaligned_word_bad) { c[I] = *(float*)((char*)a + T + 1); }  // FAULT
KERNEL(misaligned_word_ok) { c[I] = *(float*)((char*)a + 4 * T); }
KERNEL(misaligned_store_bad) { *(double*)(c + 1 + (T & 62)) = 1.0; }  // FAULT
KERNEL(misaligned_store_ok) { *(double*)(c + 64 * blockIdx.x + (T & 62)) = 1.0; }
KERNEL(misaligned_shared_bad) {
  extern __shared__ float d[];
  d[T] = a[I];
  __syncthreads();
  float2 v = *(float2*)(d + 2 * (T & 15) + 1);  // FAULT
  c[I] = v.x + v.y;
}
KERNEL(misaligned_shared_ok) {
  extern __shared__ float d[];
  d[T] = a[I];
  __syncthreads();
  float2 v = *(float2*)(d + 2 * (T & 15));
  c[I] = v.x + v.y;
}
KERNEL(misaligned_half_bad) { c[I] = *(unsigned short*)((char*)a + 2 * T + 1); }  // FAULT
KERNEL(misaligned_half_ok) { c[I] = *(unsigned short*)((char*)a + 2 * T); }

// ---- uninitialised ----
KERNEL(uninitialised_output_bad) { c[I] = c[I] + 1; }  // FAULT
KERNEL(uninitialised_output_ok) { c[I] = 0; c[I] = c[I] + 1; }
KERNEL(uninitialised_shared_bad) {
  __shared__ float s[64];
  if (T != 5) s[T] = a[I];
  __syncthreads();
  c[I] = s[63 - T];  // FAULT
}
KERNEL(uninitialised_shared_ok) {
  __shared__ float s[64];
  s[T] = a[I];
  __syncthreads();
  c[I] = s[63 - T];
}
KERNEL(uninitialised_dynamic_bad) { extern __shared__ float d[]; c[I] = d[T]; }  // FAULT
KERNEL(uninitialised_dynamic_ok) { extern __shared__ float d[]; d[T] = 1; c[I] = d[T]; }
KERNEL(uninitialised_atomic_bad) { atomicAdd(&c[T], 1.0f); }  // FAULT
KERNEL(uninitialised_atomic_ok) { atomicAdd(&a[T], 1.0f); }
KERNEL(uninitialised_local_bad) {
  float x[16];
  for (int k = 0; k < 8; ++k) x[b[k]] = a[k];
  c[I] = x[b[8 + (T & 7)]];  // FAULT
}
KERNEL(uninitialised_local_ok) {
  float x[16];
  for (int k = 0; k < 16; ++k) x[b[k]] = a[k];
  c[I] = x[b[8 + (T & 7)]];
}
KERNEL(uninitialised_half_bad) { ((short*)c)[2 * I] = 1; a[I] = ((int*)c)[I]; }  // FAULT
KERNEL(uninitialised_half_ok) { ((short*)c)[2 * I] = 1; ((short*)c)[2 * I + 1] = 1; a[I] = ((int*)c)[I]; }
KERNEL(uninitialised_vector_bad) { if (T < 3) c[T] = 1; __syncthreads(); float4 v = *(float4*)c; a[I] = v.w; }  // FAULT
KERNEL(uninitialised_vector_ok) { float4 v = *(float4*)a; c[I] = v.w; }

// ---- races in shared memory ----
KERNEL(shared_race_missing_barrier_bad) {
  __shared__ float s[64];
  s[T] = a[I];
  c[I] = s[63 - T];  // FAULT
}
KERNEL(shared_race_missing_barrier_ok) {
  __shared__ float s[64];
  s[T] = a[I];
  __syncthreads();
  c[I] = s[63 - T];
}
KERNEL(shared_race_overwrite_bad) {
  __shared__ float s[64];
  s[T] = a[I];
  __syncthreads();
  float v = s[63 - T];
  s[T] = v;  // FAULT
  c[I] = v;
}
KERNEL(shared_race_overwrite_ok) {
  __shared__ float s[64];
  s[T] = a[I];
  __syncthreads();
  float v = s[63 - T];
  __syncthreads();
  s[T] = v;
  c[I] = v;
}
KERNEL(shared_race_same_word_bad) {
  __shared__ float s[1];
  s[0] = a[I];  // FAULT
  __syncthreads();
  c[I] = s[0];
}
KERNEL(shared_race_same_word_ok) {
  __shared__ float s[1];
  if (T == 0) s[0] = a[I];
  __syncthreads();
  c[I] = s[0];
}
KERNEL(shared_race_reduction_bad) {
  __shared__ float s[64];
  s[T] = a[I];
  __syncthreads();
  if (T < 32) s[T] += s[T + 32];
  if (T == 40) c[I] = s[0];  // FAULT
}
KERNEL(shared_race_reduction_ok) {
  __shared__ float s[64];
  s[T] = a[I];
  __syncthreads();
  if (T < 32) s[T] += s[T + 32];
  __syncthreads();
  if (T == 40) c[I] = s[0];
}
KERNEL(shared_race_tile_bad) {
  __shared__ float s[64];
  float sum = 0;
  for (int t = 0; t < 2; ++t) {
    s[T] = a[t * 64 + T];  // FAULT
    __syncthreads();
    for (int k = 0; k < 64; ++k) sum += s[k];
  }
  c[I] = sum;
}
KERNEL(shared_race_tile_ok) {
  __shared__ float s[64];
  float sum = 0;
  for (int t = 0; t < 2; ++t) {
    s[T] = a[t * 64 + T];
    __syncthreads();
    for (int k = 0; k < 64; ++k) sum += s[k];
    __syncthreads();
  }
  c[I] = sum;
}
KERNEL(shared_race_counter_bad) {
  __shared__ int s;
  if (T == 0) s = 0;
  __syncthreads();
  s = s + 1;  // FAULT
  __syncthreads();
  c[I] = s;
}
KERNEL(shared_race_counter_ok) {
  __shared__ int s;
  if (T == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, 1);
  __syncthreads();
  c[I] = s;
}
KERNEL(shared_race_diverged_bad) {
  __shared__ volatile float s[64];
  s[T] = 0;
  __syncthreads();
  if (T & 1) s[T] = a[I];
  else c[I] = s[T + 1];  // FAULT
}
KERNEL(shared_race_diverged_ok) {
  __shared__ volatile float s[64];
  s[T] = 0;
  __syncthreads();
  if (T & 1) s[T] = a[I];
  else c[I] = s[T];
}
KERNEL(shared_race_bytes_bad) {
  __shared__ unsigned char s[64];
  s[T] = b[T];
  c[I] = s[63 - T];  // FAULT
}
KERNEL(shared_race_bytes_ok) {
  __shared__ unsigned char s[64];
  s[T] = b[T];
  __syncthreads();
  c[I] = s[63 - T];
}

KERNEL(shared_race_read_by_sides_bad) {
  __shared__ volatile float s[64];
  s[T] = a[I];
  __syncwarp();
  if (T & 1) c[I] = s[T ^ 1];
  else c[I] = s[T] + 1;
  __syncthreads();
  if (T & 1) s[T ^ 1] = 2;
  else c[I] = s[T];  // FAULT
}
KERNEL(shared_race_read_by_sides_ok) {
  __shared__ volatile float s[64];
  s[T] = a[I];
  __syncwarp();
  if (T & 1) c[I] = s[T ^ 1];
  else c[I] = s[T] + 1;
  __syncwarp();
  s[T] = 2;
}

// ---- races between blocks ----
KERNEL(global_race_same_word_bad) { if (T == 0) c[0] = a[I]; }  // FAULT
KERNEL(global_race_same_word_ok) { if (T == 0) c[blockIdx.x] = a[I]; }
KERNEL(global_race_neighbour_bad) { c[I] = a[I]; __syncthreads(); if (I > 0) a[I] = c[I - 1]; }  // FAULT
KERNEL(global_race_neighbour_ok) { c[I] = a[I]; __syncthreads(); if (T > 0) a[I] = c[I - 1]; }
KERNEL(global_race_in_place_bad) { float v = a[(I + 64) % n]; a[I] = v; }  // FAULT
KERNEL(global_race_in_place_ok) { float v = a[(I + 64) % n]; c[I] = v; }
KERNEL(global_race_count_bad) { if (T == 0) b[0] = b[0] + 1; }  // FAULT
KERNEL(global_race_count_ok) { if (T == 0) atomicAdd(&b[0], 1); }

// ---- races between blocks that signal each other ----
#define SIGNAL(value) *(volatile int*)b = value
#define AWAIT(value) while (*(volatile int*)b != value)
KERNEL(global_race_signal_unfenced_bad) {
  if (blockIdx.x == 0) {
    c[T] = a[T];
    __syncthreads();
    if (T == 0) SIGNAL(1);
  } else {
    if (T == 0) AWAIT(1);
    __syncthreads();
    c[64 + T] = c[T];  // FAULT
  }
}
KERNEL(global_race_signal_unfenced_ok) {
  if (blockIdx.x == 0) {
    c[T] = a[T];
    __syncthreads();
    __threadfence();
    if (T == 0) SIGNAL(1);
  } else {
    if (T == 0) AWAIT(1);
    __syncthreads();
    c[64 + T] = c[T];
  }
}
KERNEL(global_race_signal_early_bad) {
  if (blockIdx.x == 0) {
    c[T] = a[T];
    if (T == 0) { __threadfence(); SIGNAL(1); }
  } else {
    if (T == 0) AWAIT(1);
    __syncthreads();
    c[64 + T] = c[T];  // FAULT
  }
}
KERNEL(global_race_signal_early_ok) {
  if (blockIdx.x == 0) {
    c[T] = a[T];
    __syncthreads();
    if (T == 0) { __threadfence(); SIGNAL(1); }
  } else {
    if (T == 0) AWAIT(1);
    __syncthreads();
    c[64 + T] = c[T];
  }
}
KERNEL(global_race_not_awaited_bad) {
  if (blockIdx.x == 0) {
    c[T] = a[T];
    __syncthreads();
    if (T == 0) { __threadfence(); SIGNAL(1); }
  } else {
    if (T == 0) AWAIT(1);
    c[64 + T] = c[T];  // FAULT
    __syncthreads();
  }
}
KERNEL(global_race_not_awaited_ok) {
  if (blockIdx.x == 0) {
    c[T] = a[T];
    __syncthreads();
    if (T == 0) { __threadfence(); SIGNAL(1); }
  } else {
    if (T == 0) AWAIT(1);
    __syncthreads();
    c[64 + T] = c[T];
    __syncthreads();
  }
}
KERNEL(global_race_last_block_bad) {
  __shared__ int last;
  c[I] = a[I];
  __syncthreads();
  if (T == 0) last = atomicAdd(b, 1) == 1;
  __threadfence();
  __syncthreads();
  if (last) a[T] = c[T] + c[64 + T];  // FAULT
}
KERNEL(global_race_last_block_ok) {
  __shared__ int last;
  c[I] = a[I];
  __threadfence();
  __syncthreads();
  if (T == 0) last = atomicAdd(b, 1) == 1;
  __syncthreads();
  if (last) a[T] = c[T] + c[64 + T];
}
KERNEL(global_race_released_early_bad) {
  if (T == 0) {
    while (atomicCAS(b, 0, 1) != 0) {}
    __threadfence();
    b[1] = b[1] + 1;  // FAULT
    atomicExch(b, 0);
    __threadfence();
  }
}
KERNEL(global_race_released_early_ok) {
  if (T == 0) {
    while (atomicCAS(b, 0, 1) != 0) {}
    __threadfence();
    b[1] = b[1] + 1;
    __threadfence();
    atomicExch(b, 0);
  }
}

// ---- barriers ----
KERNEL(divergent_barrier_half_bad) {
  if (T < 16) __syncthreads();  // FAULT
  c[I] = 0;
}
KERNEL(divergent_barrier_half_ok) {
  __syncthreads();
  c[I] = 0;
}
KERNEL(divergent_barrier_odd_bad) {
  if (T & 1) { c[I] = 1; __syncthreads(); }  // FAULT
  else { c[I] = 2; }
}
KERNEL(divergent_barrier_odd_ok) {
  if (T & 1) { c[I] = 1; }
  else { c[I] = 2; }
  __syncthreads();
}
KERNEL(divergent_barrier_loop_bad) {
  for (int k = 0; k < (T & 3); ++k) __syncthreads();  // FAULT
  c[I] = 0;
}
KERNEL(divergent_barrier_loop_ok) {
  for (int k = 0; k < (n & 3) + 2; ++k) __syncthreads();
  c[I] = 0;
}
KERNEL(divergent_barrier_data_bad) {
  if (a[I] > 0.5f) __syncthreads();  // FAULT
  c[I] = 0;
}
KERNEL(divergent_barrier_data_ok) {
  if (__syncthreads_or(a[I] > 0.5f)) c[I] = 0;
  else c[I] = 1;
}

// ---- warp masks ----
KERNEL(bad_warp_mask_half_bad) {
  if (T < 16) c[I] = __shfl_down_sync(0xffffffffu, a[I], 1);  // FAULT
  else c[I] = 0;
}
KERNEL(bad_warp_mask_half_ok) {
  if ((T & 31) < 16) c[I] = __shfl_down_sync(0xffffu, a[I], 1, 16);
  else c[I] = 0;
}
KERNEL(bad_warp_mask_outside_bad) { c[I] = __shfl_sync(0x0000ffffu, a[I], 0); }  // FAULT
KERNEL(bad_warp_mask_outside_ok) { c[I] = __shfl_sync(0xffffffffu, a[I], 0); }
KERNEL(bad_warp_mask_ballot_bad) { if (T & 1) c[I] = __ballot_sync(0xffffffffu, a[I] > 0); else c[I] = 0; }  // FAULT
KERNEL(bad_warp_mask_ballot_ok) { if (T & 1) c[I] = __ballot_sync(0xaaaaaaaau, a[I] > 0); else c[I] = 0; }
KERNEL(bad_warp_mask_reduce_bad) { if (T % 3 == 0) c[I] = __reduce_add_sync(0xffffffffu, b[I]); else c[I] = 0; }  // FAULT
KERNEL(bad_warp_mask_reduce_ok) { c[I] = __reduce_add_sync(0xffffffffu, b[I]); }
KERNEL(bad_warp_mask_sync_bad) { if (T % 2) { c[I] = 1; __syncwarp(); } else c[I] = 0; }  // FAULT
KERNEL(bad_warp_mask_sync_ok) { if (T % 2) c[I] = 1; else c[I] = 0; __syncwarp(); }

// ---- division by zero ----
KERNEL(division_by_zero_quotient_bad) { c[I] = n / b[I]; }  // FAULT
KERNEL(division_by_zero_quotient_ok) { c[I] = n / (b[I] + 1); }
KERNEL(division_by_zero_remainder_bad) { c[I] = n % b[T]; }  // FAULT
KERNEL(division_by_zero_remainder_ok) { c[I] = n % (b[T] + 1); }
KERNEL(division_by_zero_unsigned_bad) { c[I] = (unsigned)n / ((unsigned)b[I] >> 3); }  // FAULT
KERNEL(division_by_zero_unsigned_ok) { c[I] = (unsigned)n / ((unsigned)b[I] / 8 + 1); }
KERNEL(division_by_zero_wide_bad) { c[I] = (long long)n * n / (long long)b[T]; }  // FAULT
KERNEL(division_by_zero_wide_ok) { c[I] = (long long)n * n / ((long long)b[T] + 1); }

// ---- traps ----
KERNEL(trap_plain_bad) { c[I] = 0; if (b[I] == 77) __trap(); }  // FAULT
KERNEL(trap_plain_ok) { c[I] = 0; if (b[I] == 777) __trap(); }

// ---- asynchronous copies ----
KERNEL(in_flight_read_no_wait_bad) {
  __shared__ float s[64];
  __pipeline_memcpy_async(&s[T], &a[I], 4);
  __pipeline_commit();
  __syncthreads();
  c[I] = s[T];  // FAULT
  __pipeline_wait_prior(0);
}
KERNEL(in_flight_read_no_wait_ok) {
  __shared__ float s[64];
  __pipeline_memcpy_async(&s[T], &a[I], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  c[I] = s[T];
}
KERNEL(in_flight_read_too_many_left_bad) {
  __shared__ float s[2][64];
  __pipeline_memcpy_async(&s[0][T], &a[T], 4);
  __pipeline_commit();
  __pipeline_memcpy_async(&s[1][T], &a[64 + T], 4);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  float first = s[0][T];
  float second = s[1][T];  // FAULT
  c[I] = first + second;
  __pipeline_wait_prior(0);
}
KERNEL(in_flight_read_too_many_left_ok) {
  __shared__ float s[2][64];
  __pipeline_memcpy_async(&s[0][T], &a[T], 4);
  __pipeline_commit();
  __pipeline_memcpy_async(&s[1][T], &a[64 + T], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  float first = s[0][T];
  float second = s[1][T];
  c[I] = first + second;
}

// ---- functions that call themselves, and functions that are called by their address ----
__device__ float count_down(int from, float* up);
KERNEL(stack_overflow_endless_bad) {
  float sum = 0;
  c[I] = count_down(-1 - b[T], &sum) + sum;
}
__device__ __noinline__ float count_down(int from, float* up) {
  float mine[2] = {(float)from, 0};
  if (from != 0) *up += count_down(from - 1, mine + 1);  // FAULT
  *up += mine[1];
  return mine[0];
}
KERNEL(stack_overflow_endless_ok) {
  float sum = 0;
  c[I] = count_down(b[T] % 8, &sum) + sum;
}
__device__ __noinline__ float twice(float x) { return 2 * x; }
__device__ __noinline__ float thrice(float x) { return 3 * x; }
typedef float (*Function)(float);
KERNEL(out_of_bounds_call_bad) {
  Function known[] = {&twice, &thrice, nullptr};
  c[I] = known[b[T] % 3](a[I]);  // FAULT
}
KERNEL(out_of_bounds_call_ok) {
  Function known[] = {&twice, &thrice, nullptr};
  c[I] = known[b[T] % 2](a[I]);
}
