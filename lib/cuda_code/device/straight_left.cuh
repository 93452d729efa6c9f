// SPDX-License-Identifier: Apache-2.0
//$ The left factor of a straight product, a block for each line: rounded to TF32, with what that leaves over where it matters. Of every eight
//$ depths the even ones stand first, as the fragments of the right factor have them.
//$ needs tf32_rounding.cuh

__global__ void __launch_bounds__(128) $name$($parameters$) {
  for (int k = threadIdx.x; k < $pitch$; k += 128) {
    const int from = k / 8 * 8 + k % 4 * 2 + k % 8 / 4;
    const float x = from < $depth$ ? $X$[size_t(blockIdx.x) * $depth$ + from] : 0;
    const size_t to = size_t(blockIdx.x) * $pitch$ + k;
$halves$
  }
}
