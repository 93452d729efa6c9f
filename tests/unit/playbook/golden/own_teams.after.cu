//@ of      own_teams.before.cu sha256:3ff560a7a9e98f5e81f889f4850e1cb364ba19741ab94df83e2fdc5003b7c785
//@ tune    TEAM = 32 | 128 | 512
//@ launch  softmax<<<ceil_div((N) * TEAM, max(TEAM, 128)), max(TEAM, 128)>>>(X, Y, N, M)
// playbook: own kernel/teams, read-only

struct Larger {
  template <typename T>
  __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};
struct Sum {
  template <typename T>
  __device__ T operator()(T a, T b) const { return a + b; }
};
// What the threads of a team hold, put together; MEMBERS threads side by side are one, a warp or a whole block.
template <int MEMBERS, typename Combine, typename T>
__device__ __forceinline__ T combined_by_team(T value) {
  const Combine combine;
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value = combine(value, __shfl_xor_sync(0xffffffffu, value, offset));
  if (MEMBERS > 32) {
    __shared__ T parts[MEMBERS / 32];
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = parts[0];
#pragma unroll
    for (int part = 1; part < MEMBERS / 32; ++part) value = combine(value, parts[part]);
    __syncthreads();
  }
  return value;
}

__global__ void softmax(const float* __restrict__ X, float* __restrict__ Y, int N, int M) {
  const int row = (static_cast<int>(blockIdx.x) * blockDim.x + threadIdx.x) / TEAM;
  const int lane = threadIdx.x % TEAM;
  if (row >= N) return;
  const float* x = X + size_t(row) * M;
  float* y = Y + size_t(row) * M;
  float largest = x[0];
  float largest_part = largest;
#pragma unroll 4
  for (int i = (1) + lane; i < M; i += TEAM) {
    if (x[i] > largest_part) {
      largest_part = x[i];
    }
  }
  largest = combined_by_team<TEAM, Larger>(largest_part);
  float sum = 0;
  float sum_part = 0;
#pragma unroll 4
  for (int i = (0) + lane; i < M; i += TEAM) {
    y[i] = expf(x[i] - largest);
    sum_part += expf(x[i] - largest);
  }
  sum += combined_by_team<TEAM, Sum>(sum_part);
#pragma unroll 4
  for (int i = (0) + lane; i < M; i += TEAM) {
    y[i] = y[i] / sum;
  }
}
