// SPDX-License-Identifier: Apache-2.0
#include "families/split_total.hpp"


#include <fmt/format.h>

namespace cudal1::families {

void write_split_total(const SplitProduct& product, const Epilogue& after, Arguments& arguments, KernelFile& file) {
  const std::string kernel = file.unique(product.name + "_total");
  const std::string rows = arguments.number(product.n), columns = arguments.number(product.m);
  file.kernel("split_product_total.cuh",
                                   {{"name", kernel}, {"parameters", arguments.parameters()}, {"N", rows}, {"M", columns}, {"parts", product.count},
                                    {"S", arguments.pointer(product.scratch, tensor::Dtype::float32, false)}, {"epilogue", after.statements}, {"store", after.store}});
  file.launch(fmt::format("{}<<<ceil_div({} * {}, 256), 256>>>({})", kernel, product.n.text, product.m.text, arguments.passed()));
  file.traffic(4.0 * static_cast<double>((product.parts + 1) * product.n.values[0] * product.m.values[0]), 0);
  file.technique(Technique::split_reduction, fmt::format("Few tiles of a deep product: `{}` sums its depth in {} parts, `{}` adds them "
                                                         "up in a fixed order.",
                                                         product.name, product.count, kernel));
}

}  // namespace cudal1::families
