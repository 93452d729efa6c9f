// SPDX-License-Identifier: Apache-2.0
//$ What a pool makes of a row, for every row of results that it belongs to.

    float across[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      across[i] = row[FIRST + i * $stride_w$];
#pragma unroll
      for (int c = 1; c < $taps_w$; ++c) across[i] = $combine$(across[i], row[FIRST + i * $stride_w$ + c * $dilation_w$]);
    }
#pragma unroll
    for (int j = 0; j < $rows$; ++j) {
      const int b = r - j * $stride_h$;
      if (b < 0 || b % $dilation_h$ != 0 || b / $dilation_h$ >= $taps_h$) continue;
#pragma unroll
      for (int i = 0; i < 4; ++i) held[j][i] = $combine$(held[j][i], across[i]);
    }
