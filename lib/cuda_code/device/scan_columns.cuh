// SPDX-License-Identifier: Apache-2.0

__global__ void __launch_bounds__($threads$) $name$($parameters$) {
  const int index = blockIdx.x * $threads$ + threadIdx.x;
  if (index >= $count$) return;
  const int front = index / $inner$, back = index % $inner$;
$coordinates$
$lines$
  $type$ produced = $neutral$;
#pragma unroll 8
  for (int k = 0; k < $M$; ++k) {
    const int along = $along$;
    {
$from_elements$
      produced $op$= $value$;
    }
$epilogue$
    $store$
  }
}
