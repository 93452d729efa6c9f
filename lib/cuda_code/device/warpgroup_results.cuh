// SPDX-License-Identifier: Apache-2.0
//$ The end of a product by warpgroups: sums go through shared memory, so that neighbours are written together.

      hold(sum);
#pragma unroll
      for (int j = 0; j < OWN / 32; ++j) {
#pragma unroll
        for (int i = 0; i < 16; i += 2)
          *reinterpret_cast<float2*>(staged + (lane / 4 + i / 2 % 2 * 8) * 40 + i / 4 * 8 + lane % 4 * 2) = make_float2(sum[16 * j + i], sum[16 * j + i + 1]);
        __syncwarp();
        const int column = $first_column$ + 32 * j + lane;
$place$
#pragma unroll 4
        for (int i = 0; i < 16; ++i) {
          const int row = row_start + own_row + 16 * warp + i;
          if ($outside$) continue;
          const float held = staged[i * 40 + lane];
$store$
        }
        __syncwarp();
      }
