// SPDX-License-Identifier: Apache-2.0
#include "families/families.hpp"

#include "families/costs.hpp"
#include "families/warpgroup_factors.hpp"

#include <optional>

namespace cudal1::families {
namespace {

const Node& producer_of(const Region& region, const Dag& dag) { return dag.at(region.producer); }

// A variant that differs from the usual one by one choice, or by two.
template <typename Change>
Variant with(std::string_view label, Change change) {
  Variant result;
  result.label = label;
  change(result);
  return result;
}

bool matches_straight_convolution(Region& region, const Dag& dag, const KernelFile& file) {
  const Node& producer = producer_of(region, dag);
  const Variant& variant = file.variant();
  return variant.warpgroups() && variant.windows == Variant::Windows::straight && !variant.exact_convolutions() && producer.is<Convolution>() &&
         is_straight_convolution(producer, dag.at(producer.operands[0]), dag.at(producer.operands[1]), file.machine());
}

// A convolution whose windows are one element is a product once its last dimensions are one.
bool matches_product(Region& region, const Dag& dag, const KernelFile& file) {
  const Node& producer = producer_of(region, dag);
  if (producer.is<Product>()) return true;
  if (file.variant().windows == Variant::Windows::gathered || !is_product(producer) || matches_straight_convolution(region, dag, file)) return false;
  Region merged = region;
  if (!merge_from(merged, 2)) return false;
  region = std::move(merged);
  return true;
}

void write_any_product(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  const GemmOperands factors = gemm_operands_of(region, dag, buffers);
  const bool many = factors.many_batches(), warpgroups = file.variant().warpgroups() && !many && !factors.doubles();
  if (factors.doubles() && !file.machine().double_products) throw NotCovered{"products of float64 on a GPU whose tensor cores have none"};
  if (factors.doubles() && many) throw NotCovered{"products of more matrices of float64 than a grid has layers"};
  if (warpgroups && suits_straight_product(factors, is_exact(producer_of(region, dag), file), file.machine())) write_straight_product(region, dag, buffers, file);
  else if (warpgroups && suits_warpgroups(factors, file.machine())) write_warpgroup_product(region, dag, buffers, file);
  else if (factors.half() || factors.doubles() || (file.variant().tensor_cores() && !many)) write_tensor_product(region, dag, buffers, file);
  else write_product(region, dag, buffers, file);
}

template <typename Kind>
bool produces(Region& region, const Dag& dag, const KernelFile&) { return producer_of(region, dag).is<Kind>(); }

bool matches_warpgroup_convolution(Region& region, const Dag& dag, const KernelFile& file) {
  const Node& producer = producer_of(region, dag);
  return file.variant().warpgroups() && producer.is<Convolution>() &&
         is_warpgroup_convolution(producer, dag.at(producer.operands[0]), dag.at(producer.operands[1]), file.machine());
}

bool matches_convolution(Region& region, const Dag& dag, const KernelFile&) { return is_tiled_convolution(producer_of(region, dag)); }

// Products and convolutions with many results per weight have families of their own.
bool has_tiles(Region region, const Dag& dag, const KernelFile& file) { return matches_product(region, dag, file) || matches_convolution(region, dag, file); }

bool matches_strips(Region& region, const Dag& dag, const KernelFile& file) {
  const Node& producer = producer_of(region, dag);
  return !has_tiles(region, dag, file) && (producer.is<Pool>() || producer.is<Convolution>()) && makes_strips(producer, dag.at(producer.operands[0]));
}

bool matches_windows(Region&, const Dag&, const KernelFile&) { return true; }

void write_by_first(Region region, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  for (const Family& family : families())
    if (family.matches != nullptr && family.matches(region, dag, file)) return family.write(region, dag, buffers, file);
}

// One layer of a network has many channels, the next one large planes: no way to multiply suits both.
void write_by_cost(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  using V = Variant;
  constexpr std::pair<V::Products, V::Windows> ways[] = {{V::Products::fp32, V::Windows::tiled}, {V::Products::tensor_cores, V::Windows::tiled}, {V::Products::warpgroups, V::Windows::tiled},
                                                         {V::Products::warpgroups, V::Windows::straight}};
  std::optional<KernelFile> cheapest;
  double least = 0;
  std::string refusal;
  for (const auto& [products, windows] : ways) {
    Variant variant = file.variant();
    variant.products = products;
    variant.windows = windows;
    KernelFile trial = file.in(variant);
    try {
      write_by_first(region, dag, buffers, trial);
    } catch (const NotCovered& refused) {
      refusal = refused.reason;
      continue;
    }
    double seconds = 0;
    for (std::size_t i = file.work().size(); i < trial.work().size(); ++i) seconds += costs::seconds(trial.work()[i]);
    if (cheapest && seconds >= least) continue;
    cheapest = std::move(trial);
    least = seconds;
  }
  if (!cheapest) throw NotCovered{refusal};
  file = cheapest->in(file.variant());
}

}  // namespace

const std::vector<Family>& families() {
  using V = Variant;
  static const std::vector<Family> list = {
      {"reductions of columns", nullptr, nullptr, {with("packed columns", [](V& v) { v.columns = V::Columns::packed; })}},
      {"strips of windows", matches_strips, write_strips, {with("columns", [](V& v) { v.windows = V::Windows::by_columns; })}},
      {"product",
       matches_product,
       write_any_product,
       {with("tensor cores", [](V& v) { v.products = V::Products::tensor_cores; }), with("warpgroups", [](V& v) { v.products = V::Products::warpgroups; }),
        with("by cost", [](V& v) { v.products = V::Products::by_cost; })}},
      {"gather", produces<Gather>, write_gather, {}},
      {"scan", produces<Scan>, write_scan, {}},
      {"recurrence", produces<Recurrence>, write_recurrence, {}},
      {"straight convolution",
       matches_straight_convolution,
       write_straight_convolution,
       {with("straight warpgroups", [](V& v) { v.products = V::Products::warpgroups, v.windows = V::Windows::straight; })}},
      {"convolution by warpgroups", matches_warpgroup_convolution, write_warpgroup_convolution, {}},
      {"convolution",
       matches_convolution,
       write_convolution,
       {with("tensor cores, gathered", [](V& v) { v.products = V::Products::tensor_cores, v.windows = V::Windows::gathered; })}},
      {"reductions of rows",
       nullptr,
       nullptr,
       {
           with("totals", [](V& v) { v.split = V::Split::totals; }),
           with("ahead", [](V& v) { v.rows = V::Rows::prefetched; }),
           with("trailing teams", [](V& v) { v.rows = V::Rows::team_trailing; }),
           with("teams that meet once", [](V& v) { v.rows = V::Rows::team_meeting_once; }),
           with("teams", [](V& v) { v.rows = V::Rows::team; }),
           with("streamed", [](V& v) { v.streamed = true; }),
           with("wide", [](V& v) { v.wide = true; }),
           with("reread", [](V& v) { v.rows = V::Rows::reread; }),
           with("wide streamed", [](V& v) { v.wide = v.streamed = true; }),
           with("reductions apart", [](V& v) { v.split = V::Split::apart; }),
           with("unsplit", [](V& v) { v.split = V::Split::never; }),
       }},
      {"attention", nullptr, nullptr, {with("three steps", [](V& v) { v.attention = V::Attention::three_steps; })}},
      {"windows", matches_windows, write_windows, {}},
  };
  return list;
}

Variant plainest() {
  return with("plain", [](Variant& v) { v.simple = true, v.attention = Variant::Attention::three_steps; });
}

std::vector<Variant> variants() {
  std::vector<Variant> result{Variant{}};
  for (const Family& family : families()) result.insert(result.end(), family.variants.begin(), family.variants.end());
  result.push_back(plainest());
  result.push_back(with("unfused", [](Variant& v) { v.fused = false, v.attention = Variant::Attention::three_steps; }));
  return result;
}

void write_producer(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  const Node& producer = producer_of(region, dag);
  const bool multiplies = producer.is<Product>() || producer.is<Convolution>();
  if (multiplies && file.variant().products == Variant::Products::by_cost) write_by_cost(region, dag, buffers, file);
  else write_by_first(region, dag, buffers, file);
  for (const Instance& instance : region.instances) file.include(dag.at(instance.node).dtype);
  if (region.instances.size() > 1) file.technique(Technique::fusion, "What follows is computed in registers, before anything is written.");
  file.end_family();
}

}  // namespace cudal1::families
