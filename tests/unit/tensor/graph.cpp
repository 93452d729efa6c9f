// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "tensor/evaluate.hpp"
#include "tensor/graph.hpp"
#include "tensor/shape.hpp"

#include <cmath>

using namespace cudal1;
using tensor::Array;
using tensor::Dtype;

namespace {

struct Line {
  const char* text;
  std::vector<std::pair<const char*, std::vector<const char*>>> inputs;  // name and extents
  std::vector<const char*> shape;                                        // of C, as text
};

tensor::Sizes sizes_a() { return {{"N", 8}, {"M", 6}, {"D", 4}, {"B", 2}, {"H", 5}, {"K", 3}}; }
tensor::Sizes sizes_b() { return {{"N", 9}, {"M", 7}, {"D", 5}, {"B", 1}, {"H", 6}, {"K", 2}}; }

tensor::Type type_of(const std::vector<const char*>& extents, Dtype dtype = Dtype::float32) {
  tensor::Type type{dtype, {}};
  for (const char* text : extents) {
    tensor::Extent extent{text, {}};
    for (const auto& sizes : {sizes_a(), sizes_b()}) extent.values.push_back(sizes.count(text) != 0 ? sizes.at(text) : std::atoi(text));
    type.shape.push_back(extent);
  }
  return type;
}

tensor::Graph parsed(const std::string& text, std::vector<std::string> inputs = {"A", "B", "X", "W", "Q", "K_", "V", "b"}) {
  auto graph = tensor::parse(text, inputs, {"N", "M", "D", "H", "K"}, {"C"});
  if (!graph) FAIL(text << ": " << graph.error().message);
  return *graph;
}

Array array(std::vector<std::int64_t> shape, std::vector<double> values, Dtype dtype = Dtype::float32) { return {dtype, std::move(shape), std::move(values)}; }

std::vector<double> value(const std::string& text, const std::map<std::string, Array>& inputs, const std::map<std::string, double>& scalars = {}) {
  std::vector<std::string> names, sizes;
  for (const auto& each : inputs) names.push_back(each.first);
  for (const auto& each : scalars) sizes.push_back(each.first);
  const auto graph = tensor::parse(text, names, sizes, {"C"});
  if (!graph) FAIL(text << ": " << graph.error().message);
  const auto result = tensor::evaluate(*graph, inputs, scalars, 2);
  if (!result) FAIL(text << ": " << result.error().message);
  return result->at("C").values;
}

base::Diagnostic complaint(const std::string& text) {
  const auto graph = tensor::parse(text, {"A", "B"}, {"N"}, {"C"}, "k.cu", 3, 10);
  REQUIRE_FALSE(graph.has_value());
  return graph.error();
}

}  // namespace

TEST_CASE("lines are parsed and their shapes written in sizes") {
  const std::vector<Line> lines = {
      {"C = torch.diag(A) @ B", {{"A", {"N"}}, {"B", {"N", "M"}}}, {"N", "M"}},
      {"C = torch.softmax(X, dim=-1)", {{"X", {"N", "M"}}}, {"N", "M"}},
      {"C = F.layer_norm(X, (N,), W, B, eps=1e-5)", {{"X", {"M", "N"}}, {"W", {"N"}}, {"B", {"N"}}}, {"M", "N"}},
      {"C = F.gelu(X + b)", {{"X", {"M", "N"}}, {"b", {"N"}}}, {"M", "N"}},
      {"C = A.T", {{"A", {"M", "N"}}}, {"N", "M"}},
      {"C = X.sum(dim=1)", {{"X", {"M", "N", "D"}}}, {"M", "D"}},
      {"C = X.argmax(dim=1)", {{"X", {"M", "N"}}}, {"M"}},
      {"C = F.conv_transpose3d(X, W, stride=2, padding=1).mean(dim=(2,3,4))",
       {{"X", {"N", "D", "H", "H", "H"}}, {"W", {"D", "M", "3", "3", "3"}}}, {"N", "M"}},
      {"C = F.conv2d(X, W, padding=1)", {{"X", {"N", "D", "H", "H"}}, {"W", {"M", "D", "3", "3"}}}, {"N", "M", "H", "H"}},
      {"C = F.conv2d(X, W, stride=2)", {{"X", {"N", "D", "H", "M"}}, {"W", {"M", "D", "K", "3"}}}, {"N", "M", "(H - K) / 2 + 1", "(M - 3) / 2 + 1"}},
      {"C = F.avg_pool1d(X, 4, stride=3, padding=2, ceil_mode=True)", {{"X", {"B", "N", "D"}}}, {"B", "N", "min((D + 2) / 3 + 1, (D + 4) / 3)"}},
      {"C = F.max_pool1d(X, 4, stride=3, padding=1, ceil_mode=True)", {{"X", {"B", "N", "D"}}}, {"B", "N", "D / 3 + 1"}},
      {"C = A @ B", {{"A", {"B", "N", "K"}}, {"B", {"K", "M"}}}, {"B", "N", "M"}},
      {"C = torch.softmax(torch.where(torch.tril(torch.ones(N,N)) > 0, Q @ K_.T / D**0.5, float('-inf')), dim=-1) @ V",
       {{"Q", {"N", "D"}}, {"K_", {"N", "D"}}, {"V", {"N", "D"}}}, {"N", "D"}},
      {"C = X.view(N, -1)", {{"X", {"N", "M", "D"}}}, {"N", "M * D"}},
      {"C = X[:, None, ..., ::2]", {{"X", {"N", "M", "D"}}}, {"N", "1", "M", "(D + 1) / 2"}},
      {"C = torch.cat([A, B], dim=1)", {{"A", {"N", "M"}}, {"B", {"N", "D"}}}, {"N", "M + D"}},
      {"q, k = X.chunk(2, dim=-1); C = q @ k.mT", {{"X", {"N", "8"}}}, {"N", "N"}},
      {"n, m = X.shape; C = X.reshape(m, n)", {{"X", {"N", "M"}}}, {"M", "N"}},
      {"C = X[:, :N // 2]", {{"X", {"M", "N"}}}, {"M", "N / 2"}},
      {"values, indices = torch.max(X, dim=1, keepdim=True); C = values", {{"X", {"N", "M"}}}, {"N", "1"}},
  };
  for (const Line& line : lines) {
    INFO(line.text);
    std::map<std::string, tensor::Type> inputs;
    std::vector<std::string> names;
    for (const auto& [name, extents] : line.inputs) {
      inputs[name] = type_of(extents);
      names.push_back(name);
    }
    const tensor::Graph graph = parsed(line.text, names);
    const auto types = tensor::infer(graph, inputs, {sizes_a(), sizes_b()});
    if (!types) FAIL(types.error().message);
    const tensor::Type& type = types->at(static_cast<std::size_t>(graph.outputs[0].second));
    std::vector<std::string> shape;
    for (const auto& extent : type.shape) shape.push_back(extent.text);
    CHECK(shape == std::vector<std::string>(line.shape.begin(), line.shape.end()));
    // The printed line reads back as the same graph, simplified or not.
    for (const tensor::Graph& each : {graph, tensor::simplify(graph)}) {
      const std::string text = tensor::to_string(each);
      INFO(text);
      CHECK(parsed(text, names) == each);
    }
  }
}

TEST_CASE("operators, functions and methods are one function") {
  const tensor::Graph graph = parsed("C = A @ B");
  for (const char* text : {"C = torch.matmul(A, B)", "C = A.matmul(B)", "C = torch.mm(A, other=B)", "C = matmul(A, B)", "x = A; C = (x @ B)"})
    CHECK(parsed(text) == graph);
  CHECK(parsed("C = F.softmax(X, -1)") == parsed("C = X.softmax(dim=-1)"));
  CHECK(parsed("C = torch.nn.functional.relu(X, inplace=True)") == parsed("C = X.relu_()"));
  CHECK(parsed("C = X.permute(0, 2, 1)") == parsed("C = torch.permute(X, (0, 2, 1))"));
  CHECK(parsed("C = torch.add(A, B, alpha=2)") == parsed("C = A + B * 2"));
  CHECK(parsed("C = X * (2 ** 3 - 1)") == parsed("C = X * 7"));
  const tensor::Graph norm = parsed("C = F.layer_norm(X, (N, 3), bias=B)");
  const tensor::Node& node = norm.nodes[static_cast<std::size_t>(norm.outputs[0].second)];
  CHECK(node.operands.size() == 2);
  CHECK(tensor::operand(norm, node, "bias") == node.operands[1]);
  CHECK(tensor::operand(norm, node, "weight") == -1);
  CHECK(std::get<tensor::SizeText>(node.attributes.at("normalized_shape")).text == "(N, 3)");
}

TEST_CASE("what cannot be read is a diagnostic with its column") {
  CHECK(complaint("C = torch.sofmax(A, dim=1)").message == "torch.sofmax is not known to the evaluator");
  CHECK(complaint("C = torch.sofmax(A, dim=1)").severity == base::Diagnostic::Severity::warning);
  CHECK(complaint("C = torch.sofmax(A, dim=1)").hint == "did you mean torch.softmax?");
  CHECK(complaint("C = A.frobnicate()").severity == base::Diagnostic::Severity::warning);
  CHECK(complaint("C = F.dropout(A, 0.5)").severity == base::Diagnostic::Severity::warning);
  const auto missing = complaint("C = A + Z");
  CHECK(missing.severity == base::Diagnostic::Severity::error);
  CHECK(missing.line == 3);
  CHECK(missing.column == 10 + 8);
  CHECK(complaint("D = A").message == "the output C is never assigned");
  CHECK(complaint("C = (A").message == "expected \")\", but the line ends here");
  CHECK(complaint("C = torch.softmax(A)").message.find("misses its dim") != std::string::npos);
  CHECK(complaint("C = torch.softmax(A, dims=1, foo=2)").message.find("no parameter \"foo\"") != std::string::npos);
  for (const char* text : {"", "C", "C =", "C = A +", "C = [x for x in A]", "C = A[", "C = 1 // 0", "C = 'a", "C = A.shape", "C = lambda: 0", "C = A < B < A",
                           "C = 99999999999999999999", "C = torch", "C = $0", "C = A[1,2,...,...]", "C = 2 ** 100", "a, b = A, A, A; C = a"})
    complaint(text);
  complaint("C = " + std::string(5000, '('));
  complaint("C = " + std::string(5000, '-') + "A");
  std::string doubling = "a = N";
  for (int i = 0; i < 60; ++i) doubling += "; a = a + a";
  complaint(doubling + "; C = A * a");
  std::string nesting = "a = [A, A]";
  for (int i = 0; i < 60; ++i) nesting += "; a = [a, a]";
  complaint(nesting + "; C = A");
}

TEST_CASE("shapes that do not fit are a diagnostic at the operation") {
  const auto refuse = [](const char* text, const std::vector<const char*>& a, const std::vector<const char*>& b) {
    const tensor::Graph graph = parsed(text);
    const auto types = tensor::infer(graph, {{"A", type_of(a)}, {"B", type_of(b)}}, {sizes_a(), sizes_b()});
    INFO(text);
    REQUIRE_FALSE(types.has_value());
    CHECK(types.error().column > 1);
    return types.error().message;
  };
  CHECK(refuse("C = A @ B", {"N", "M"}, {"N", "M"}) == "matmul: the shapes [N = 8, M = 6] and [N = 8, M = 6] do not fit: M against N");
  refuse("C = A + B", {"N", "M"}, {"N", "D"});
  refuse("C = A.sum(dim=2) + B", {"N", "M"}, {"N"});
  refuse("C = A.reshape(N, 7) + B", {"N", "M"}, {"N", "7"});
  refuse("C = torch.cat([A, B])", {"N", "M"}, {"N", "D"});
  refuse("C = F.conv2d(A, B)", {"N", "3", "2", "2"}, {"M", "3", "3", "3"});
  refuse("C = A[10] + B", {"N"}, {"N"});
  refuse("C = torch.inner(A, B)", {"N", "M"}, {"D", "N", "M"});
  refuse("C = torch.inner(A, B)", {"N", "M"}, {"M"});
  // Equal at one assignment is not equal.
  refuse("C = A + B", {"H"}, {"5"});
}

TEST_CASE("a recurrent layer's cell and bias fit its hidden state and weights") {
  const auto complaint_of = [](const char* text, const std::vector<const char*>& cell, const std::vector<const char*>& bias) {
    const auto graph = tensor::parse(text, {"G", "W", "h", "c", "v"}, {}, {"C"}).value();
    const auto types = tensor::infer(graph, {{"G", type_of({"N", "B", "12"})}, {"W", type_of({"12", "3"})}, {"h", type_of({"B", "3"})}, {"c", type_of(cell)}, {"v", type_of(bias)}},
                                     {sizes_a(), sizes_b()});
    return types.has_value() ? "" : types.error().message;
  };
  const char* lstm = "C = torch.recurrence(G, W, h, c, v, 'lstm')";
  CHECK(complaint_of(lstm, {"B", "3"}, {"12"}) == "");
  CHECK(complaint_of(lstm, {"B", "4"}, {"12"}).find("has not the shape of the hidden state") != std::string::npos);
  CHECK(complaint_of(lstm, {"3"}, {"12"}).find("has not the shape of the hidden state") != std::string::npos);
  CHECK(complaint_of(lstm, {"B", "3"}, {"3"}).find("has not one element for each row of the weights") != std::string::npos);
  CHECK(complaint_of(lstm, {"B", "3"}, {"1", "12"}).find("has not one element for each row of the weights") != std::string::npos);
}

TEST_CASE("elements at the ends of their range") {
  const Array x = array({4}, {INFINITY, -INFINITY, 1e30, -1e30});
  CHECK(value("C = torch.logaddexp(X, X)", {{"X", array({3}, {INFINITY, -INFINITY, 0})}}) == std::vector<double>{INFINITY, -INFINITY, std::log(2.0)});
  const std::vector<double> inverse = value("C = torch.asinh(X)", {{"X", x}});
  CHECK(inverse[0] == INFINITY);
  CHECK(inverse[1] == -INFINITY);
  CHECK(inverse[2] == Approx(std::asinh(1e30)));
  CHECK(inverse[3] == Approx(std::asinh(-1e30)));
}

TEST_CASE("values follow PyTorch's rules for integers and truth values") {
  const Array x = array({3}, {-7, 0, 5}, Dtype::int32), m = array({3}, {1, 0, 1}, Dtype::bool_);
  CHECK(value("C = X // 2", {{"X", x}}) == std::vector<double>{-4, 0, 2});
  // -0.66 - fmod(-0.66, 0.1) is a little below -0.6: what is rounded down must not be that.
  CHECK(value("C = X // 0.1", {{"X", array({3}, {-0.66, -0.55, 0.66})}}) == std::vector<double>{-7, -6, 6});
  CHECK(value("C = X % 3", {{"X", x}}) == std::vector<double>{2, 0, 2});
  CHECK(value("C = X / 2", {{"X", x}}) == std::vector<double>{-3.5, 0, 2.5});
  CHECK(value("C = ~X", {{"X", x}}) == std::vector<double>{6, -1, -6});
  CHECK(value("C = ~M", {{"M", m}}) == std::vector<double>{0, 1, 0});
  CHECK(value("C = torch.where(M, X, 1.5)", {{"M", m}, {"X", x}}) == std::vector<double>{-7, 1.5, 5});
  CHECK(value("C = (X > 0) & M", {{"M", m}, {"X", x}}) == std::vector<double>{0, 0, 1});
  CHECK(value("C = X.float().mean()", {{"X", x}}).at(0) == Approx(-2.0 / 3));
  const auto graph = tensor::parse("C = X / 2", {"X"}, {}, {"C"}).value();
  CHECK(tensor::evaluate(graph, {{"X", x}}, {}).value().at("C").dtype == Dtype::float32);
}

TEST_CASE("an embedding takes its operands in the order of the function that is called") {
  const std::map<std::string, Array> inputs{{"W", array({3, 2}, {1, 2, 3, 4, 5, 6})}, {"I", array({2}, {2, 0}, Dtype::int64)}};
  CHECK(value("C = F.embedding(I, W)", inputs) == std::vector<double>{5, 6, 1, 2});
  CHECK(value("C = torch.embedding(W, I)", inputs) == std::vector<double>{5, 6, 1, 2});
}

TEST_CASE("sizes and scalars take part in expressions") {
  const Array x = array({2, 2}, {1, 2, 3, 4});
  CHECK(value("C = X / D**0.5", {{"X", x}}, {{"D", 4}}) == std::vector<double>{0.5, 1, 1.5, 2});
  CHECK(value("C = X * alpha + math.sqrt(N)", {{"X", x}}, {{"alpha", 0.5}, {"N", 9}}) == std::vector<double>{3.5, 4, 4.5, 5});
  CHECK(value("C = X.sum() / X.numel()", {{"X", x}}) == std::vector<double>{2.5});
  CHECK(value("C = X * X.shape[0] ** 2", {{"X", x}}) == std::vector<double>{4, 8, 12, 16});
  CHECK(value("C = torch.full((N,), 1 / N)", {{"X", x}}, {{"N", 4}}) == std::vector<double>{0.25, 0.25, 0.25, 0.25});
}

TEST_CASE("the number of threads changes no bit") {
  std::vector<double> values;
  for (int i = 0; i < 64 * 600; ++i) values.push_back(std::sin(i * 0.7) * 3);
  const Array x = array({64, 600}, values);
  const auto graph = tensor::parse("h = X @ X.T; C = torch.softmax(h, dim=-1) @ X + X.sum(dim=0)", {"X"}, {}, {"C"}).value();
  const auto one = tensor::evaluate(graph, {{"X", x}}, {}, 1).value().at("C").values;
  for (int threads : {2, 3, 7}) CHECK(tensor::evaluate(graph, {{"X", x}}, {}, threads).value().at("C").values == one);
}

TEST_CASE("simplification removes what has no effect and keeps what has") {
  const auto same = [](const char* before, const char* after) { CHECK(tensor::to_string(tensor::simplify(parsed(before))) == tensor::to_string(parsed(after))); };
  same("C = A.T.T @ B", "C = A @ B");
  same("C = X.transpose(0, 1).transpose(1, 0)", "C = X");
  same("C = X.permute(2, 0, 1).permute(1, 2, 0)", "C = X");
  same("C = F.relu(F.relu(X))", "C = F.relu(X)");
  same("C = torch.exp(X) * 1 + 0", "C = torch.exp(X)");
  same("C = torch.exp(A) + torch.exp(A)", "e = torch.exp(A); C = e + e");
  same("C = A * 1", "C = A * 1");  // A may hold truth values
  same("C = X.permute(1, 2, 0).permute(1, 2, 0)", "C = X.permute(1, 2, 0).permute(1, 2, 0)");
}

TEST_CASE("operations are counted from shapes") {
  const tensor::Graph graph = parsed("C = F.relu(A @ B)");
  const auto types = tensor::infer(graph, {{"A", type_of({"N", "K"})}, {"B", type_of({"K", "M"})}}, {sizes_a(), sizes_b()}).value();
  CHECK(tensor::operations(graph, types, 0) == 2 * 8 * 3 * 6 + 8 * 6);
  CHECK(tensor::operations(graph, types, 1) == 2 * 9 * 2 * 7 + 9 * 7);
}
