// SPDX-License-Identifier: Apache-2.0
//$ type = float
//$ parameters = const float* __restrict__ X, float* __restrict__ Y, int M, int count
//$ threads = 256
//$ inner = count
//$ coordinates =   const int at1 = back;\n
//$ lines =   const float* x0 = X + at1;\n
//$ neutral = 1
//$ from_elements =       const float v0 = float(x0[size_t(along) * count]);\n
//$ value = v0
//$ along = k
//$ op = *
//$ store = Y[size_t(along) * count + at1] = produced;

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
