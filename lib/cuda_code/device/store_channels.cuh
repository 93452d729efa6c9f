// SPDX-License-Identifier: Apache-2.0
//$ The end of a convolution on the tensor cores: a thread's results of one position.

#pragma unroll
    for (int i = 0; i < $tile_o$ / 16; ++i) {
      const int o = o_start + warp / 2 * ($tile_o$ / 2) + i * 8 + lane / 4;
      if (o >= $O$) continue;
      const int at_o = group * $O$ + o;
      const float produced = sum[i / 2][j / 2][i % 2 * 2 + j % 2];
$epilogue$
      $store$
    }
