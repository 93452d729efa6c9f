// SPDX-License-Identifier: Apache-2.0
//$ The same where a thread has one column of results.

    float across = $neutral$;
#pragma unroll
    for (int c = 0; c < $taps_w$; ++c) {
      const int w = w0 + c * $dilation_w$;
      across = $combine$(across, there$inside$ ? x[$row$ + w] : $neutral$);
    }
#pragma unroll
    for (int j = 0; j < $rows$; ++j) {
      const int b = r - j * $stride_h$;
      if (b < 0 || b % $dilation_h$ != 0 || b / $dilation_h$ >= $taps_h$) continue;
      held[j][0] = $combine$(held[j][0], across);
    }
