// SPDX-License-Identifier: Apache-2.0
#include "tensor/dense.hpp"
#include "tensor/function.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

Shape batch_of(const Shape& shape) { return {shape.begin(), shape.end() - 2}; }

Type attention_type(const Call& call) {
  const Shape &q = call.type(0).shape, &k = call.type(1).shape, &v = call.type(2).shape;
  if (q.size() < 2 || k.size() < 2 || v.size() < 2) throw Refusal("query, key and value need two dimensions");
  if (!(q.back() == k.back())) throw Refusal(fmt::format("query {} and key {} differ in their last dimension", to_string(q), to_string(k)));
  if (!(k[k.size() - 2] == v[v.size() - 2])) throw Refusal(fmt::format("key {} and value {} differ in length", to_string(k), to_string(v)));
  if (call.number("dropout_p") != 0) throw Refusal("dropout cannot be evaluated");
  const Shape a = batch_of(q), b = batch_of(k), c = batch_of(v);
  Shape scores = broadcast({&a, &b, &c});
  Type type{promoted(call, {0, 1, 2}), scores};
  scores.push_back(q[q.size() - 2]);
  scores.push_back(k[k.size() - 2]);
  const int mask = call.index("attn_mask");
  if (mask >= 0) {
    if (call.truth("is_causal")) throw Refusal("is_causal and attn_mask exclude each other");
    if (!(broadcast({&scores, &call.type(mask).shape}) == scores)) throw Refusal(fmt::format("attn_mask {} does not fit the scores {}", to_string(call.type(mask).shape), to_string(scores)));
  }
  type.shape.push_back(q[q.size() - 2]);
  type.shape.push_back(v.back());
  return type;
}

void attention(const Evaluation& e) {
  const Array &q = *e.in[0], &k = *e.in[1], &v = *e.in[2], *mask = e.operand("attn_mask");
  const std::int64_t length = q.shape[q.shape.size() - 2], keys = k.shape[k.shape.size() - 2], depth = q.shape.back(), width = v.shape.back();
  const double scale = e.call.has("scale") ? e.call.number("scale") : 1 / std::sqrt(static_cast<double>(depth));
  const bool causal = e.call.truth("is_causal"), boolean = mask != nullptr && mask->dtype == Dtype::bool_;
  const Extents batch(e.out.shape.begin(), e.out.shape.end() - 2);
  const auto steps_of = [&](const Array& array) { return broadcast_strides(Extents(array.shape.begin(), array.shape.end() - 2), batch); };
  const Extents sq = steps_of(q), sk = steps_of(k), sv = steps_of(v);
  Extents scores = batch;
  scores.push_back(length);
  scores.push_back(keys);
  const Extents sm = mask == nullptr ? Extents() : broadcast_strides(mask->shape, scores);
  parallel(e.threads, elements(batch) * length, std::max<std::int64_t>(1, 65536 / std::max<std::int64_t>(1, keys * (depth + width))), [&](std::int64_t first, std::int64_t last) {
    std::vector<double> row(static_cast<std::size_t>(keys));
    for (std::int64_t at = first; at < last; ++at) {
      std::int64_t rest = at / length, aq = 0, ak = 0, av = 0, am = 0;
      const std::int64_t i = at % length;
      for (std::size_t axis = batch.size(); axis-- > 0; rest /= batch[axis]) {
        const std::int64_t index = rest % batch[axis];
        aq += index * sq[axis], ak += index * sk[axis], av += index * sv[axis];
        if (mask != nullptr) am += index * sm[axis];
      }
      const double* query = q.values.data() + (aq * length + i) * depth;
      double top = -INFINITY;
      for (std::int64_t j = 0; j < keys; ++j) {
        double dot = 0;
        const double* key = k.values.data() + (ak * keys + j) * depth;
        for (std::int64_t d = 0; d < depth; ++d) dot += query[d] * key[d];
        dot *= scale;
        if (causal && j > i) dot = -INFINITY;
        if (mask != nullptr) {
          const double m = mask->values[static_cast<std::size_t>(am + i * sm[batch.size()] + j * sm[batch.size() + 1])];
          dot = boolean ? (m != 0 ? dot : -INFINITY) : dot + m;
        }
        row[static_cast<std::size_t>(j)] = dot;
        top = std::max(top, dot);
      }
      double total = 0;
      for (double& score : row) score = std::exp(score - top), total += score;
      double* out = e.out.values.data() + at * width;
      for (std::int64_t j = 0; j < keys; ++j) {
        const double p = row[static_cast<std::size_t>(j)] / total, *value = v.values.data() + (av * keys + j) * width;
        for (std::int64_t x = 0; x < width; ++x) out[x] += p * value[x];
      }
    }
  });
}
double attention_work(const Call& call, const Type& result) {
  double rows = 1;
  for (std::size_t i = 0; i + 1 < result.shape.size(); ++i) rows *= static_cast<double>(result.shape[i].values.front());
  const Shape& k = call.type(1).shape;
  const double keys = static_cast<double>(k[k.size() - 2].values.front());
  return rows * keys * (2 * static_cast<double>(k.back().values.front()) + 2 * static_cast<double>(result.shape.back().values.front()) + 5);
}

}  // namespace

std::vector<Row> attention_rows() {
  return {{"scaled_dot_product_attention(query, key, value, attn_mask = None, dropout_p: number = 0.0, is_causal: truth = False, scale: number = None)", "F",
           attention_type, attention, attention_work}};
}

}  // namespace cudal1::tensor
