// SPDX-License-Identifier: Apache-2.0

__global__ void __launch_bounds__(256) $name$($parameters$) {
#pragma unroll
  for (int item = 0; item < $items$; ++item) {
    const $type$ index = ($type$(blockIdx.x) * $items$ + item) * 256 + threadIdx.x;
    if (index >= $count$) return;
    const $type$ row = index / $M$, column = index % $M$;
    const long long at = $which$[$named$], from = at < 0 ? at + $K$ : at;
    const $value$ produced = from >= 0 && from < $K$ ? $loaded$ : $zero$;
$epilogue$
    $store$
  }
}
