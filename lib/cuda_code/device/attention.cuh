// SPDX-License-Identifier: Apache-2.0
//$ parameters = const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V, int T, int H, float* __restrict__ O
//$ head = 64
//$ queries = 32
//$ scale = 1.44269504f / 8.0f
//$ range =   const int begin = 0, end = T;\n
//$ row_store =     float* to = O + matrix + size_t(row) * H;\n
//$ by =  / total[r]
//$ masked0 = 
//$ masked1 = 

__global__ void __launch_bounds__(256) $name$($parameters$) {
  // Queries of a block by 32 keys at a time; 16x16 threads hold R rows of scores and of the result each.
  constexpr int HEAD = $head$, KEYS = 32, R = $queries$ / 16, C = HEAD / 16;
  __shared__ __align__(16) float q[$queries$][HEAD + 4], k[KEYS][HEAD + 4], v[KEYS][HEAD + 4], p[$queries$][KEYS + 1];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  // The last queries have the most keys: they go first.
  const int start = int(gridDim.x - 1 - blockIdx.x) * $queries$;
  const size_t matrix = size_t(blockIdx.y) * $T$ * $H$;
$range$
  const float scale = $scale$;  // of scores in powers of two
  for (int i = threadIdx.x; i < $queries$ * HEAD; i += 256) {
    const int row = i / HEAD, h = i % HEAD;
    q[row][h] = start + row < $T$ && h < $H$ ? $Q$[matrix + size_t(start + row) * $H$ + h] * scale : 0.0f;
  }
  float result[R][C] = {}, largest[R], total[R];
#pragma unroll
  for (int r = 0; r < R; ++r) largest[r] = -1e30f, total[r] = 0;
  for (int first = begin; first < end; first += KEYS) {
    __syncthreads();
    for (int i = threadIdx.x; i < KEYS * HEAD; i += 256) {
      const int row = i / HEAD, h = i % HEAD;
      const bool there = first + row < $T$ && h < $H$;
      k[row][h] = there ? $K$[matrix + size_t(first + row) * $H$ + h] : 0.0f;
      v[row][h] = there ? $V$[matrix + size_t(first + row) * $H$ + h] : 0.0f;
    }
    __syncthreads();
    float score[R][2] = {};
#pragma unroll
    for (int h = 0; h < HEAD; h += 4) {
      const float4 k0 = *reinterpret_cast<const float4*>(&k[tx][h]), k1 = *reinterpret_cast<const float4*>(&k[tx + 16][h]);
#pragma unroll
      for (int r = 0; r < R; ++r) {
        const float4 at = *reinterpret_cast<const float4*>(&q[ty * R + r][h]);
        score[r][0] += at.x * k0.x + at.y * k0.y + at.z * k0.z + at.w * k0.w;
        score[r][1] += at.x * k1.x + at.y * k1.y + at.z * k1.z + at.w * k1.w;
      }
    }
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const int row = start + ty * R + r;
      if (first + tx >= $T$$masked0$) score[r][0] = -1e30f;
      if (first + tx + 16 >= $T$$masked1$) score[r][1] = -1e30f;
      float most = fmaxf(score[r][0], score[r][1]);
#pragma unroll
      for (int offset = 8; offset > 0; offset /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, offset));
      most = fmaxf(most, largest[r]);
      const float shrink = exp2f(largest[r] - most);
      const float p0 = exp2f(score[r][0] - most), p1 = exp2f(score[r][1] - most);
      p[ty * R + r][tx] = p0;
      p[ty * R + r][tx + 16] = p1;
      float sum = p0 + p1;
#pragma unroll
      for (int offset = 8; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
      total[r] = total[r] * shrink + sum;
      largest[r] = most;
#pragma unroll
      for (int c = 0; c < C; ++c) result[r][c] *= shrink;
    }
    __syncwarp();
#pragma unroll 8
    for (int key = 0; key < KEYS; ++key) {
      float value[C];
#pragma unroll
      for (int c = 0; c < C; ++c) value[c] = v[key][tx + 16 * c];
#pragma unroll
      for (int r = 0; r < R; ++r) {
        const float weight = p[ty * R + r][key];
#pragma unroll
        for (int c = 0; c < C; ++c) result[r][c] += weight * value[c];
      }
    }
  }
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const int row = start + ty * R + r;
    if (row >= $T$) break;
$row_store$
#pragma unroll
    for (int c = 0; c < C; ++c) {
      const int h = tx + 16 * c;
      if (h < $H$) to[h] = result[r][c]$by$;
    }
  }
}
