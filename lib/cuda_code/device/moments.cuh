// SPDX-License-Identifier: Apache-2.0
//$ needs parts.cuh

// The sum of a line, and the sum of its squares about what `centre_of` makes of the sum, from each block's sum and its
// squares about its own mean (Chan, Golub and LeVeque 1979).
template <int TEAM, typename Elements, typename Centre>
__device__ float2 take_moments(const long long* slots, Elements elements_of, Centre centre_of) {
  __shared__ float2 total;
  __syncthreads();  // everyone has read what the last line left here
  if (threadIdx.x < 32) {
    using All = Parts<TEAM>;
    const All parts(slots);
    float sum = 0, squares = 0;
#pragma unroll
    for (int i = 0; i < All::EACH; ++i) sum += parts.first[i];
    sum = All::over_lanes(sum, Sum());
    const float centre = centre_of(sum);
#pragma unroll
    for (int i = 0; i < All::EACH; ++i) {
      const float elements = elements_of(i * All::LANES + threadIdx.x % All::LANES);
      const float away = elements > 0 ? parts.first[i] / elements - centre : 0;
      squares += parts.second[i] + elements * away * away;
    }
    squares = All::over_lanes(squares, Sum());
    if (threadIdx.x == 0) total = make_float2(sum, squares);
  }
  __syncthreads();
  return total;
}
