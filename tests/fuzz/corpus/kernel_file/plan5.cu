//@ launch copy<<<N / 32, 32>>>(A, C, N) cooperative
//@ launch copy<<<dim3(N / 32, 2), dim3(8, 4), 65536>>>(A, C, N) cluster(2, 1, 1)
//@ launch nothing<<<16, 32>>>() cluster(16) cooperative
__global__ void copy(const float* A, float* C, int N) { C[blockIdx.x] = A[blockIdx.x]; }
__global__ void nothing() {}
