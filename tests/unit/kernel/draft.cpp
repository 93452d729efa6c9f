// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "kernel/output.hpp"
#include "kernel/workload.hpp"

#include <algorithm>

using namespace cudal1;
using namespace cudal1::kernel;

namespace {

bool mentions(const std::vector<std::string>& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

File whole(const Draft& drafted) {
  const auto file = parse(drafted.text, "drafted.cu");
  if (!file) FAIL(drafted.text + base::render(file.error()));
  const auto diagnostics = validate_task(*file);
  if (!diagnostics.empty()) FAIL(drafted.text + base::render(diagnostics));
  const auto values = environment(*file, workloads(*file).front());
  REQUIRE(values);
  const auto plan = resolve(*file, *values);
  if (!plan) FAIL(drafted.text + base::render(plan.error()));
  return *file;
}

}  // namespace

TEST_CASE("a plain program with main is drafted whole") {
  const Draft drafted = draft(R"(#include <cstdio>
#include <cuda_runtime.h>
#define BLOCK 256

// Adds two vectors.
__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// Checks the result.
static bool check(const float* c) { return c[0] == 3; }

int main() {
  const int N = 1 << 20;
  size_t bytes = N * sizeof(float);
  float *d_a, *d_b, *d_c;
  cudaMalloc(&d_a, bytes);
  cudaMalloc((void**)&d_b, bytes);
  cudaMalloc(&d_c, sizeof(float) * N);
  int blocks = (N + BLOCK - 1) / BLOCK;
  add<<<blocks, BLOCK>>>(d_a, d_b, d_c, N);
  for (int r = 0; r < 10; ++r) add<<<blocks, BLOCK>>>(d_a, d_b, d_c, N);
  printf("%d\n", check(d_c));
}
)", "vector_add.cu");
  const File file = whole(drafted);
  CHECK(file.task == "vector_add");
  CHECK(drafted.text.find("//@ size    N = 1048576\n") != std::string::npos);
  CHECK(drafted.text.find("//@ input   a: float32[N]\n//@ input   b: float32[N]\n//@ output  c: float32[N]\n") != std::string::npos);
  CHECK(drafted.text.find("//@ launch  add<<<ceil_div(N, 256), 256>>>(a, b, c, N)\n") != std::string::npos);
  CHECK(drafted.text.find("main") == std::string::npos);
  CHECK(drafted.text.find("Checks the result") == std::string::npos);
  CHECK(drafted.text.find("Adds two vectors") != std::string::npos);
  CHECK(mentions(drafted.set_aside, "host function main (lines 14-25)"));
  CHECK(mentions(drafted.set_aside, "#include <cstdio>"));
  CHECK_FALSE(mentions(drafted.set_aside, "cuda_runtime"));
}

TEST_CASE("dim3 variables, casts and ceil become plain expressions") {
  const Draft drafted = draft(R"(
__global__ void transpose(float* out, const float* in, unsigned int width, unsigned int height) { out[0] = in[0]; }
void run(float* h) {
  unsigned int W = 1000, H = 500;
  float *d_in, *d_out;
  cudaMalloc(&d_in, W * H * sizeof(float));
  cudaMalloc(&d_out, W * H * sizeof(float));
  dim3 block(32, 8, 1), grid;
  grid.x = (unsigned)ceil((float)W / block_x());
  dim3 tiles((W + 31) / 32, (int)ceilf(H / 8.0f * 1.0f));
  dim3 good((W - 1) / 32 + 1, ceil((double)H / 8));
  transpose<<<good, block, 32 * 33 * sizeof(float)>>>(d_out, d_in, W, H);
}
)", "t.cu");
  const File file = whole(drafted);
  CHECK(drafted.text.find("transpose<<<dim3(ceil_div(W, 32), ceil_div(H, 8)), dim3(32, 8), 32 * 33 * 4>>>(out, in, W, H)") != std::string::npos);
  CHECK(file.buffers.size() == 2);
}

TEST_CASE("what the source does not say is marked, and the parser asks for it") {
  const Draft drafted = draft(R"(#include <torch/extension.h>
template <typename scalar_t>
__global__ void scale_kernel(const scalar_t* __restrict__ x, scalar_t* y, scalar_t alpha, size_t size) { y[0] = alpha * x[0]; }
torch::Tensor scale(torch::Tensor x, double alpha) {
  auto y = torch::empty_like(x);
  const auto size = x.numel();
  const int threads = 1024;
  const dim3 blocks((size + threads - 1) / threads);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "scale", ([&] {
    scale_kernel<scalar_t><<<blocks, threads>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), alpha, size);
  }));
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scale", &scale); }
)", "scale.cu");
  CHECK(drafted.text.find("//@ size    size = 16384  // guessed\n") != std::string::npos);
  CHECK(drafted.text.find("//@ scalar  alpha: float32 = 0.5  // guessed\n") != std::string::npos);
  CHECK(drafted.text.find("//@ launch  scale_kernel<float><<<ceil_div(size, 1024), 1024>>>(x, y, alpha, size)\n") != std::string::npos);
  CHECK(drafted.text.find("torch") == std::string::npos);
  CHECK(mentions(drafted.guessed, "sizes size"));
  CHECK(mentions(drafted.set_aside, "#include <torch/extension.h>"));
  CHECK(mentions(drafted.set_aside, "host function PYBIND11_MODULE"));
  whole(drafted);
}

TEST_CASE("two launches share buffers, and what lies between them is scratch") {
  const Draft drafted = draft(R"(
__global__ void partial(const float* x, float* p, int n) { p[blockIdx.x] = x[0]; }
__global__ void total(const float* p, float* y, int n) { y[0] = p[0]; }
__global__ void halve(float* y) { y[0] *= 0.5f; }
void sum(const float* d_x, float* d_y) {
  int n = 4096;
  float* d_p;
  cudaMalloc(&d_p, 16 * sizeof(float));
  cudaMalloc(&d_x, n * sizeof(float));
  cudaMalloc(&d_y, sizeof(float));
  partial<<<16, 256>>>(d_x, d_p, n);
  total<<<1, 256>>>(d_p, d_y, 16);
  halve<<<1, 1>>>(d_y);
}
)", "sum.cu");
  const File file = whole(drafted);
  REQUIRE(file.scratches.size() == 1);
  CHECK(file.scratches[0].name == "p");
  CHECK(file.plan.size() == 3);
  CHECK(drafted.text.find("//@ output  y: float32[1]\n") != std::string::npos);
  CHECK_FALSE(mentions(drafted.remarks, "twice"));
}

TEST_CASE("a kernel that nobody launches gets its buffers, a launch and guesses that are marked") {
  const Draft drafted = draft("__global__ void k(float* x, int n, float eps) { x[0] += eps; }\n", "7k.cu");
  CHECK(drafted.text.find("//@ task    task_7k\n") != std::string::npos);
  CHECK(drafted.text.find("//@ launch  k<<<1, 1>>>(x, n, eps)\n") != std::string::npos);
  CHECK(drafted.text.find("//@ inout   x: float32[1]\n") != std::string::npos);
  CHECK(drafted.text.find("//@ scalar  eps: float32 = 1e-5  // guessed\n") != std::string::npos);
  CHECK(mentions(drafted.guessed, "launch of k"));
  whole(drafted);
}

TEST_CASE("shapes follow from what a kernel's guards let it reach") {
  const Draft drafted = draft(R"(
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
}
)", "mm.cu");
  whole(drafted);
  CHECK(drafted.text.find("//@ input   A: float32[M, K]\n//@ input   B: float32[K, N]\n//@ output  C: float32[M, N]\n") != std::string::npos);
  CHECK(drafted.text.find("//@ launch  matmul<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)\n") != std::string::npos);
}

TEST_CASE("what a warp stores from tensor cores is an output") {
  const Draft drafted = draft(R"(
#include <mma.h>
#define N 1024
__global__ void product(const double* A, const double* B, double* C) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
  wmma::fill_fragment(sum, 0.0);
  for (int k = 0; k < N; k += 4) {
    wmma::load_matrix_sync(a, A + blockIdx.x * 8 * N + k, N);
    wmma::load_matrix_sync(b, B + k * N + blockIdx.y * 8, N);
    wmma::mma_sync(sum, a, b, sum);
  }
  wmma::store_matrix_sync(C + blockIdx.x * 8 * N + blockIdx.y * 8, sum, N, wmma::mem_row_major);
}
void run(double* A, double* B, double* C) {
  cudaMalloc(&A, N * N * sizeof(double));
  cudaMalloc(&B, N * N * sizeof(double));
  cudaMalloc(&C, N * N * sizeof(double));
  product<<<dim3(N / 8, N / 8), 32>>>(A, B, C);
}
)", "mm.cu");
  whole(drafted);
  CHECK(drafted.text.find("//@ output  C: float64[N * N]\n") != std::string::npos);
  CHECK_FALSE(mentions(drafted.remarks, "C is not const"));
}

TEST_CASE("what is allocated as one extent has rows where a kernel counts it in steps of a size") {
  const auto drafted = [](const std::string& sizes, const std::string& more) {
    return draft(sizes + R"(
__global__ void product(const double* A, const double* B, double* C)" + more + R"() {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N || column >= N) return;
  double sum = 0;
  for (int k = 0; k < N; ++k) sum += A[row * N + k] * B[k * N + column];
  C[row * N + column] = sum;
}
void run(double* A, double* B, double* C) {
  )" + (more.empty() ? "" : "const int N = 1024;") + R"(
  cudaMalloc(&A, N * N * sizeof(double));
  cudaMalloc(&B, N * N * sizeof(double));
  cudaMalloc(&C, sizeof(double) * N * N);
  product<<<dim3((N + 15) / 16, (N + 15) / 16), dim3(16, 16)>>>(A, B, C)" + (more.empty() ? "" : ", N") + R"();
}
)", "mm.cu");
  };
  for (const Draft& each : {drafted("", ", int N"), drafted("#define N 1024\n", "")}) {
    whole(each);
    CHECK(each.text.find("//@ input   A: float64[N, N]\n//@ input   B: float64[N, N]\n//@ output  C: float64[N, N]\n") != std::string::npos);
  }
}

TEST_CASE("pointers that are moved, quotients and remainders are followed") {
  const Draft drafted = draft(R"(
#define LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
__global__ void gather(const float* points, const int* idx, float* out, int b, int n, int c, int m) {
  int batch = blockIdx.y;
  points += batch * n * c;
  idx += batch * m;
  out += batch * m * c;
  LOOP(i, m * c) {
    int j = i / c, k = i % c;
    out[j * c + k] = points[idx[j] * c + k];
  }
  if (batch >= b) return;
}
)", "gather.cu");
  CAPTURE(drafted.text);
  CHECK(drafted.text.find("points: float32[b, n, c]") != std::string::npos);
  CHECK(drafted.text.find("idx: int32[b, m] ~ randint(0, n)") != std::string::npos);
}

TEST_CASE("an index buffer is bounded by the rows that another access counts") {
  const Draft drafted = draft(R"(
__global__ void embed(const int* tokens, const float* table, float* out, int T, int V, int D) {
  int t = blockIdx.x, d = threadIdx.x + blockIdx.y * blockDim.x;
  if (t >= T || d >= D) return;
  int row = tokens[t];
  if (row < V) out[t * D + d] = table[row * D + d];
}
)", "embed.cu");
  CAPTURE(drafted.text);
  CHECK(drafted.text.find("table: float32[V, D]") != std::string::npos);
  CHECK(drafted.text.find("//@ input   tokens: int32[T]") != std::string::npos);
}

TEST_CASE("row pointers of a sparse matrix are offsets") {
  const Draft drafted = draft(R"(
__global__ void spmv(const int* rows, const int* cols, const float* values, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sum = 0;
    for (int j = rows[i]; j < rows[i + 1]; j++) sum += values[j] * x[cols[j]];
    y[i] = sum;
  }
}
)", "spmv.cu");
  CAPTURE(drafted.text);
  CHECK(drafted.text.find("//@ input   rows: int32[n + 1] ~ offsets(") != std::string::npos);
  CHECK(drafted.text.find("//@ input   cols: int32[") != std::string::npos);
  CHECK(drafted.text.find("~ randint(0, cols_range)") != std::string::npos);
  whole(drafted);
}

TEST_CASE("vector types and structures of one plain type are elements with a last extent") {
  const Draft drafted = draft(R"(
struct __align__(8) MD { float m; float d; };
__global__ void merge(const float4* a, const MD* b, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a[i].x + b[i].m;
}
)", "merge.cu");
  CAPTURE(drafted.text);
  CHECK(drafted.text.find("a: float32[n, 4]") != std::string::npos);
  CHECK(drafted.text.find("b: float32[n, 2]") != std::string::npos);
  CHECK(drafted.text.find("struct __align__(8) MD") != std::string::npos);
  whole(drafted);
}

TEST_CASE("a structure of one plain type that is longer than its members becomes a struct line") {
  const Draft drafted = draft(R"(
struct __align__(16) Point { float x, y, z; };
__global__ void heights(const Point* points, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = points[i].z;
}
)", "heights.cu");
  CAPTURE(drafted.text);
  CHECK(drafted.text.find("//@ struct  Point = x: float32 at 0, y: float32 at 4, z: float32 at 8 bytes 16\n") != std::string::npos);
  CHECK(drafted.text.find("points: Point[n]") != std::string::npos);
  whole(drafted);
}

TEST_CASE("a structure of members of several types becomes a struct line") {
  const Draft drafted = draft(R"(
typedef struct { float3 position; int id; double mass; unsigned char marked; } Body;
__global__ void move(Body* bodies, const float* by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  bodies[i].position.x += by[i];
  bodies[i].id += 1;
}
)", "move.cu");
  CAPTURE(drafted.text);
  CHECK(drafted.text.find("//@ struct  Body = position: float32[3] at 0, id: int32 at 12, mass: float64 at 16, marked: uint8 at 24 bytes 32\n") != std::string::npos);
  CHECK(drafted.text.find("bodies: Body[n]") != std::string::npos);
  const File file = whole(drafted);
  CHECK(file.buffers.front().name == "bodies.position");
}

TEST_CASE("the buffers of an array of pointers are told apart, and a null pointer is passed as one") {
  const Draft drafted = draft(R"(
__global__ void step(const float* in, float* out, const float* mask, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = mask ? in[i] * mask[i] : in[i];
}
void run(float** buffers, int n) {
  int source = 0, target = 1;
  step<<<(n + 255) / 256, 256>>>(buffers[source], buffers[target], NULL, n);
}
)", "step.cu");
  CAPTURE(drafted.text);
  CHECK(drafted.text.find("(in, out, 0, n)") != std::string::npos);
  whole(drafted);
}

TEST_CASE("of several kernels one can be chosen, and the first that can be drafted whole is otherwise") {
  const std::string source = R"(
__global__ void hard(void** x, int n) { x[0] = 0; }
__global__ void easy(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = i; }
__global__ void other(float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * i; }
)";
  const Draft drafted = draft(source, "three.cu");
  CHECK(drafted.kernel == "easy");
  CHECK(drafted.kernels == std::vector<std::string>{"hard", "easy", "other"});
  CHECK(draft(source, "three.cu", "other").text.find("//@ launch  other<<<") != std::string::npos);
  CHECK_THROWS_WITH(draft(source, "three.cu", "othr"), containing("did you mean other"));
}

TEST_CASE("what is no text, empty or without a kernel is refused in its own words") {
  CHECK_THROWS_WITH(draft("", "e.cu"), containing("empty"));
  CHECK_THROWS_WITH(draft(std::string("\x7f" "ELF\0", 5), "e.cu"), containing("not a text file"));
  CHECK_THROWS_WITH(draft("int main() {}\n", "e.cu"), containing("no `__global__` function"));
}

TEST_CASE("a kernel file is left as it is") {
  const std::string source = "//@ task k\n__global__ void k() {}\n";
  CHECK(draft(source, "k.cu").text == source);
}

TEST_CASE("constant memory that host code fills gets an input that is copied there, or values marked as guesses") {
  const Draft drafted = draft(R"(
#define TAPS 3
typedef unsigned char byte;
__constant__ float taps[TAPS][2];
__constant__ byte mask[2], other[2];
__constant__ int table[2] = {1, 2};
__constant__ float gain;
__constant__ int steps[3];
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[i] * taps[1][0] * gain + table[0];
}
)", "t.cu");
  CAPTURE(drafted.text);
  CHECK(drafted.text.find("//@ input   taps_values: float32[6]\n") != std::string::npos);
  CHECK(drafted.text.find("//@ copy    taps = taps_values\n//@ launch") != std::string::npos);
  CHECK(drafted.text.find("__constant__ float taps[TAPS][2];\n") != std::string::npos);
  CHECK(drafted.text.find("__constant__ int steps[3] = {2, -3, 4};  // guessed: host code fills it\n") != std::string::npos);
  CHECK(drafted.text.find("__constant__ byte mask[2], other[2];\n") != std::string::npos);  // several names: left alone
  CHECK(drafted.text.find("table[2] = {1, 2};\n") != std::string::npos);
  CHECK(drafted.text.find("__constant__ float gain = 1.0;") != std::string::npos);
  CHECK(mentions(drafted.guessed, "values of __constant__ steps"));
  CHECK(mentions(drafted.remarks, "taps is filled by host code"));
  whole(drafted);
}

TEST_CASE("a template around a launch names no type, and constants of headers that are taken out stay known") {
  const Draft drafted = draft(R"(#include <THC/THC.h>
template <typename Dtype> __global__ void largest(const int n, const Dtype* in, const Dtype slope, Dtype* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] > -FLT_MAX ? in[i] * slope : Dtype(0);
}
template <typename Dtype> void Layer<Dtype>::forward(const Blob<Dtype>* bottom, Dtype slope) {
  const Dtype* in = bottom->gpu_data();
  Dtype* out = bottom->mutable_gpu_data();
  const int count = bottom->count();
  largest<Dtype><<<(count + 511) / 512, 512>>>(count, in, slope, out);
}
)", "t.cu");
  CAPTURE(drafted.text);
  CHECK(drafted.text.find("//@ launch  largest<float><<<ceil_div(count, 512), 512>>>(count, in, slope, out)\n") != std::string::npos);
  CHECK(drafted.text.find("#include <cfloat>\n") != std::string::npos);
  whole(drafted);
}

TEST_CASE("blocks that size a buffer are that size, and what is written behind a border is an inout") {
  const Draft drafted = draft(R"(
#define RADIUS 3
__global__ void reduce(const float* x, float* sums, int n) {
  if (threadIdx.x == 0) sums[blockIdx.x] = x[blockIdx.x * 256];
}
__global__ void shift(const float* sums, float* out, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = sums[i];
}
int main() {
  const int blocks = 640;
  const int n = blocks * 256;
  float *x, *sums, *out;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&sums, blocks * sizeof(float));
  cudaMalloc(&out, (blocks + 2 * RADIUS) * sizeof(float));
  reduce<<<blocks, 256>>>(x, sums, n);
  shift<<<(blocks + 127) / 128, 128>>>(sums, out + RADIUS, blocks);
}
)", "t.cu");
  CAPTURE(drafted.text);
  CHECK(drafted.text.find("//@ launch  reduce<<<blocks, 256>>>(x, sums, n)\n") != std::string::npos);
  CHECK(drafted.text.find("//@ inout   out: float32[blocks + 2 * RADIUS] ~ zeros\n") != std::string::npos);
  whole(drafted);
}

TEST_CASE("what only the host has is set aside: aliases of its namespaces, names of std, classes with virtual functions") {
  const Draft drafted = draft(R"(
namespace gflags = google;
namespace cg = cooperative_groups;
using std::fstream;
using std::numeric_limits;
template <typename T> class Filler { public: explicit Filler(const Parameter& p) {} virtual void fill(Blob<T>* blob) = 0; };
struct Pair { float a, b; };
__global__ void k(const Pair* p, float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = p[i].a + p[i].b;
}
)", "t.cu");
  CAPTURE(drafted.text);
  for (const char* gone : {"gflags", "fstream", "Filler"}) CHECK(drafted.text.find(gone) == std::string::npos);
  for (const char* kept : {"namespace cg = cooperative_groups;", "using std::numeric_limits;", "struct Pair"}) CHECK(drafted.text.find(kept) != std::string::npos);
}

TEST_CASE("a name that the build would define is defined where code uses macros that hang on it") {
  const std::string source = R"(
#ifndef GUARD
#define GUARD
#ifdef GPU
#define BLOCK 128
#endif
#ifdef DEBUG
#define CHECK(x) x
#endif
#ifdef TRACE
#define DEPTH 3
__device__ int depth() { return DEPTH; }
#endif
#endif
__global__ void k(const float* x, float* y, int n) {
  __shared__ float part[BLOCK];
  int i = blockIdx.x * 128 + threadIdx.x;
  part[threadIdx.x] = 0;
  if (i < n) y[i] = x[i] + part[threadIdx.x];
}
)";
  const Draft drafted = draft(source, "t.cu");
  CAPTURE(drafted.text);
  CHECK(drafted.text.find("#define GPU  // guessed\n") != std::string::npos);
  CHECK(drafted.text.find("#define TRACE") == std::string::npos);
  CHECK(drafted.text.find("#define DEBUG") == std::string::npos);
  CHECK(std::any_of(drafted.guessed.begin(), drafted.guessed.end(), [](const std::string& what) { return what.starts_with("#define GPU"); }));
  whole(drafted);
  CHECK(draft("#define GPU\n" + source, "t.cu").text.find("guessed\n#define GPU") == std::string::npos);
}

TEST_CASE("an extent that hangs on a grid of a form that is not known is left open") {
  const Draft drafted = draft(R"(
__global__ void k(const float* x, float* y, int n, int s) {
  int id = (blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x + threadIdx.x;
  float first = x[id / s * s];
  if (id < n) y[id] = first;
}
void run(float* x, float* y, int n, int s) { k<<<grid_of(n), 512>>>(x, y, n, s); }
)", "t.cu");
  CAPTURE(drafted.text);
  CHECK(drafted.text.find('@' + std::string("grid")) == std::string::npos);
}

TEST_CASE("what is set aside is called by its name") {
  const Draft drafted = draft(R"(
#include <vector>
std::vector<std::vector<int>> make(int n);
std::vector<std::pair<int, float>> pairs(int n) { return {}; }
bool operator>(const std::vector<int>& a, int b) { return int(a.size()) > b; }
std::ostream& operator<<(std::ostream& o, const std::vector<float>& v) { return o << v.size(); }
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[i];
}
)", "t.cu");
  for (const char* said : {"declaration of make", "host function pairs", "host function operator>", "host function operator<<"})
    CHECK(std::any_of(drafted.set_aside.begin(), drafted.set_aside.end(), [&](const std::string& what) { return what.starts_with(std::string(said) + " (line"); }));
}

TEST_CASE("sizes stand in the order of the shapes, not of their names") {
  const Draft drafted = draft(R"(__global__ void total(float* y, const float* x, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[r * cols + c];
  y[r] = s;
}
)", "total.cu");
  CHECK(drafted.text.find("//@ size    rows = 256, cols = 256") != std::string::npos);
  CHECK(drafted.text.find("//@ input   x: float32[rows, cols]") != std::string::npos);
}
