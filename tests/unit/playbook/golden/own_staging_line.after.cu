//@ of      own_staging_line.before.cu sha256:c09754ff105627eae155a6e40e8dba39b36e1a3f6cd70dc85aaf89379f8e8f24
//@ tune    ITEMS = 4 | 2 | 1
//@ launch  potential<<<ceil_div(N, 128 * ITEMS), 128>>>(points, places, charges, P, N, M)
// playbook: own kernel/staging, read-only

__global__ void potential(const float* __restrict__ points, const float* __restrict__ places, const float* __restrict__ charges, float* __restrict__ P, int N, int M) {
  constexpr int STEPS = 128;
  __shared__ float places_tile[STEPS];
  __shared__ float charges_tile_2[STEPS];
  float p_of[ITEMS] = {};
  float sum_of[ITEMS] = {};
#pragma unroll
  for (int item_x = 0; item_x < ITEMS; ++item_x) {
    const int i = static_cast<int>(blockIdx.x) * (128 * ITEMS) + item_x * 128 + threadIdx.x;
    if (i < N) {
      float &p = p_of[item_x];
      float &sum = sum_of[item_x];
      p = points[i];
      sum = 0;
    }
  }
  const int line = threadIdx.x;
  for (int j_0 = 0; j_0 < M; j_0 += STEPS) {
    for (int place = line; place < STEPS; place += 128) {
      const int j = j_0 + place;
      places_tile[place] = j < M ? places[j] : 0;
    }
    for (int place = line; place < STEPS; place += 128) {
      const int j = j_0 + place;
      charges_tile_2[place] = j < M ? charges[j] : 0;
    }
    __syncthreads();
    const auto walk = [&](int step) {
      const float places_held = places_tile[step];
      const float charges_held_2 = charges_tile_2[step];
#pragma unroll
      for (int item_x = 0; item_x < ITEMS; ++item_x) {
        const int i = static_cast<int>(blockIdx.x) * (128 * ITEMS) + item_x * 128 + threadIdx.x;
        float &p = p_of[item_x];
        float &sum = sum_of[item_x];
        float d = p - places_held;
        sum += charges_held_2 * rsqrtf(d * d + 1.0f);
      }
    };
    const int steps = M - j_0 < STEPS ? static_cast<int>(M - j_0) : STEPS;
    if (steps == STEPS) {
#pragma unroll
      for (int step = 0; step < STEPS; ++step) walk(step);
    } else {
      for (int step = 0; step < steps; ++step) walk(step);
    }
    __syncthreads();
  }
#pragma unroll
  for (int item_x = 0; item_x < ITEMS; ++item_x) {
    const int i = static_cast<int>(blockIdx.x) * (128 * ITEMS) + item_x * 128 + threadIdx.x;
    if (i < N) {
      float &p = p_of[item_x];
      float &sum = sum_of[item_x];
      P[i] = sum;
    }
  }
}
