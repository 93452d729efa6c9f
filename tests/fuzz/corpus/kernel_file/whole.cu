//@ task t
//@ torch C = A // 2
//@ size N = 8, M = N + 1 weight 2
//@ check N = 3
//@ scalar a: float32 = 0.5 * N
//@ input A: int32[N] ~ randint(0, 4)
//@ inout B: float32[N, M] ~ uniform(-1, 1)
//@ output C: int32[N]
//@ tolerance B: relative 1e-3 absolute 1e-5
//@ tune V = 1 | 2 | 4 if V * 2 <= 8
//@ scratch S: float32[N * V] = 1
//@ memset S = 0
//@ for t in 0..2 {
//@   launch k<V, float><<<dim3(ceil_div(N, V), 1), min(32, 64), 4 * V>>>(A, B + t,
//@     C, a, N) cooperative cluster(1)
//@ }
template <int V, typename T> __global__ void k(const int* A, T* B, int* C, T a, long n) {}
