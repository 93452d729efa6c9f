// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rewriter/draft.hpp"
#include "rewriter/index_form.hpp"
#include "rewriter/kernel_tree.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cudal1::rewriter {

// A kernel that plainly does one thing for each item of a line or a plane:
//
//   int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
//   if (row >= N || column >= M) return;
//   body
struct ItemKernel {
  struct Axis {
    std::string type, name, bound;  // int, column, M
    char letter = 'x';
    int block = 0;        // threads
    std::string count;    // the plan's expression for how many there are
  };
  struct Alias {
    std::string pointer;  // a parameter
    IndexForm offset;
  };

  KernelTree tree;
  OwnLaunch launch;
  std::size_t line = 0;  // of the plan
  std::vector<Axis> axes;             // x, then y
  std::vector<Statement> uniform;     // declarations that are the same for all threads of a block
  std::vector<Statement> body;        // what is done for one item
  Definitions definitions;            // of locals that never change
  std::map<std::string, Alias> aliases;  // pointers that are a parameter and an offset
  std::map<std::string, std::string> elements;  // of pointers and aliases: "float"
  std::set<std::string> written;      // pointer parameters

  const Axis* axis(const std::string& name) const;  // null: no axis has this name
  std::string plain_type(std::size_t axis) const;  // without const
  std::string coordinate(std::size_t axis) const;  // its declaration, as the kernel has it
  std::string head() const;  // `__global__ void name(parameters)`
  // `row < N && column < M`
  std::string inside() const;
  // The buffer that an access reads and where.
  std::string pointer(const Access& access) const;
  IndexForm where(const Access& access) const;
  // Whether an access lies at a place that follows from the item's coordinates, from `more` names, and from what is the
  // same for all items: it can be made before or elsewhere.
  bool movable(const Access& access, const std::set<std::string>& more = {}) const;
  // The declarations of the body that the texts need: of locals that never change and are made of coordinates.
  std::vector<Statement> needed(const std::vector<std::string>& texts) const;
};

// Every kernel of the draft that is launched once and is plainly of this form. Nothing in it but loads, stores and
// arithmetic: no barrier, no shared memory, no atomics, no pointer that goes elsewhere.
std::vector<ItemKernel> item_kernels(const OwnDraft& draft);

// Another function and another launch for a kernel.
struct OwnRewrite {
  std::string function;
  OwnLaunch launch;
};

// Rewrites every item kernel for which `rewrite` has something, by these techniques; false when there is none. Of a launch no two
// pointers may lead to the same buffer, and each leads to the start of one.
bool rewrite_kernels(const task::Task& task, OwnDraft& draft, std::optional<OwnRewrite> (*rewrite)(const ItemKernel&, OwnDraft&),
                     const std::vector<AppliedTechnique>& techniques);

}  // namespace cudal1::rewriter
