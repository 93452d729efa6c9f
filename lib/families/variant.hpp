// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cudal1::families {

// One way to write the kernels of a torch line, as the choices in which ways differ. Each family of kernels reads those that
// concern it; the values that stand here are the usual ones.
struct Variant {
  // What several blocks have to do with the rows of a reduction.
  enum class Rows {
    kept,                // a row stays in one block's registers between its passes
    reread,              // it is read again in each pass
    prefetched,          // persistent blocks; the next row is on its way to shared memory
    team,                // several blocks hold a long row together
    team_meeting_once,   // they exchange two reductions at once
    team_trailing,       // they reduce the next row before they come back to this one, which is then in the L2 cache
  };
  // Reductions of few long rows.
  enum class Split {
    when_few,  // by several blocks to a row
    never,
    apart,     // several reductions too, each in kernels of its own
    totals,    // what is reduced over all rows is reduced by the blocks that walk them
  };
  enum class Columns { one, packed };                            // that a thread of a column reduction has
  // Of convolutions and pools.
  enum class Windows {
    tiled,
    gathered,    // every input once per tap
    by_columns,
    straight,    // by warpgroups that take inputs as they lie in memory, where these may be rounded to TF32
  };
  enum class Products {
    fp32,
    tensor_cores,
    warpgroups,  // where a GPU has not got their products, as tensor_cores
    by_cost,     // each in the way of these that should take the least time
  };
  enum class Attention { one_kernel, three_steps };
  enum class Precision { as_float32, tf32, half };               // of factors on the tensor cores

  std::string_view label = "fused";  // what users see behind the rules in a candidate's id; cuts and precisions have none
  Rows rows = Rows::kept;
  Split split = Split::when_few;
  Columns columns = Columns::one;
  Windows windows = Windows::tiled;
  Products products = Products::fp32;
  Attention attention = Attention::one_kernel;
  Precision products_precision = Precision::as_float32;      // of products and attention
  Precision convolutions_precision = Precision::as_float32;
  bool streamed = false;  // data used once is marked as such for the caches
  bool wide = false;      // more work per thread
  bool fused = true;      // operations go into their neighbours' kernels
  bool simple = false;    // the plainest form: no wide accesses, no split rows, one member
  int cut = -1;           // a node of the dag that has a kernel of its own though it could be fused; -1: none

  bool keeps_rows() const { return rows != Rows::reread; }
  bool teams() const { return rows == Rows::team || rows == Rows::team_meeting_once || rows == Rows::team_trailing; }
  bool splits() const { return !simple && split != Split::never; }
  bool tensor_cores() const { return products != Products::fp32; }
  bool warpgroups() const { return products == Products::warpgroups; }
  bool half() const { return products_precision == Precision::half; }
  bool exact_products() const { return products_precision == Precision::as_float32; }
  bool exact_convolutions() const { return convolutions_precision == Precision::as_float32; }
  bool exact() const { return exact_products() || exact_convolutions(); }  // of kernels that share one code for both

  bool operator==(const Variant&) const = default;
};

}  // namespace cudal1::families
