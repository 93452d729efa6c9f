// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/element.hpp"
#include "sim/module.hpp"
#include "sim/tensor.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cudal1::sim {

struct Warp;
struct Instruction;
struct ShadowProgram;
using Handler = void (*)(Warp&, const Instruction&);

// An instruction as the interpreter runs it. Operands are byte offsets into the warp's register slab: a register, constant
// or special value is a row of 32 lanes there, a predicate a 32-bit mask.
struct Instruction {
  std::array<Handler, 2> run{};    // with all lanes active; with some
  std::uint32_t d = 0, a = 0, b = 0, c = 0;
  std::int64_t immediate = 0;      // an address's offset, or what the handler says
  std::uint32_t site = 0;          // of a memory access: index into the worker's sites
  std::uint32_t statement = 0;     // index into Program::statements
  std::uint32_t list = 0;          // first of further operands in Program::lists
  std::uint32_t extra = 0;         // what the handler says
};
static_assert(sizeof(Instruction) == 56);

inline constexpr std::uint32_t nowhere = ~std::uint32_t{0};

// A straight run of instructions with one way in and its end.
struct Segment {
  enum class End : std::uint8_t { fall, jump, branch, leave, finish, call, barrier, pause, cluster };
  std::uint32_t first = 0, last = 0;   // instructions [first, last)
  std::uint32_t weight = 0;            // PTX instructions it stands for, its end included
  End end = End::fall;
  bool negated = false;                // branch: taken where the predicate is false
  bool whole_warp = false;             // begins with an instruction that all running lanes of the warp run together
  bool spins = false;                  // jump, branch: back to the start of a loop that asks for what others may write
  std::uint32_t predicate = 0;         // branch: slab offset
  std::uint32_t target = nowhere;      // jump, branch, call
  std::uint32_t join = nowhere;        // branch: where its sides meet again
  std::uint32_t members = nowhere;     // slab offset of the member mask of the warp operation that it begins with
  std::uint32_t statement = 0;         // of its end
};

// What a static instruction costs each time a warp runs it.
enum class Work : std::uint8_t { move, integer, fp32, fp64, fp16, special, conversion, control, memory, tensor };

struct StatementFacts {
  std::string opcode;
  int line = 0, source_line = 0;       // in the PTX, in the kernel file
  Work work = Work::move;
  double flops = 0;                    // per lane; tensor operations: per warp
  std::uint32_t segment = 0;
  std::vector<std::uint32_t> reads, writes;  // registers, numbered through all functions
};

// A memory access in the program: counted one by one.
struct SiteFacts {
  enum class Kind : std::uint8_t { load, store, atomic, shared, local, constant };
  Kind kind = Kind::load;
  std::uint32_t statement = 0;
};

struct ConstantRow {
  std::uint32_t offset = 0, width = 0;   // bytes of an element
  std::uint64_t value = 0;
};
struct ParameterRow {
  std::uint32_t offset = 0, width = 0;
  std::uint32_t parameter_offset = 0, bytes = 0;   // in the parameter block; sign- or zero-extended to width
  bool extend_sign = false;
};
enum class Special : std::uint8_t {
  tid_x, tid_y, tid_z, ntid_x, ntid_y, ntid_z, ctaid_x, ctaid_y, ctaid_z, nctaid_x, nctaid_y, nctaid_z,
  laneid, warpid, nwarpid, smid, nsmid, gridid, lanemask_eq, lanemask_le, lanemask_lt, lanemask_ge, lanemask_gt,
  dynamic_shared_bytes, total_shared_bytes, zero, parameter_block, dynamic_shared_address,
  workspace_low, workspace_high, cluster_rank, cluster_size, explicit_cluster, in_cluster_x, in_cluster_y, in_cluster_z, cluster_x, cluster_y, cluster_z,
  of_cluster_x, of_cluster_y, of_cluster_z, clusters_x, clusters_y, clusters_z
};
struct SpecialRow {
  std::uint32_t offset = 0, width = 4;
  Special special = Special::zero;
  std::uint64_t addend = 0;
};

// What of a function is put aside while it may be called again: rows of registers with the bytes of an element (0: a predicate), and
// ranges of local memory.
struct SavedRows {
  struct Row {
    std::uint32_t offset = 0, width = 0;
  };
  struct Local {
    std::uint32_t offset = 0, bytes = 0;
  };
  std::vector<Row> rows;
  std::vector<Local> locals;
};

// A kernel with its callees, ready to run for any launch.
struct Program {
  std::string name;
  std::vector<Instruction> instructions;
  std::vector<const std::string*> operations;   // their names in operations()
  std::shared_ptr<const ShadowProgram> shadow;  // null: values have no shadows (shadow.hpp)
  std::vector<Segment> segments;
  std::vector<std::uint32_t> lists;
  std::vector<StatementFacts> statements;
  std::vector<TensorFacts> tensors;
  std::vector<SiteFacts> sites;                 // site 0 is no access
  std::vector<ConstantRow> constants;
  std::vector<ParameterRow> parameters;
  std::vector<SpecialRow> specials;
  std::uint32_t slab_bytes = 0;
  std::uint32_t registers = 0;                  // of all functions, as StatementFacts numbers them
  std::vector<Variable> parameter_variables;    // of the entry, with offsets below
  std::vector<std::uint32_t> parameter_offsets;
  std::uint32_t parameter_bytes = 0;
  std::size_t shared_bytes = 0;                 // static; dynamic shared memory follows, aligned
  std::size_t dynamic_align = 16;
  std::size_t local_bytes = 0;                  // per lane
  std::size_t frame_bytes = 0, frames_bytes = 0;  // of them, for functions that call themselves: of a frame, of all frames
  std::uint32_t frame_row = nowhere;            // how far the frames of a lane have grown, in bytes
  std::vector<SavedRows> saved;                 // of those functions
  unsigned max_threads = 0;
  std::array<unsigned, 3> cluster{};            // that the kernel asks for; 0: none
  bool fixed_order = false;       // what it computes depends on the order of blocks: run them one after another
  bool orders_itself = false;     // fences or ordered accesses: what one block does may come before what another does
  bool orders_in_shared = false;  // ordered accesses or atomic operations there: the same among warps of a block
  bool waits_for_blocks = false;  // may spin on what another block writes
  bool meets_in_clusters = false; // it has barrier.cluster
  bool may_spin = false;          // atomics or volatile accesses: lanes may wait for each other
  unsigned shared_granule = 4;    // bytes of the smallest shared access
};

}  // namespace cudal1::sim
