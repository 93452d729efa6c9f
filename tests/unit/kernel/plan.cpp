// SPDX-License-Identifier: Apache-2.0
#include "kernel/plan.hpp"

#include "catch.hpp"
#include "example_files.hpp"
#include "kernel/dispatcher.hpp"
#include "kernel/host_launcher.hpp"
#include "kernel/output.hpp"
#include "kernel/workload.hpp"

#include <cstring>

using namespace cudal1;
using namespace cudal1::kernel;

namespace {

File parsed(const std::string& source) {
  const auto file = parse(source, "t.cu");
  if (!file) FAIL(base::render(file.error()));
  return *file;
}

Environment sizes_of(const File& file, const Assignment& assignment) {
  const auto values = environment(file, assignment);
  if (!values) FAIL(base::render(values.error()));
  return *values;
}

Plan resolved(const File& file, const Environment& values) {
  const auto plan = resolve(file, values);
  if (!plan) FAIL(base::render(plan.error()));
  return *plan;
}

template <typename T>
T scalar(const Argument& argument) {
  const auto& bytes = std::get<ScalarArgument>(argument);
  REQUIRE(bytes.size == sizeof(T));
  T value;
  std::memcpy(&value, bytes.bytes.data(), sizeof value);
  return value;
}

}  // namespace

TEST_CASE("the manual's task resolves at its workload and at its check sizes") {
  const File task = parsed(diag_matmul_task);
  CHECK(task.task == "diag_matmul");
  CHECK(task.torch->first == "C = torch.diag(A) @ B");
  const Plan plan = resolved(task, sizes_of(task, workloads(task).front()));
  REQUIRE(plan.buffers.size() == 3);
  CHECK(plan.buffers[1].shape == std::vector<std::int64_t>{4096, 4096});
  CHECK(plan.buffers[1].bytes == 4096u * 4096u * 4u);
  const auto& launch = std::get<Launch>(plan.steps.at(0));
  CHECK(launch.grid == Dim3{256, 256, 1});
  CHECK(launch.block == Dim3{16, 16, 1});
  CHECK(std::get<BufferArgument>(launch.arguments[2]).buffer == 2);
  CHECK(scalar<std::int32_t>(launch.arguments[3]) == 4096);

  const Plan small = resolved(task, sizes_of(task, checks(task).at(0)));
  CHECK(std::get<Launch>(small.steps.at(0)).grid == Dim3{5, 3, 1});
}

TEST_CASE("an answer binds to its task and is a family of three") {
  const File task = parsed(diag_matmul_task);
  const auto answer = bind(task, parsed(diag_matmul_answer));
  REQUIRE(answer);
  CHECK(answer->of->first == "diag_matmul.cu");
  const auto members = family(*answer);
  REQUIRE(members);
  REQUIRE(members->size() == 3);
  Environment values = sizes_of(*answer, workloads(*answer).front());
  values.insert(members->at(1).begin(), members->at(1).end());
  const Plan plan = resolved(*answer, values);
  const auto& launch = std::get<Launch>(plan.steps.at(0));
  CHECK(launch.grid == Dim3{16, 4096, 1});
  CHECK(launch.block == Dim3{256, 1, 1});
  CHECK(plan.kernels() == std::vector<std::string>{"scale_rows"});
  CHECK(tunable_prelude(members->at(1)) == "constexpr int BLOCK = 256;\n");
}

TEST_CASE("numbers become the parameter's declared type") {
  const File file = parsed(R"(//@ size N = 200
//@ scalar alpha: float32 = 0.1
//@ scalar half_of: float16 = 0.1
//@ output C: float32[N]
//@ tune V = 4
//@ launch k<float, V * 2, true><<<1, 32>>>(C + N / 2, N, N, 0 - N, alpha, alpha, half_of, N > 3, alpha, N, 7)
using real = double;
#define INDEX unsigned long long
template <typename T, int W, bool B>
__global__ void k(T* C, unsigned char u, std::uint16_t s, long l, T t, real d, __half h, bool b, __nv_bfloat16 f, INDEX i, int64_t const j) {}
)");
  Environment values = sizes_of(file, workloads(file).front());
  values["V"] = std::int64_t{4};
  const Plan plan = resolved(file, values);
  const auto& launch = std::get<Launch>(plan.steps.at(0));
  CHECK(launch.kernel == "k<float, 8, true>");
  CHECK(std::get<BufferArgument>(launch.arguments[0]).byte_offset == 400);
  CHECK(scalar<std::uint8_t>(launch.arguments[1]) == 200);
  CHECK(scalar<std::uint16_t>(launch.arguments[2]) == 200);
  CHECK(scalar<std::int64_t>(launch.arguments[3]) == -200);
  CHECK(scalar<float>(launch.arguments[4]) == 0.1f);
  CHECK(scalar<double>(launch.arguments[5]) == static_cast<double>(0.1f));
  CHECK(scalar<std::uint16_t>(launch.arguments[6]) == 0x2e66);
  CHECK(scalar<bool>(launch.arguments[7]) == true);
  CHECK(scalar<std::uint16_t>(launch.arguments[8]) == 0x3dcd);
  CHECK(scalar<std::uint64_t>(launch.arguments[9]) == 200);
  CHECK(scalar<std::int64_t>(launch.arguments[10]) == 7);
}

TEST_CASE("repeats are unrolled in order, with their variables") {
  const File file = parsed(R"(//@ size T = 3, N = 8
//@ output C: float32[T, N]
//@ scratch S: int32[1] = 0
//@ memset C = 255
//@ for t in 0..T {
//@   for u in t..2 launch k<<<1, 32>>>(C + t * N, u)
//@   memset S = 0
//@ }
__global__ void k(float* C, int u) {}
)");
  const Plan plan = resolved(file, sizes_of(file, workloads(file).front()));
  REQUIRE(plan.steps.size() == 1 + 2 + 1 + 1 + 1 + 1);
  CHECK(std::get<Memset>(plan.steps[0]).value == 255);
  CHECK(scalar<int>(std::get<Launch>(plan.steps[2]).arguments[1]) == 1);
  CHECK(std::get<BufferArgument>(std::get<Launch>(plan.steps[4]).arguments[0]).byte_offset == 32);
  CHECK(plan.buffers[1].role == PlanBuffer::Role::scratch);
  CHECK(plan.buffers[1].initial == 0.0);
}

TEST_CASE("steps under `when` run at the sizes where it holds, and some must") {
  const std::string source = R"(//@ size N = 8
//@ size N = 4096
//@ output C: float32[N]
//@ when N <= 1024 {
//@   memset C = 0
//@   launch small<<<1, 32>>>(C)
//@ }
//@ when N > 1024 && N < 100000 launch large<<<N, 32>>>(C)
__global__ void small(float* C) {}
__global__ void large(float* C) {}
)";
  const File file = parsed(source);
  const auto all = workloads(file);
  const Plan few = resolved(file, sizes_of(file, all.at(0))), many = resolved(file, sizes_of(file, all.at(1)));
  CHECK(few.steps.size() == 2);
  CHECK(few.kernels() == std::vector<std::string>{"small"});
  CHECK(many.kernels() == std::vector<std::string>{"large"});
  CHECK(print(parsed(print(file) + code(file))) == print(file));
  const auto none = resolve(file, {{"N", std::int64_t{100000}}});
  REQUIRE_FALSE(none);
  CHECK_THAT(none.error().message, containing("no `when` has any at these sizes"));
  CHECK_THAT(host_launcher(file), containing("if (cudal1_status == cudaSuccess && (") && containing(") != 0) {"));
  for (const auto& [wrong, said] : {std::pair{"//@ when M <= 2 {", "unknown name `M`"}, std::pair{"//@ when N <= 1024 {\n//@ }\n//@ when N > 0 {", "this `when` has no steps"}}) {
    std::string changed = source;
    changed.replace(changed.find("//@ when N <= 1024 {"), 20, wrong);
    const auto read = parse(changed, "a.cu");
    CHECK_THAT(read ? base::render(validate_task(*read)) : base::render(read.error()), containing(said));
  }
}

TEST_CASE("workloads are told apart by one size, by as few bounds as will do") {
  const std::map<std::string, std::int64_t> small{{"M", 8}, {"N", 16}}, middle{{"M", 8}, {"N", 64}}, large{{"M", 2}, {"N", 1024}};
  CHECK(dispatch_conditions({large, small, middle}, {0, 1, 1}) == std::vector<std::string>{"M <= 4", "M > 4"});
  CHECK(dispatch_conditions({small, middle, large}, {0, 1, 0}) == std::vector<std::string>{"(N <= 32) || (N > 256)", "N > 32 && N <= 256"});
  CHECK(dispatch_conditions({small, small}, {0, 1}).empty());
}

TEST_CASE("later size lines are workloads, and derived sizes are computed again") {
  const File file = parsed(R"(//@ size OH = (H + 2 * P - K) / S + 1, H = 32
//@ size K = 3, S = 1, P = 1 weight 2
//@ size H = 64, S = 2
//@ check H = 7, K = 5
//@ scalar area: float32 = OH * OH
//@ output C: float32[OH, OH]
//@ launch k<<<1, 32>>>(C, area)
__global__ void k(float* C, float area) {}
)");
  const auto all = workloads(file);
  REQUIRE(all.size() == 2);
  CHECK(all[0].weight == 2);
  CHECK(all[1].weight == 1);
  CHECK(sizes_of(file, all[0]).at("OH") == Value(std::int64_t{32}));
  CHECK(sizes_of(file, all[1]).at("OH") == Value(std::int64_t{32}));
  CHECK(sizes_of(file, all[1]).at("H") == Value(std::int64_t{64}));
  CHECK(sizes_of(file, checks(file).at(0)).at("OH") == Value(std::int64_t{5}));
  CHECK(sizes_of(file, checks(file).at(0)).at("area") == Value(25.0));
  const auto overridden = environment(file, all[0], {{"H", std::int64_t{9}}});
  REQUIRE(overridden);
  CHECK(overridden->at("OH") == Value(std::int64_t{9}));
  CHECK_FALSE(environment(file, all[0], {{"W", std::int64_t{9}}}));
}

TEST_CASE("conditions prune a family, the last tunable runs fastest") {
  const File file = parsed(R"(//@ output C: float32
//@ tune A = 1 | 2
//@ tune B = 10 | 20 if A * B < 40
//@ launch k<<<A, B>>>(C)
__global__ void k(float* C) {}
)");
  const auto members = family(file);
  REQUIRE(members);
  REQUIRE(members->size() == 3);
  CHECK(members->at(1) == Environment{{"A", std::int64_t{1}}, {"B", std::int64_t{20}}});
  CHECK(tunable_prelude({{"X", std::int64_t{1} << 40}}) == "constexpr long long X = 1099511627776;\n");
}

TEST_CASE("printed directives read back as the same file") {
  const std::string source = R"(//@ task t
//@ torch C = A // 2   // not a comment
//@ size N = 8, M = N + 1 weight 2
//@ check N = 3
//@ scalar a: float32 = 0.5 * N   // a comment
//@ input A: int32[N] ~ randint(0, 4)
//@ inout B: float32[N, M] ~ uniform(-1, 1)
//@ output C: int32[N]
//@ tolerance B: relative 1e-3 absolute 1e-5
//@ tolerance C = 0
//@ include "my headers"
//@ option --use_fast_math -DX=1
//@ tune V = 1 | 2 | 4 if V * 2 <= 8
//@ scratch S: float32[N * V] = 1
//@ memset S = 0
//@ for t in 0..2 {
//@   launch k<V, float><<<dim3(ceil_div(N, V), 1), min(32, 64), 4 * V>>>(A, B + t,
//@     C, a, N) cooperative cluster(1, 2)
//@ }
template <int V, typename T> __global__ void k(const int* A, T* B, int* C, T a, long n) {}
)";
  const File file = parsed(source);
  CHECK(file.torch->first == "C = A // 2   // not a comment");
  CHECK(file.options == std::vector<std::string>{"--use_fast_math", "-DX=1"});
  const File again = parsed(print(file) + code(file));
  CHECK(print(again) == print(file));
  CHECK(again.plan.size() == 2);
  CHECK(code(file).starts_with("template <int V"));
}

TEST_CASE("what stands under #ifndef __CUDACC_RTC__ is neither code nor a kernel") {
  const File file = parsed(R"(//@ output C: float32
//@ launch k<<<1, 1>>>(C)
__global__ void k(float* C) {}
#ifndef __CUDACC_RTC__
#if 1
__global__ void hidden(float* C) {}
#endif
int main() {}
#else
__device__ int kept;
#endif
)");
  CHECK(code(file) == "__global__ void k(float* C) {}\n__device__ int kept;\n");
  CHECK(unlaunched(file).empty());
}

TEST_CASE("directives in block comments and raw strings are none, CRLF and a byte order mark do no harm") {
  const File file = parsed("\xef\xbb\xbf//@ task t\r\n/*\n//@ task u\n*/\r\n//@ output C: float32\r\n");
  CHECK(file.task == "t");
  CHECK(file.buffers.at(0).name == "C");
  CHECK(file.source.starts_with("//@ task t"));  // a compiler would stumble over the mark behind tunables
}

TEST_CASE("members of structures are buffers that share a memory") {
  const std::string text = R"(//@ task    move
//@ size    N = 5
//@ struct  Body = position: float32[3], id: int32, mass: float64, marked: uint8
//@ inout   bodies: Body[N] ~ id: randint(0, N), mass: uniform(1, 2)
//@ input   by: float32[N]
//@ output  far: Body[N]
//@ tolerance bodies.mass = 1e-3
//@ launch  move<<<1, 32>>>(bodies + 2, by, far, N)
struct Body { float position[3]; int id; double mass; unsigned char marked; };
__global__ void move(Body* bodies, const float* by, Body* far, int n) {}
)";
  const auto file = parse(text, "move.cu");
  if (!file) FAIL(base::render(file.error()));
  REQUIRE(file->buffers.size() == 9);
  CHECK(file->buffers[2].name == "bodies.mass");
  CHECK(file->buffers[2].distribution);
  CHECK_FALSE(file->buffers[0].distribution);
  CHECK(file->structures.front().bytes == 32);
  const auto plan = resolve(*file, *environment(*file, workloads(*file).front()));
  if (!plan) FAIL(base::render(plan.error()));
  const PlanBuffer& mass = plan->buffers[2];
  CHECK(mass.bytes == 40);
  CHECK(mass.memory_bytes() == 160);
  CHECK(mass.element_at(3) == 3 * 32 + 16);
  CHECK(plan->buffers[0].element_at(4) == 32 + 4);
  CHECK(memory_of(plan->buffers, 3) == 0);
  CHECK(memory_of(plan->buffers, 4) == 4);
  CHECK(memory_of(plan->buffers, 8) == 5);
  const auto& arguments = std::get<Launch>(plan->steps.front()).arguments;
  CHECK(std::get<BufferArgument>(arguments[0]).buffer == 0);
  CHECK(std::get<BufferArgument>(arguments[0]).byte_offset == 64);
  CHECK(std::get<BufferArgument>(arguments[2]).buffer == 5);

  const std::string printed = print(*file);
  CHECK(printed.find("//@ struct  Body = position: float32[3] at 0, id: int32 at 12, mass: float64 at 16, marked: uint8 at 24 bytes 32\n") != std::string::npos);
  CHECK(printed.find("//@ inout   bodies: Body[N] ~ id: randint(0, N), mass: uniform(1, 2)\n") != std::string::npos);
  const auto again = parse(printed + text.substr(text.find("struct Body {")), "move.cu");
  if (!again) FAIL(base::render(again.error()));
  CHECK(print(*again) == printed);
  CHECK(output_file(*file, *file, {}).find("cudaError_t move(unsigned char* bodies, const float* by, unsigned char* far, long long N, cudaStream_t stream)") != std::string::npos);
}
