// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/applied_technique.hpp"
#include "task/task.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudal1::rewriter {

using outcome::AppliedTechnique;
using outcome::Technique;

// A task's own plan and code as text, changed by one rule after the other.
struct OwnDraft {
  std::vector<std::string> tunables, plan;  // directive lines without `//@`
  std::string code;
  std::vector<AppliedTechnique> techniques;

  void technique(Technique technique, const std::string& sentence) { apply(techniques, technique, sentence); }
};

using Apply = bool(const task::Task& task, OwnDraft& draft);  // wherever it holds; false when nowhere

// A way to make kernels faster that needs no torch line, only what their text plainly says.
struct OwnRule {
  std::string_view name;
  Apply* apply;
};

Apply own_geometry, own_read_only, own_unrolling, own_staging, own_turning, own_teams, own_vectors, own_coarsening;

// A line of the plan, `launch name<<<grid, block>>>(arguments)`.
struct OwnLaunch {
  std::string name;
  std::vector<std::string> grid, block;  // one to three each
  std::string arguments;                 // from the closing `>>>` on

  std::string text() const;
};
// Nothing for other lines, and for launches with dynamic shared memory or clusters.
std::optional<OwnLaunch> own_launch(const std::string& line);

// A tunable of the draft; the first one of a name gets the values, a second one another name.
std::string tune(OwnDraft& draft, const std::string& name, const std::string& values);
std::string unused_name(const std::string& code, const std::string& name);

}  // namespace cudal1::rewriter
