#ifndef CUDAL1_FILL
#define CUDAL1_FILL
namespace cudal1_host {
template <typename T>
__global__ void fill(T* data, long long count, T bits) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += (long long)gridDim.x * blockDim.x) data[i] = bits;
}
}  // namespace cudal1_host
#endif
