//@ tune B = 64 | 128
//@ launch ns::sums<float, B, true><<<min(Q, N, 512), B, B * 4 * 128>>>(A, C, M)
//@ launch ns::sums<float, B * 2, false><<<Q, 2 * B, 1024>>>(A + Q * M, C + Q, M)
namespace ns {
template <typename T, int BLOCK, bool FIRST>
__global__ void __launch_bounds__(BLOCK) sums(const T* __restrict__ A, T* C, size_t M) { extern __shared__ float s[]; s[threadIdx.x] = FIRST; C[blockIdx.x] = s[0] + A[0] * M; }
}
