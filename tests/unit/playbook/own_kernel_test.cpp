// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "playbook/candidate.hpp"
#include "playbook/choice.hpp"
#include "playbook/golden.hpp"
#include "playbook/playbook.hpp"

#include <set>
#include <string>

using namespace cudal1;
using playbook::becomes;

namespace {

// The techniques of all candidates for a task without a torch line: buffers X and V are read, Y is written.
std::set<std::string> techniques(const std::string& launch, const std::string& kernel) {
  const task::Task task = task::from_source(
      "//@ size N = 64, M = 64\n//@ check N = 33, M = 70\n//@ input X: float32[N, M]\n//@ input V: float32[M]\n//@ output Y: float32[N, M]\n//@ launch " +
          launch + "\n" + kernel,
      "own.cu");
  std::set<std::string> result;
  for (const auto& candidate : playbook::candidates_for(task).list)
    for (const auto& technique : candidate.techniques) result.insert(technique.name());
  return result;
}

const std::string plane = "k<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(X, V, Y, N, M)";
const std::string line = "k<<<ceil_div(N, 64), 64>>>(X, V, Y, N, M)";

// `body` for every element of a plane, or for every row.
std::string of_plane(const std::string& body) {
  return "__global__ void k(const float* X, const float* V, float* Y, int N, int M) {\n"
         "  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (row >= N || column >= M) return;\n" + body + "}\n";
}
std::string of_rows(const std::string& body) {
  return "__global__ void k(const float* X, const float* V, float* Y, int N, int M) {\n"
         "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n  if (row >= N) return;\n" + body + "}\n";
}

}  // namespace

TEST_CASE("a product without a torch line is staged through shared memory, with several results per thread") {
  becomes("own_staging", "own kernel/staging, read-only");
}
TEST_CASE("what all items of a line read alike is staged once per block") { becomes("own_staging_line", "own kernel/staging, read-only"); }
TEST_CASE("stores that lie across are turned in shared memory") { becomes("own_turning", "own kernel/turning, read-only"); }
TEST_CASE("rows that threads walked alone are walked by teams") { becomes("own_teams", "own kernel/teams, read-only"); }
TEST_CASE("neighbouring items are read and written four at a time") { becomes("own_vectors", "own kernel/vectors, read-only"); }
TEST_CASE("a thread takes several items a block's width apart") { becomes("own_coarsening", "own kernel/coarsening, read-only"); }
TEST_CASE("without a torch line geometry, read-only access and unrolling are tried") {
  becomes("own_unrolling", "own kernel/geometry, read-only, unrolling");
}

TEST_CASE("nothing is missed of a torch line where there is none") {
  const auto candidates = playbook::candidates_for(task::load(playbook::golden("own_vectors.before.cu")));
  CHECK_FALSE(candidates.list.empty());
  CHECK(candidates.refusal.empty());
}

TEST_CASE("where nothing of a torch line is faster than the task's own kernel, that is rewritten") {
  const task::Task task = task::from_source(
      "//@ torch Y = X[1:-1, 1:-1] + X[:-2, 1:-1] + X[2:, 1:-1]\n//@ size N = 64, M = 64\n//@ check N = 33, M = 70\n//@ input X: float32[N, M]\n"
      "//@ output Y: float32[N - 2, M - 2]\n//@ launch stencil<<<dim3(ceil_div(M - 2, 32), ceil_div(N - 2, 8)), dim3(32, 8)>>>(X, Y, N, M)\n"
      "__global__ void stencil(const float* X, float* Y, int N, int M) {\n"
      "  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= N - 2 || j >= M - 2) return;\n"
      "  Y[i * (M - 2) + j] = X[(i + 1) * M + j + 1] + X[i * M + j + 1] + X[(i + 2) * M + j + 1];\n}\n",
      "stencil.cu");
  model::Question next;
  next.key.round = 2;
  next.key.sample = next.samples = 1;
  next.earlier.resize(1);
  next.earlier[0].source = "// playbook: as written/fused\n";
  next.earlier[0].judgement.verdict = outcome::Verdict::slower;
  const auto model = playbook::open(task);
  next.earlier[0].judgement.speedup = outcome::Speedup{0.3, 0.2, 0.4};
  CHECK_THAT(model->answer(next, {}).text, containing("// playbook: own kernel/"));
  next.earlier[0].judgement.speedup = outcome::Speedup{1.3, 1.2, 1.4};
  CHECK(model->answer(next, {}).text.find("// playbook: own kernel/") == std::string::npos);
  next.earlier.clear();
  CHECK(model->answer(next, {}).text.find("// playbook: own kernel/") == std::string::npos);
}

TEST_CASE("of a kernel's own changes each can be taken out again that does not carry another") {
  const auto candidates = playbook::candidates_for(task::load(playbook::golden("own_staging.before.cu"))).list;
  const auto without = [&](const std::vector<std::string>& undone) {
    const auto chosen = playbook::choose_without(candidates, "own kernel/staging, read-only", undone);
    return chosen ? candidates[*chosen].id : "none";
  };
  CHECK(without({"read-only access"}) == "own kernel/staging");
  CHECK(without({"shared-memory tiling", "register tiling"}) == "own kernel/read-only");
  CHECK(without({"shared-memory tiling"}) == "none");  // several results a thread without tiles to read from
}

TEST_CASE("a kernel that is not plainly of a rule's form is left alone") {
  const std::string product = "  float sum = 0;\n  for (int k = 0; k < M; ++k) sum += X[row * M + k] * V[k];\n  Y[row * M + column] = sum;\n";
  CHECK(techniques(plane, of_plane(product)).count("shared-memory tiling") == 1);

  SECTION("a load that a condition guards is not made for everybody") {
    const auto found = techniques(plane, of_plane("  float sum = 0;\n  for (int k = 0; k < M; ++k)\n    if (k > row) sum += X[k * M + row] * V[k];\n"
                                                  "  Y[row * M + column] = sum;\n"));
    CHECK(found.count("shared-memory tiling") == 0);
    CHECK(techniques(plane, of_plane("  Y[row * M + column] = column > 0 ? X[row * M + column] : 0;\n")).count("vectorised access") == 1);
    CHECK(techniques(plane, of_plane("  if (column > 2) Y[row * M + column] = column > 3 ? X[row * M + column] : 0;\n")).count("vectorised access") == 0);
  }
  SECTION("bounds that differ between the items of a block") {
    CHECK(techniques(plane, of_plane("  float sum = 0;\n  for (int k = 0; k < row; ++k) sum += X[row * M + k] * V[k];\n  Y[row * M + column] = sum;\n"))
              .count("shared-memory tiling") == 0);
  }
  SECTION("what is written is not what is staged") {
    CHECK(techniques(plane, of_plane("  float sum = 0;\n  for (int k = 0; k < M; ++k) sum += Y[k * M + column];\n  Y[row * M + column] = sum;\n"))
              .count("shared-memory tiling") == 0);
  }
  SECTION("shared memory and barriers of its own") {
    CHECK(techniques(plane, of_plane("  __shared__ float s[16];\n  s[threadIdx.x] = 0;\n  __syncthreads();\n" + product)).count("shared-memory tiling") == 0);
  }
  SECTION("two pointers to one buffer") {
    CHECK(techniques("k<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(Y, V, Y, N, M)", of_plane(product)).count("shared-memory tiling") == 0);
  }
  SECTION("a kernel that is launched twice") {
    CHECK(techniques("k<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(X, V, Y, N, M)\n//@ for t in 0..2 launch k<<<1, dim3(16, 16)>>>(X, V, Y, N, M)", of_plane(product))
              .count("shared-memory tiling") == 0);
  }
  SECTION("a guard that leaves a coordinate out") {
    CHECK(techniques(plane, "__global__ void k(const float* X, const float* V, float* Y, int N, int M) {\n"
                            "  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;\n"
                            "  if (row >= N) return;\n" + product + "}\n")
              .count("shared-memory tiling") == 0);
  }
  SECTION("a row whose steps depend on one another") {
    CHECK(techniques(line, of_rows("  float sum = 0;\n  for (int i = 0; i < M; ++i) sum += X[row * M + i];\n  Y[row] = sum;\n")).count("warp reduction") == 1);
    CHECK(techniques(line, of_rows("  float sum = 0;\n  for (int i = 0; i < M; ++i) {\n    sum += X[row * M + i];\n    Y[row * M + i] = sum;\n  }\n"))
              .count("warp reduction") == 0);
    CHECK(techniques(line, of_rows("  for (int i = 1; i < M; ++i) Y[row * M + i] = X[row * M + i] + Y[row * M + i - 1];\n")).count("warp reduction") == 0);
  }
  SECTION("steps of two loops that would fall to different threads") {
    const std::string first = "  for (int i = 0; i < M; ++i) Y[row * M + i] = X[row * M + i];\n";
    CHECK(techniques(line, of_rows(first + "  for (int i = 0; i < M; ++i) Y[row * M + i] = 2 * Y[row * M + i];\n")).count("warp reduction") == 1);
    CHECK(techniques(line, of_rows(first + "  for (int i = 1; i < M; ++i) Y[row * M + i] = 2 * Y[row * M + i];\n")).count("warp reduction") == 0);
    CHECK(techniques(line, of_rows(first + "  Y[row * M] = 0;\n")).count("warp reduction") == 0);
  }
  SECTION("columns, which neighbouring threads walk side by side") {
    CHECK(techniques(line, of_rows("  float sum = 0;\n  for (int i = 0; i < M; ++i) sum += X[i * M + row];\n  Y[row] = sum;\n")).count("warp reduction") == 0);
  }
}
