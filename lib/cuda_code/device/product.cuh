// SPDX-License-Identifier: Apache-2.0
//$ A tile of one factor goes from memory to registers and from there to shared memory, where it stands by depth. The tiles belong to
//$ the kernel, so that both instances of the body share them.
//$ needs fetch_tile.cuh

template <bool WHOLE>
__device__ __forceinline__ void $name$_body($parameters$, float left_tile[2][$step$][$rows$ + 4], float right_tile[2][$step$][$columns$ + 4]) {
  constexpr int TN = $rows$ / 16, TM = $columns$ / 16;
  const float* left = $left$;
  const float* right = $right$;
  const int row_start = blockIdx.y * $rows$, column_start = $column_block$ * $columns$;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
$guard$
$coordinates$
$needed$
  float4 left_held[$rows$ * $step$ / 1024], right_held[$columns$ * $step$ / 1024];
  float sum[TN][TM] = {};
  fetch_tile<WHOLE, $left_along$, $rows$, $step$>(left_held, left, row_start, $N$, $begin$, $K$);
  fetch_tile<WHOLE, $right_along$, $columns$, $step$>(right_held, right, column_start, $M$, $begin$, $K$);
  place_tile<$left_along$, $rows$, $step$>(left_held, left_tile[0]);
  place_tile<$right_along$, $columns$, $step$>(right_held, right_tile[0]);
  __syncthreads();
  int now = 0;
  for (int start = $begin$; start < $end$; start += $step$) {
    const bool more = start + $step$ < $end$;
    if (more) {
      fetch_tile<WHOLE, $left_along$, $rows$, $step$>(left_held, left, row_start, $N$, start + $step$, $K$);
      fetch_tile<WHOLE, $right_along$, $columns$, $step$>(right_held, right, column_start, $M$, start + $step$, $K$);
    }
#pragma unroll
    for (int k = 0; k < $step$; ++k) {
      float a[TN], b[TM];
#pragma unroll
      for (int i = 0; i < TN; i += 4)
        *reinterpret_cast<float4*>(&a[i]) = *reinterpret_cast<const float4*>(&left_tile[now][k][i * 16 + ty * 4]);
#pragma unroll
      for (int j = 0; j < TM; j += 4)
        *reinterpret_cast<float4*>(&b[j]) = *reinterpret_cast<const float4*>(&right_tile[now][k][j * 16 + tx * 4]);
#pragma unroll
      for (int i = 0; i < TN; ++i)
#pragma unroll
        for (int j = 0; j < TM; ++j) sum[i][j] += a[i] * b[j];
    }
    if (more) {
      place_tile<$left_along$, $rows$, $step$>(left_held, left_tile[now ^ 1]);
      place_tile<$right_along$, $columns$, $step$>(right_held, right_tile[now ^ 1]);
      __syncthreads();
      now ^= 1;
    }
  }
#pragma unroll
  for (int i = 0; i < TN; ++i) {
    const int row = row_start + i / 4 * 64 + ty * 4 + i % 4;
    if (row >= $N$) continue;
#pragma unroll
    for (int j = 0; j < TM; ++j) {
      const int column = column_start + j / 4 * 64 + tx * 4 + j % 4;
      if (column >= $M$) continue;
      const float produced = sum[i][j];
$epilogue$
      $store$
    }
  }
}

__global__ void __launch_bounds__(256) $name$($parameters$) {
  __shared__ __align__(16) float left_tile[2][$step$][$rows$ + 4], right_tile[2][$step$][$columns$ + 4];
  if ($whole$) $name$_body<true>($forwarded$, left_tile, right_tile);
  else $name$_body<false>($forwarded$, left_tile, right_tile);
}
