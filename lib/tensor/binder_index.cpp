// SPDX-License-Identifier: Apache-2.0
#include "tensor/binder.hpp"

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

using Kind = Value::Kind;

std::int64_t literal_index(const Value& value, std::int64_t otherwise) {
  if (value.is(Kind::none)) return otherwise;
  if (value.is(Kind::scalar))
    if (const auto* integer = std::get_if<std::int64_t>(&value.number)) return *integer;
  throw Refusal("the index of a list or a shape must be a literal integer");
}

}  // namespace

Value Binder::index(const Value& base, const std::vector<Value>& items) {
  if (base.is(Kind::tensor)) return index_tensor(base, items);
  if (items.size() != 1) fail("a list takes one index");
  const Value& item = items.front();
  const bool slice = item.is(Kind::slice);
  if (slice && !item.items[2].is(Kind::none)) fail("a list or a shape takes no step");
  if (base.is(Kind::sequence) && !slice) return part(base, literal_index(item, 0));
  if (base.is(Kind::shape)) {
    std::string text = std::get<SizeText>(base.number).text;
    if (text.back() == ']') fail("a shape is indexed once");
    if (!slice) return size_text(fmt::format("{}[{}]", text, literal_index(item, 0)), 5);
    const auto bound = [&](const Value& value) { return value.is(Kind::none) ? std::string() : std::to_string(literal_index(value, 0)); };
    Value result = base;
    result.number = SizeText{fmt::format("{}[{}:{}]", text, bound(item.items[0]), bound(item.items[1]))};
    return result;
  }
  if (!base.is(Kind::list)) fail("only tensors, lists and shapes can be indexed");
  const auto count = static_cast<std::int64_t>(base.items.size());
  const auto clamped = [&](std::int64_t i) { return i < 0 ? std::max<std::int64_t>(i + count, 0) : std::min(i, count); };
  if (slice) {
    const std::int64_t first = clamped(literal_index(item.items[0], 0)), last = clamped(literal_index(item.items[1], count));
    std::vector<Value> part(base.items.begin() + first, base.items.begin() + std::max(first, last));
    return list(std::move(part));
  }
  std::int64_t at = literal_index(item, 0);
  if (at < 0) at += count;
  if (at < 0 || at >= count) fail(fmt::format("index {} is outside a list of {}", literal_index(item, 0), count));
  return base.items[static_cast<std::size_t>(at)];
}

// Items before an ellipsis count dimensions from the front, those behind it from the back, so the rank need not be known.
Value Binder::index_tensor(const Value& base, const std::vector<Value>& items) {
  std::size_t ellipsis = items.size();
  int tensors = 0, integers = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].is(Kind::ellipsis) && ellipsis == items.size()) ellipsis = i;
    else if (items[i].is(Kind::ellipsis)) fail("an index holds one \"...\" at most");
    tensors += items[i].is(Kind::tensor) ? 1 : 0;
    integers += items[i].is(Kind::scalar) ? 1 : 0;
  }
  if (tensors > 1) fail("an index holds one tensor at most", "write torch.gather");
  if (tensors > 0 && integers > 0) fail("an index mixes an integer with a tensor", "index twice: x[0][i]");
  NodeId node = base.node, indices = -1;
  std::int64_t indexed = 0;
  // Applies one item at a dimension; true when the item leaves (or makes) a dimension there.
  const auto apply_item = [&](const Value& item, std::int64_t dim) {
    const auto attribute = [&](const Value& value, const char* what) -> Attribute {
      if (value.is(Kind::none)) return std::monostate{};
      if (!value.is(Kind::scalar) || std::holds_alternative<double>(value.number)) fail(fmt::format("the {} of a slice must be an integer", what));
      if (const auto* truth = std::get_if<bool>(&value.number)) return std::int64_t{*truth};
      return value.number;
    };
    switch (item.kind) {
      case Kind::none: node = add("unsqueeze", {node}, {{"dim", dim}}); return true;
      case Kind::slice: {
        const bool whole = item.items[0].is(Kind::none) && item.items[1].is(Kind::none) && item.items[2].is(Kind::none);
        if (!whole)
          node = add("slice", {node},
                     {{"dim", dim}, {"start", attribute(item.items[0], "start")}, {"end", attribute(item.items[1], "end")},
                      {"step", item.items[2].is(Kind::none) ? Attribute{std::int64_t{1}} : attribute(item.items[2], "step")}});
        return true;
      }
      case Kind::tensor: indices = item.node, indexed = dim; return true;
      case Kind::scalar:
        if (std::holds_alternative<bool>(item.number)) fail("a truth value is no index");
        node = add("select", {node}, {{"dim", dim}, {"index", attribute(item, "index")}});
        return false;
      default: fail("an index is an integer, a slice, None, \"...\" or a tensor");
    }
  };
  std::int64_t dim = 0;
  for (std::size_t i = 0; i < ellipsis; ++i)
    if (apply_item(items[i], dim)) ++dim;
  dim = -1;
  for (std::size_t i = items.size(); i-- > ellipsis + 1;)
    if (apply_item(items[i], dim)) --dim;
  // The tensor comes last: it may bring any number of dimensions, which would move the others.
  if (indices >= 0) node = add("index", {node, indices}, {{"dim", indexed}});
  return tensor(node);
}

}  // namespace cudal1::tensor
