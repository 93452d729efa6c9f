//@ torch   Y = torch.floor_divide(A, B) + A % B
//@ size    N = 1024, M = 4096
//@ check   N = 7, M = 33
//@ input   A: int64[N, M] ~ randint(-50, 50)
//@ input   B: int64[N, M] ~ randint(1, 9)
//@ output  Y: int64[N, M]
//@ launch  reference<<<1, 1>>>(A, B, Y)

__global__ void reference(const long long* A, const long long* B, long long* Y) {}
