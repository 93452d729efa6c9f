// SPDX-License-Identifier: Apache-2.0
//$ needs parts.cuh

// The largest of a line, and the sum of the exponentials of what its elements are above it, from the same of each block.
template <int TEAM>
__device__ float2 take_powers(const long long* slots) {
  __shared__ float2 total;
  __syncthreads();  // everyone has read what the last line left here
  if (threadIdx.x < 32) {
    using All = Parts<TEAM>;
    const All parts(slots);
    float largest = parts.first[0], sum = 0;
#pragma unroll
    for (int i = 1; i < All::EACH; ++i) largest = Larger()(largest, parts.first[i]);
    largest = All::over_lanes(largest, Larger());
#pragma unroll
    for (int i = 0; i < All::EACH; ++i) sum += parts.second[i] * expf(parts.first[i] - largest);
    sum = All::over_lanes(sum, Sum());
    if (threadIdx.x == 0) total = make_float2(largest, sum);
  }
  __syncthreads();
  return total;
}
