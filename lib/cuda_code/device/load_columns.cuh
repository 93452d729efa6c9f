// SPDX-License-Identifier: Apache-2.0
//$ The row that a column of results of a convolution needs.

    float row[$taps_w$];
#pragma unroll
    for (int c = 0; c < $taps_w$; ++c) {
      const int w = w0 + c * $dilation_w$;
      row[c] = there$inside$ ? x[$row$ + w] : 0.0f;
    }
