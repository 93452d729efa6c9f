// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "base/file.hpp"
#include "kernel/plan.hpp"
#include "model/answer.hpp"
#include "playbook/candidate.hpp"
#include "playbook/choice.hpp"
#include "playbook/golden.hpp"
#include "playbook/playbook.hpp"
#include "playbook/reply.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

using namespace cudal1;
using playbook::becomes;
using playbook::find;
using playbook::golden;

namespace {

model::Question question(int round, int sample) {
  model::Question result;
  result.key = {round, sample, 0};
  result.device.memory_bytes_per_second = 4.8e12;
  result.device.fp32_flops = 6e13;
  return result;
}

model::Exemplar judged(const playbook::Candidate& candidate, double speedup) {
  model::Exemplar exemplar;
  exemplar.id = "r01-s01";
  exemplar.source = candidate.source;
  exemplar.judgement.verdict = outcome::Verdict::faster;
  exemplar.judgement.speedup = outcome::Speedup{speedup, speedup, speedup};
  return exemplar;
}

}  // namespace

TEST_CASE("a diagonal matrix on the left scales rows") { becomes("diagonal", "diagonal/fused"); }
TEST_CASE("a diagonal matrix on the right scales columns") { becomes("diagonal_right", "diagonal/fused"); }
TEST_CASE("a sum over the columns of a product sums its right factor first") {
  becomes("linear_sums", "linear sums/fused");
}
TEST_CASE("a mean over a layer's outputs takes the mean of its weights and of its bias") { becomes("summed_bias", "linear sums/fused"); }
TEST_CASE("a sum over the channels of a convolution sums its weights") { becomes("summed_channels", "linear sums/fused"); }
TEST_CASE("a mean over all positions of a convolution sums windows of its input") {
  becomes("window_sums", "linear sums/fused");
}
TEST_CASE("a chain of matrices is multiplied in the cheaper order") { becomes("chain_order", "chain order/fused"); }
TEST_CASE("a chain that ends in a vector is multiplied from its end") { becomes("chain_with_vector", "chain order/fused"); }
TEST_CASE("the transpose of a product is the product of the transposes") {
  becomes("transposed_product", "transposed product/fused");
}
TEST_CASE("a product with the identity is its other factor") { becomes("identity", "diagonal/fused"); }
TEST_CASE("a product with a multiple of the identity is a multiple of its other factor") { becomes("scaled_identity", "diagonal/fused"); }
TEST_CASE("a product with a one-hot matrix takes the rows that it names") { becomes("one_hot", "one-hot/fused"); }
TEST_CASE("a product with a transposed one-hot matrix takes columns") { becomes("one_hot_columns", "one-hot/fused"); }
TEST_CASE("an embedding of a batch of sentences takes rows of its table") { becomes("embedding", "as written/fused"); }
TEST_CASE("a symmetric matrix is not transposed") { becomes("symmetric", "symmetric/fused"); }
TEST_CASE("a product of triangular matrices needs no mask, and no terms that are zero") { becomes("triangular", "triangular/fused"); }
TEST_CASE("a transposed triangle is the other one, and the tensor cores skip its zeros") {
  becomes("triangular_on_tensor_cores", "triangular/tensor cores");
}
TEST_CASE("a softmax forgets what is added to whole rows") { becomes("shift", "shift/fused"); }
TEST_CASE("numbers of the line are put together") { becomes("constants", "constants/fused"); }
TEST_CASE("a division by a root or a power of two becomes a product") { becomes("strength", "strength/fused"); }
TEST_CASE("a mean over pools that tile their input is a mean of the input") {
  becomes("pooled_mean", "linear sums+strength/fused");
}
TEST_CASE("a sum over pools that overlap sums windows of the input") {
  becomes("overlapping_pooled_sum", "linear sums/fused");
}
TEST_CASE("a ReLU of what is never negative goes away") { becomes("dead_operations", "dead operations/fused"); }
TEST_CASE("no clamp is needed at one above a softmax") { becomes("certain_clamp", "dead operations/fused"); }
TEST_CASE("signs that a square forgets, or that come twice, go away") { becomes("lost_sign", "dead operations/fused"); }
TEST_CASE("pointwise operations with broadcasting become one kernel") { becomes("pointwise", "as written/fused"); }
TEST_CASE("a softmax of rows keeps them in registers") { becomes("rows", "as written/fused"); }
TEST_CASE("a channel of a batch lies in pieces that are read in packs") { becomes("pieces", "as written/fused"); }
TEST_CASE("a softmax of columns keeps them in registers") { becomes("kept_columns", "as written/fused"); }
TEST_CASE("a thread takes four neighbouring columns at once") { becomes("packed_columns", "as written/packed columns"); }
TEST_CASE("a line longer than a block's registers is held by several blocks") { becomes("team", "as written/teams"); }
TEST_CASE("blocks that hold a line together wait once for its mean and variance") { becomes("meeting", "as written/teams that meet once"); }
TEST_CASE("powers that are kept about a block's own maximum are scaled when the line's is known") {
  becomes("meeting_softmax", "as written/teams that meet once");
}
TEST_CASE("blocks come back to a line when they have reduced the next one") { becomes("trailing", "as written/trailing teams"); }
TEST_CASE("few lines too long for all registers are reduced by many blocks, one reduction after the other") {
  becomes("apart", "as written/reductions apart");
  CHECK(playbook::candidates_for(task::load(golden("apart.before.cu"))).list.front().id == "as written/reductions apart");
}
TEST_CASE("blocks that hold a line together meet for each of two reductions that are no pair") {
  const auto candidates = playbook::candidates_for(task::from_source(
      "//@ torch   Y = (X - X.mean(dim=1, keepdim=True)) * X.abs().amax(dim=1, keepdim=True)\n//@ size    N = 64, M = 131072\n"
      "//@ input   X: float32[N, M]\n//@ output  Y: float32[N, M]\n//@ launch  k<<<1, 1>>>(X, Y)\n"
      "__global__ void k(const float* X, float* Y) {}\n",
      "no_pair.cu"));
  const auto* teams = find(candidates, "as written/teams");
  REQUIRE(teams != nullptr);
  CHECK_THAT(teams->source, containing("reduce_team<TEAM>"));
  for (const auto& candidate : candidates.list) CHECK_THAT(candidate.source, !containing("give("));
}
TEST_CASE("blocks that walk many rows have the next one on its way meanwhile") { becomes("ahead", "as written/ahead"); }
TEST_CASE("several norms of one tensor take one pass over it") { becomes("several_norms", "as written/fused"); }
TEST_CASE("an argmax of rows carries the index along") { becomes("argmax", "as written/fused"); }
TEST_CASE("a mean of columns has neighbouring threads read neighbours") { becomes("columns", "as written/fused"); }
TEST_CASE("one long sum is split over many blocks and added in a fixed order") {
  becomes("split_sum", "as written/fused");
}
TEST_CASE("a sum over three dimensions reads what stands for one of them by its place") { becomes("broadcast_total", "as written/fused"); }
TEST_CASE("entries that a mask made infinite have no share of a softmax") { becomes("masked_softmax", "as written/fused"); }
TEST_CASE("a transposition turns tiles around in shared memory") { becomes("transposition", "as written/fused"); }
TEST_CASE("a linear layer takes its bias and activation into the product") { becomes("product", "as written/fused"); }
TEST_CASE("an einsum is a product of matrices, turned where it lies turned") { becomes("einsum", "as written/fused"); }
TEST_CASE("batch dimensions that one factor has alone are rows") { becomes("shared_batches", "as written/fused"); }
TEST_CASE("factors of 16 bits are multiplied in one product on the tensor cores, and their results kept in float until they are stored") {
  becomes("half_product", "as written/fused");
}
TEST_CASE("a product of large factors goes to the tensor cores in three parts") {
  becomes("product_on_tensor_cores", "as written/tensor cores");
}
TEST_CASE("a deep product of few tiles is summed in parts, in a fixed order") {
  becomes("deep_product", "as written/tensor cores");
}
TEST_CASE("a max pool takes its activation along") { becomes("max_pool", "as written/fused"); }
TEST_CASE("a max pool of volumes makes several planes from what it has loaded") { becomes("max_pool_3d", "as written/fused"); }
TEST_CASE("a mean over windows that the edge cuts counts what is there") { becomes("mean_pool", "as written/fused"); }
TEST_CASE("a convolution is a product of gathered tiles") { becomes("convolution", "as written/fused"); }
TEST_CASE("a transposed convolution multiplies only the taps that meet an input") {
  becomes("transposed_convolution", "as written/fused");
}
TEST_CASE("a convolution on the tensor cores has its inputs in shared memory once for all taps") {
  becomes("staged_convolution", "as written/tensor cores");
  const auto candidates = playbook::candidates_for(task::load(golden("staged_convolution.before.cu")));
  const auto* staged = find(candidates, "as written/tensor cores");
  REQUIRE(staged != nullptr);
  // Beyond 48 KiB a GPU gives only what is asked for, and the launch names all of it.
  CHECK(staged->source.find("  __shared__") == std::string::npos);
}
TEST_CASE("a transposed convolution on the tensor cores has the weights of each residue put side by side") {
  becomes("transposed_on_tensor_cores", "as written/tensor cores");
}
TEST_CASE("inputs that are too many for shared memory are gathered tap by tap") {
  becomes("convolution_on_tensor_cores", "as written/tensor cores, gathered");
  const auto candidates = playbook::candidates_for(task::load(golden("far_taps.before.cu")));
  const auto* gathered = find(candidates, "as written/tensor cores");
  REQUIRE(gathered != nullptr);
  CHECK_THAT(gathered->source, containing("gathered."));
  CHECK(find(candidates, "as written/tensor cores, gathered") == nullptr);
}
TEST_CASE("a convolution by single elements is a product of matrices, its bias and activation in it") {
  becomes("pointwise_convolution", "as written/tensor cores");
  const auto candidates = playbook::candidates_for(task::load(golden("pointwise_convolution.before.cu")));
  const auto* gathered = find(candidates, "as written/tensor cores, gathered");
  REQUIRE(gathered != nullptr);
  CHECK_THAT(gathered->source, containing("tensor_convolution"));
}
TEST_CASE("a depthwise convolution shares sixteen bytes of a row at a time") { becomes("depthwise", "as written/fused"); }
TEST_CASE("a convolution of few channels is computed directly") { becomes("direct_convolution", "as written/fused"); }
TEST_CASE("threads of a depthwise convolution whose rows are not aligned make one column each") { becomes("depthwise_columns", "as written/columns"); }
TEST_CASE("threads of a pool whose rows are not aligned make one column each") { becomes("pool_of_unaligned_rows", "as written/columns"); }
TEST_CASE("of a pool with aligned rows there is no other form by columns") {
  CHECK(find(playbook::candidates_for(task::load(golden("max_pool_3d.before.cu"))), "as written/columns") == nullptr);
}
TEST_CASE("what should be fastest is offered first") {
  const auto first = [](const char* name) { return playbook::candidates_for(task::load(golden(name))).list.front().id; };
  CHECK(first("packed_columns.before.cu") == "as written/packed columns");
  CHECK(first("pool_of_unaligned_rows.before.cu") == "as written/columns");
  CHECK(first("spelt_attention.before.cu") == "as written/fused");
}
TEST_CASE("a scan of rows carries on from piece to piece") { becomes("scan", "as written/fused"); }
TEST_CASE("a recurrent layer is walked by a cluster that keeps its weights in shared memory") {
  outcome::DeviceFacts hopper;
  hopper.major = 9;
  becomes("lstm", "as written/fused", hopper);
}
TEST_CASE("integers are scanned as integers") { becomes("integer_scan", "as written/fused"); }
TEST_CASE("a scan of columns gives every thread one") { becomes("scan_of_columns", "as written/fused"); }
TEST_CASE("a scan computes what it scans when it loads it") { becomes("masked_scan", "as written/fused"); }
TEST_CASE("a scan between two flips runs from the end") { becomes("reversed_scan", "reversed scan/fused"); }
TEST_CASE("a cross entropy reads every row once, and the score of its class where it lies") { becomes("cross_entropy", "as written/fused"); }
TEST_CASE("weights of classes and smoothed labels take another sum of the same pass") { becomes("smoothed_loss", "as written/fused"); }
TEST_CASE("a cross entropy of probabilities is a sum over each row") { becomes("loss_of_probabilities", "as written/fused"); }
TEST_CASE("a mean over rows is added up by the blocks that walk them") { becomes("total_of_rows", "as written/totals"); }
TEST_CASE("several long sums of one pass are split over many blocks together") { becomes("split_sums", "strength/fused"); }
TEST_CASE("a mean squared error is one long sum") { becomes("mse_loss", "as written/fused"); }
TEST_CASE("a smooth L1 loss is one long sum") { becomes("smooth_l1_loss", "as written/fused"); }
TEST_CASE("a divergence divides by the batch") { becomes("kl_div", "as written/fused"); }
TEST_CASE("a hinge loss broadcasts its targets") { becomes("hinge_loss", "as written/fused"); }
TEST_CASE("a cosine loss takes three sums from one pass over a row") { becomes("cosine_loss", "as written/fused"); }
TEST_CASE("a triplet loss keeps its distances in registers") { becomes("triplet_loss", "as written/fused"); }
TEST_CASE("an argmin of columns carries the index along") { becomes("argmin_columns", "as written/fused"); }
TEST_CASE("the parts of a concatenation go straight to their places") { becomes("cat", "as written/fused"); }
TEST_CASE("padding is made of parts side by side") { becomes("padded", "as written/fused"); }
TEST_CASE("slices may begin and end at places that sizes say") { becomes("half_slices", "as written/fused"); }
TEST_CASE("quotients of integers are rounded down, and beyond the end nothing is divided by zero") { becomes("integer_quotients", "as written/fused"); }
TEST_CASE("slices are read where they lie") { becomes("slices", "as written/fused"); }
TEST_CASE("attention never writes its scores") { becomes("attention", "as written/fused"); }
TEST_CASE("the plainest form of attention computes it in three steps, without tensor cores") {
  const auto candidates = playbook::candidates_for(task::load(golden("attention.before.cu")));
  const auto* plain = find(candidates, "as written/plain");
  REQUIRE(plain != nullptr);
  CHECK(plain->kernels > 2);
  CHECK(plain->source.find("mma.sync") == std::string::npos);
}
TEST_CASE("factors of float64 are multiplied by tensor cores that have them, in tiles whose sums fit in registers") {
  const auto product = task::from_source("//@ task doubles\n//@ torch y = a @ b\n//@ input a: float64[2048, 64]\n//@ input b: float64[64, 2048]\n//@ output y: float64[2048, 2048]\n", "doubles.py", {}, std::size_t{1} << 40);
  const auto candidates = playbook::candidates_for(product).list;
  REQUIRE(!candidates.empty());
  CHECK_THAT(candidates.front().source, containing("TILE_M = 128 | 64 if TILE_N + TILE_M <= 192"));
  for (const auto& each : candidates) CHECK_THAT(each.source, containing("double_tile<"));
  outcome::DeviceFacts t4;
  t4.name = "T4", t4.major = 7, t4.minor = 5;
  CHECK(playbook::candidates_for(product, outcome::Precision::fp32, t4).list.empty());
}
TEST_CASE("what is given and a result at once is written in place only where no other element is read from there") {
  outcome::DeviceFacts hopper;
  hopper.major = 9;
  const auto written = [&](const std::string& id, const std::string& line, const std::string& buffers) {
    const auto candidates = playbook::candidates_for(task::from_source("//@ task in_place\n//@ torch " + line + "\n//@ size N = 4096\n" + buffers, "in_place.py", {}, std::size_t{1} << 40), outcome::Precision::fp32, hopper);
    const auto* found = find(candidates, id);
    REQUIRE(found != nullptr);
    return *found;
  };
  const std::string line = "c = 2 * (a @ b) + 0.5 * c", buffers = "//@ input a: float32[N, N]\n//@ input b: float32[N, N]\n//@ inout c: float32[N, N]\n";
  const auto gemm = written("as written/tensor cores", line, buffers);
  CHECK(gemm.kernels == 1);
  CHECK_THAT(gemm.source, containing("float* __restrict__ c") && !containing("const float* __restrict__ c") && !containing("//@ scratch"));
  CHECK_THAT(written("as written/warpgroups", line, buffers).source, containing("//@ scratch S: float32[N, N]"));
  CHECK_THAT(written("as written/fused", "y = a @ x - y", "//@ input a: float32[N, N]\n//@ input x: float32[N]\n//@ inout y: float32[N]\n").source, containing("//@ scratch"));
  const auto itself = written("as written/tensor cores", "c = c.T @ c + c", "//@ inout c: float32[N, N]\n");
  CHECK(itself.kernels == 2);
  CHECK_THAT(itself.source, containing("//@ scratch"));
}
TEST_CASE("factors of 16 bits are read as they are unless a grid has too few layers for them") {
  const auto source = [](int batches) {
    return playbook::candidates_for(task::from_source(fmt::format("//@ task many\n//@ torch y = torch.matmul(a, b)\n//@ input a: float16[{0}, 16, 16]\n//@ input b: float16[{0}, 16, 16]\n"
                                                                  "//@ output y: float16[{0}, 16, 16]\n", batches),
                                                      "many.py", {}, std::size_t{1} << 40)).list.front().source;
  };
  CHECK_THAT(source(60'000), containing("half_tile<"));
  CHECK(source(70'000).find("half_tile<") == std::string::npos);
}
TEST_CASE("attention with few queries goes to the tensor cores in parts of its keys") {
  becomes("split_attention", "as written/fused");
}
TEST_CASE("attention that is spelt out goes to the tensor cores as one kernel") { becomes("spelt_attention", "as written/fused"); }

TEST_CASE("attention is known by a softmax of products over keys, however it is scaled, and by no other") {
  const std::string text = base::read_file(golden("spelt_attention.before.cu"));
  const std::string line = "torch.matmul(torch.softmax(torch.matmul(Q, K.transpose(-2, -1)) / 8.0, dim=-1), V)";
  REQUIRE(text.find(line) != std::string::npos);
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "spelt_attention.cu";
  const auto online = [&](const std::string& instead) {
    std::string other = text;
    base::write_file(path, other.replace(other.find(line), line.size(), instead));
    const auto candidates = playbook::candidates_for(task::load(path));
    const auto* candidate = find(candidates, "as written/fused");
    INFO(instead << ": " << candidates.refusal);
    REQUIRE(candidate != nullptr);
    return std::any_of(candidate->techniques.begin(), candidate->techniques.end(), [](const auto& each) { return each.technique == outcome::Technique::online_softmax; });
  };
  CHECK(online(line));
  CHECK(online("F.softmax(Q @ K.mT, dim=2) @ V"));
  CHECK(online("(0.125 * (Q @ K.mT)).softmax(-1) @ V"));
  CHECK(online("F.softmax(Q @ K.mT / math.sqrt(H), dim=-1) @ V"));
  CHECK_FALSE(online("F.softmax(Q @ K.mT, dim=1) @ V"));
  CHECK_FALSE(online("F.softmax(8.0 / (Q @ K.mT), dim=-1) @ V"));
  CHECK_FALSE(online("F.softmax((Q @ K.mT) * V.mean(), dim=-1) @ V"));
  CHECK_FALSE(online("F.softmax(Q @ K[:, :8].mT, dim=-1) @ V[:, :8]"));
  std::filesystem::remove(path);
}

TEST_CASE("a value that could be computed on the way is written out by a kernel of its own") { becomes("cut", "as written/fused, cut after gelu"); }

TEST_CASE("the rounds explore the cheapest cuts of the cheapest plan, three at the most") {
  const task::Task task = task::load(golden("cut.before.cu"));
  const auto candidates = playbook::candidates_for(task).list;
  model::Question next = question(1, 1);
  next.samples = 1;
  std::size_t cuts = 0;
  while (const auto chosen = playbook::choose(candidates, next)) {
    const playbook::Candidate& candidate = candidates[*chosen];
    if (candidate.id.find(", cut after ") != std::string::npos) {
      ++cuts;
      CHECK(candidate.kernels == candidates.front().kernels + 1);
      CHECK(candidate.techniques.back().technique == outcome::Technique::separate_kernels);
    }
    next.earlier.push_back(judged(candidate, 20 - static_cast<double>(next.earlier.size())));
    ++next.key.round;
    REQUIRE(next.key.round < 50);
  }
  CHECK(cuts >= 1);
  CHECK(std::count_if(candidates.begin(), candidates.end(), [](const auto& each) { return each.id.find(", cut after ") != std::string::npos; }) == 3);
}

TEST_CASE("masks, which are made of coordinates alone, are no place for a cut") {
  for (const auto& candidate : playbook::candidates_for(task::load(golden("triangular.before.cu"))).list)
    CHECK(candidate.id.find(", cut after le") == std::string::npos);
}

TEST_CASE("factors are rounded on the tensor cores where the run's precision allows it") {
  for (const auto& [name, id] : {std::pair{"product_on_tensor_cores", "as written/tensor cores"}, {"convolution_on_tensor_cores", "as written/tensor cores"},
                                 {"split_attention", "as written/fused"}}) {
    const task::Task task = task::load(golden(std::string(name) + ".before.cu"));
    const auto exact = playbook::candidates_for(task), rounded = playbook::candidates_for(task, outcome::Precision::tf32);
    const auto *as_float = find(exact, id), *as_tf32 = find(rounded, id);
    REQUIRE((as_float != nullptr && as_tf32 != nullptr));
    CHECK_THAT(as_float->source, containing("EXACT = true"));
    CHECK_THAT(as_tf32->source, containing("EXACT = false"));
    CHECK(as_tf32->total.operations < 0.7 * as_float->total.operations);
  }
}

TEST_CASE("places beyond 32 bits are converted as C++ has it") {
  const auto candidates = playbook::candidates_for(task::from_source("//@ task t\n//@ torch y = torch.relu(x)\n//@ input x: float32[4096, 393216]\n"
                                                                     "//@ output y: float32[4096, 393216]\n",
                                                                     "relu.py", {}, std::size_t{1} << 40));
  REQUIRE_FALSE(candidates.list.empty());
  for (const auto& candidate : candidates.list) {
    CHECK(candidate.source.find("long long(") == std::string::npos);
    CHECK_THAT(candidate.source, containing("(long long)("));
  }
}

TEST_CASE("in the reference's precision the factors of convolutions are rounded, and those of products are not") {
  for (const auto& [name, wanted] : {std::pair{"product_on_tensor_cores", "EXACT = true"}, {"convolution_on_tensor_cores", "EXACT = false"},
                                     {"split_attention", "EXACT = true"}}) {
    const auto candidates = playbook::candidates_for(task::load(golden(std::string(name) + ".before.cu")), outcome::Precision::reference);
    const auto* found = find(candidates, std::string(name) == "split_attention" ? "as written/fused" : "as written/tensor cores");
    REQUIRE(found != nullptr);
    CHECK_THAT(found->source, containing(wanted));
  }
}

TEST_CASE("every candidate for every example is a kernel file that binds and plans at all sizes") {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(CUDAL1_SOURCE_DIR) / "examples")) {
    if (entry.path().extension() != ".cu") continue;
    const task::Task task = task::load(entry.path());
    const auto candidates = playbook::candidates_for(task);
    INFO(entry.path() << ": " << candidates.refusal);
    REQUIRE_FALSE(candidates.list.empty());
    for (const auto& candidate : candidates.list) {
      INFO(candidate.id << "\n" << candidate.source);
      const auto file = kernel::parse(candidate.source, "answer.cu");
      REQUIRE(file.has_value());
      const auto bound = kernel::bind(task.file, *file);
      REQUIRE(bound.has_value());
      const auto family = kernel::family(*bound);
      REQUIRE(family.has_value());
      CHECK(family->size() <= 9);
      for (const auto& workload : {task.workloads.front(), task.checks.front()})
        for (const auto& member : *family) {
          kernel::Environment environment = workload.environment;
          environment.insert(member.begin(), member.end());
          CHECK(kernel::resolve(*bound, environment).has_value());
        }
    }
    ++count;
  }
  CHECK(count >= 10);
}

TEST_CASE("a form that is not tuned fits a block as well") {
  const auto candidates = playbook::candidates_for(task::from_source("//@ torch   Y = torch.softmax(X, dim=0)\n//@ size    N = 300, M = 60\n"
                                                                     "//@ input   X: float32[N, M]\n//@ output  Y: float32[N, M]\n"
                                                                     "//@ launch  k<<<1, 1>>>(X, Y)\n__global__ void k(const float* X, float* Y) {}\n",
                                                                     "columns.cu"));
  REQUIRE(find(candidates, "as written/plain") != nullptr);
  CHECK_THAT(find(candidates, "as written/plain")->source, containing("LINES = 32\n"));
}

TEST_CASE("a reply has the three sections, names its techniques and repeats for an equal question") {
  const task::Task task = task::load(golden("diagonal.before.cu"));
  const auto model = playbook::open(task);
  const model::Reply reply = model->answer(question(1, 1), {});
  REQUIRE(reply.status == model::Reply::Status::ok);
  const auto answer = model::parse_answer(reply.text);
  REQUIRE(answer.has_value());
  CHECK_FALSE(answer->techniques.empty());
  CHECK(answer->techniques.front() == "algebra");
  CHECK_THAT(answer->analysis, containing("MiB"));
  CHECK(kernel::parse(answer->source, "answer.cu").has_value());
  CHECK(playbook::open(task)->answer(question(1, 1), {}).text == reply.text);
}

TEST_CASE("the labels of a reply are its techniques, each once, by the names that all parts know") {
  for (const char* name : {"diagonal", "dead_operations", "rows", "team", "product_on_tensor_cores", "split_attention", "max_pool", "scan"}) {
    const task::Task task = task::load(golden(std::string(name) + ".before.cu"));
    const auto candidates = playbook::candidates_for(task);
    for (const auto& candidate : candidates.list) {
      std::vector<std::string> labels;
      for (const auto& technique : candidate.techniques) labels.push_back(technique.name());
      INFO(name << ": " << candidate.id);
      CHECK(std::set(labels.begin(), labels.end()).size() == labels.size());
      const auto answer = model::parse_answer(playbook::write_reply(task, candidate, question(1, 1), candidates.list));
      REQUIRE(answer.has_value());
      CHECK(answer->techniques == labels);
    }
  }
}

TEST_CASE("the analysis argues from the figures it was shown") {
  const task::Task task = task::load(golden("rows.before.cu"));
  const auto candidates = playbook::candidates_for(task);
  model::Question next = question(2, 1);
  const auto measured = [&](const char* name, const char* id, double speedup, double milliseconds, double touched) {
    model::Exemplar exemplar = judged(*find(candidates, id), speedup);
    exemplar.id = name;
    outcome::WorkloadTiming timing;
    timing.reference_ms = 1;
    timing.variant_ms = milliseconds;
    timing.share_of_limit = 0.8;
    timing.limited_by = "memory bandwidth";
    exemplar.judgement.workloads = {timing};
    exemplar.judgement.counters.global_load_bytes = 1024;
    exemplar.judgement.counters.global_load_sectors = touched * 1024 / 32;
    return exemplar;
  };
  next.earlier = next.exemplars = {measured("r01-s02", "as written/reread", 2, 0.5, 1), measured("r01-s01", "as written/fused", 4, 0.25, 3)};
  const std::string text = playbook::open(task)->answer(next, {}).text;
  CHECK_THAT(text, containing("`r01-s01` is 2.00x as fast as `r01-s02`: `r01-s01` adds register caching"));
  CHECK_THAT(text, containing("Its accesses touch 3.0 times the bytes that its threads ask for"));
  CHECK(text.find("touch 1.0 times") == std::string::npos);
  CHECK_THAT(text, containing("The fastest so far, `r01-s01`, takes 0.25 ms: at most 1.25x is left to the speed of light."));
  CHECK_THAT(text, containing("Bottleneck: memory bandwidth. Method: "));
  next.earlier[0].judgement.speedup = next.exemplars[0].judgement.speedup = outcome::Speedup{3.99, 3.9, 4.1};
  CHECK_THAT(playbook::open(task)->answer(next, {}).text, containing("`r01-s01` and `r01-s02` are equally fast"));
}

TEST_CASE("rounds and samples get different candidates until there are none") {
  const task::Task task = task::load(golden("diagonal.before.cu"));
  const auto candidates = playbook::candidates_for(task).list;
  std::set<std::size_t> seen;
  for (int round = 1; round <= 2; ++round)
    for (int sample = 1; sample <= 4; ++sample)
      if (const auto chosen = playbook::choose(candidates, question(round, sample))) CHECK(seen.insert(*chosen).second);
  CHECK(seen.size() == candidates.size());
  const model::Reply reply = playbook::open(task)->answer(question(50, 1), {});
  CHECK(reply.status == model::Reply::Status::exhausted);
  CHECK(reply.reason == "the playbook has no further rule for this task");
}

TEST_CASE("no two candidates offer the same members in another order") {
  const auto candidates = playbook::candidates_for(task::from_source("//@ task    row_softmax\n//@ torch   Y = torch.softmax(X, dim=1)\n"
                                                                     "//@ size    N = 1024, M = 512\n"
                                                                     "//@ input   X: float32[N, M]\n//@ output  Y: float32[N, M]\n"
                                                                     "//@ launch  row_softmax<<<N, 1>>>(X, Y, M)\n"
                                                                     "__global__ void row_softmax(const float* X, float* Y, int M) {}\n",
                                                                     "row_softmax.cu"));
  CHECK(find(candidates, "as written/fused") != nullptr);
  CHECK(find(candidates, "as written/wide") == nullptr);  // the same numbers of threads, the smallest first
}

TEST_CASE("what was tried is not offered again, and what a hint names comes first") {
  const task::Task task = task::load(golden("diagonal.before.cu"));
  const auto candidates = playbook::candidates_for(task).list;
  model::Question next = question(2, 1);
  next.earlier = {judged(candidates[0], 20), judged(candidates[2], 60)};
  CHECK(playbook::choose(candidates, next) == 1U);
  next.hint = "try \"" + candidates[4].id + "\"";
  CHECK(playbook::choose(candidates, next) == 4U);
  next.key.sample = 2;
  CHECK(playbook::choose(candidates, next) == 1U);
}

TEST_CASE("what should take more than twice as long as the fastest is offered only while nothing was measured") {
  const task::Task task = task::load(golden("rows.before.cu"));
  const auto candidates = playbook::candidates_for(task).list;
  model::Question next = question(1, 1);
  const auto hopeless = [&](const playbook::Candidate& candidate) {
    return playbook::expected_seconds(candidate, next.device) > 2 * playbook::expected_seconds(candidates.front(), next.device);
  };
  REQUIRE(std::any_of(candidates.begin(), candidates.end(), hopeless));
  std::size_t offered = 0;
  while (const auto chosen = playbook::choose(candidates, next)) {
    CHECK_FALSE(hopeless(candidates[*chosen]));
    next.earlier.push_back(judged(candidates[*chosen], 20 - static_cast<double>(*chosen)));
    next.key.round = static_cast<int>(++offered) + 1;
    REQUIRE(offered <= candidates.size());
  }
  CHECK(offered == candidates.size() - static_cast<std::size_t>(std::count_if(candidates.begin(), candidates.end(), hopeless)));
}

TEST_CASE("a failed answer is followed by the plainest form of the same algebra") {
  const task::Task task = task::load(golden("rows.before.cu"));
  model::Question repair = question(1, 1);
  repair.key.attempt = 1;
  const auto candidates = playbook::candidates_for(task);
  repair.failure = judged(*find(candidates, "as written/streamed"), 0);
  repair.failure->judgement.verdict = outcome::Verdict::wrong_result;
  const model::Reply reply = playbook::open(task)->answer(repair, {});
  REQUIRE(reply.status == model::Reply::Status::ok);
  CHECK_THAT(reply.text, containing("// playbook: as written/plain"));
  CHECK_THAT(reply.text, containing("The last answer failed"));
}

TEST_CASE("what no rule covers is said by name, and leaves the task's own kernel to change") {
  const auto task = [](const std::string& kernel) {
    return task::from_source(
        "//@ torch   Y = torch.logcumsumexp(X, dim=1)\n//@ size    N = 8, M = 8\n//@ input   X: float32[N, M]\n//@ output  Y: "
        "float32[N, M]\n"
        "//@ launch  k<<<1, 1>>>(X, Y)\n" + kernel,
        "scan.cu");
  };
  const task::Task open_to_change = task("__global__ void k(const float* X, float* Y) {}\n"),
                   as_it_is = task("__global__ void k(const float* __restrict__ X, float* __restrict__ Y) {}\n");
  const auto model = playbook::open(open_to_change);
  CHECK_THAT(model->answer(question(1, 1), {}).text, containing("// playbook: own kernel/read-only"));
  CHECK_THAT(model->answer(question(9, 1), {}).reason, containing("none for its torch line: torch.logcumsumexp is not covered by the playbook"));
  const model::Reply reply = playbook::open(as_it_is)->answer(question(1, 1), {});
  CHECK(reply.status == model::Reply::Status::exhausted);
  CHECK_THAT(reply.reason, containing("no rule for this task: torch.logcumsumexp is not covered by the playbook; another model"));
}
