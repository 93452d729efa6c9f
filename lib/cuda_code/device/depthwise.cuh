// SPDX-License-Identifier: Apache-2.0
//$ threads = 256
//$ rows = 8
//$ index = int
//$ to_index = int
//$ coordinates =   const int at3 = index % width;\n  const int at2 = index / width % n6;\n  const int at1 = index / width / n6 % C;\n  const int at0 = index / width / n6 / C;\n
//$ first = at2 * 8
//$ o = at1
//$ b = at0
//$ d = 0
//$ w = at3 * 1 - 1
//$ O = C
//$ own = 1
//$ groups = 16
//$ taps = 9
//$ KD = 1
//$ KH = 3
//$ KW = 3
//$ D = 1
//$ dilation_d = 1
//$ dilation_w = 1
//$ stride_h = 2
//$ padding_h = 1
//$ rows_read = 17
//$ epilogue =     const float v1 = float(bias[at1]);\n    const float v2 = produced + v1;\n    const float v3 = v2 < 0 ? 0 : v2;\n
//$ store = Y[size_t(at0) * n9 + size_t(at1) * n10 + size_t(row) * width + at3] = v3;
//$ parameters = const float* __restrict__ X, const float* __restrict__ W, const float* __restrict__ bias, float* __restrict__ Y, int count, int width, int n6, int C, int B, int n9, int n10, int OH, int plane, int H

__global__ void __launch_bounds__($threads$) $name$($parameters$) {
  // Neighbouring threads make neighbouring columns of $rows$ results below each other, which share their inputs.
  const $index$ index = $to_index$(blockIdx.x) * $threads$ + threadIdx.x;
  if (index >= $count$) return;
$coordinates$
  const int first = $first$, group = $o$ / ($O$ / $groups$);
  const float* x = $X$ + (size_t($b$) * $C$ + group * $own$) * $plane$;
  const float* weights = $W$ + size_t($o$) * $own$ * $taps$;
  float sums[$rows$] = {};
  for (int channel = 0; channel < $own$; ++channel, x += $plane$, weights += $taps$) {
    float held[$taps$];
#pragma unroll
    for (int k = 0; k < $taps$; ++k) held[k] = weights[k];
#pragma unroll
    for (int a = 0; a < $KD$; ++a) {
      const int d = $d$ + a * $dilation_d$;
      const float* layer = x + d * $H$ * $width$;
#pragma unroll
      for (int r = 0; r < $rows_read$; ++r) {
        const int h = first * $stride_h$ - $padding_h$ + r;
#pragma unroll
        for (int c = 0; c < $KW$; ++c) {
          const int w = $w$ + c * $dilation_w$;
          const bool there = unsigned(d) < unsigned($D$) && unsigned(h) < unsigned($H$) && unsigned(w) < unsigned($width$);
          const float value = there ? layer[h * $width$ + w] : 0.0f;
#pragma unroll
          for (int i = 0; i < $rows$; ++i)
            if (r - i * $stride_h$ >= 0 && r - i * $stride_h$ < $KH$) sums[i] += value * held[(a * $KH$ + r - i * $stride_h$) * $KW$ + c];
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < $rows$; ++i) {
    const int row = first + i;
    if (row >= $OH$) break;
    const float produced = sums[i];
$epilogue$
    $store$
  }
}
