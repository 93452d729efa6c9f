// SPDX-License-Identifier: Apache-2.0
#include "rewriter/draft.hpp"

#include "kernel/signature.hpp"
#include "rewriter/kernel_tree.hpp"

#include <algorithm>
#include <set>

namespace cudal1::rewriter {

// Pointers that the plan never gives the same buffer twice cannot alias: the compiler may keep and reorder loads.
bool own_read_only(const task::Task& task, OwnDraft& draft) {
  bool any = false;
  for (const kernel::Signature& signature : kernel::signatures(draft.code)) {
    bool distinct = true;
    for (const kernel::Step& step : task.file.plan) {
      const auto* launch = std::get_if<kernel::LaunchStep>(&step.step);
      if (launch == nullptr) return false;
      if (launch->kernel != signature.name) continue;
      std::set<std::string> buffers;
      for (std::size_t i = 0; i < launch->arguments.size() && i < signature.parameters.size(); ++i) {
        if (!signature.parameters[i].pointer) continue;
        const std::vector<std::string> names = launch->arguments[i].names();
        const auto meet = [&](const auto& each) {
          if (std::find(names.begin(), names.end(), each.name) != names.end()) distinct = buffers.insert(each.name).second && distinct;
        };
        std::for_each(task.file.buffers.begin(), task.file.buffers.end(), meet);
        std::for_each(task.file.scratches.begin(), task.file.scratches.end(), meet);
      }
    }
    const auto brackets = parameter_brackets(draft.code, signature.name);
    if (!distinct || signature.parameters.empty() || !brackets) continue;
    const auto [open, close] = *brackets;
    std::string list = draft.code.substr(open, close - open);
    if (list.find("__restrict__") != std::string::npos || list.find('(', 1) != std::string::npos) continue;
    std::string changed;
    for (char c : list) changed += c == '*' ? "* __restrict__" : std::string(1, c);
    if (changed == list) continue;
    for (std::size_t i = changed.find("__restrict__"); i != std::string::npos; i = changed.find("__restrict__", i + 12))
      if (i + 12 < changed.size() && changed[i + 12] != ' ') changed.insert(i + 12, " ");
    draft.code.replace(open, close - open, changed);
    any = true;
  }
  if (any)
    draft.technique(Technique::read_only_access,
                    "No two pointers of a launch meet, which `__restrict__` tells the compiler: it may load early and "
                    "through the read-only path.");
  return any;
}

}  // namespace cudal1::rewriter
