// SPDX-License-Identifier: Apache-2.0
//$ What a convolution of single channels makes of a row.

#pragma unroll
    for (int j = 0; j < $rows$; ++j) {
      const int b = r - j * $stride_h$;
      if (b < 0 || b % $dilation_h$ != 0 || b / $dilation_h$ >= $taps_h$) continue;
#pragma unroll
      for (int c = 0; c < $taps_w$; ++c)
#pragma unroll
        for (int i = 0; i < $width$; ++i) held[j][i] += weights[b / $dilation_h$ * $taps_w$ + c] * row[$place$];
    }
