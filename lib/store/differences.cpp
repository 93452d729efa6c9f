// SPDX-License-Identifier: Apache-2.0
#include "store/differences.hpp"

#include "base/error.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::store {

namespace {

struct Field {
  std::string_view name;
  bool forcible;
  std::string (*text)(const Identity&);
};

const Field fields[] = {
    {"task", false, [](const Identity& identity) { return fmt::format("{} ({})", identity.task_name, identity.task_digest.substr(0, 8)); }},
    {"device", true, [](const Identity& identity) { return identity.device; }},
    {"driver", true, [](const Identity& identity) { return identity.driver; }},
    {"version of cudal1", true, [](const Identity& identity) { return identity.version; }},
    {"prompts", true, [](const Identity& identity) { return identity.prompts_digest.substr(0, 8); }},
    {"models", true, [](const Identity& identity) { return fmt::format("{}", fmt::join(identity.models, ",")); }},
    {"seed", false, [](const Identity& identity) { return std::to_string(identity.seed); }},
    {"samples", false, [](const Identity& identity) { return std::to_string(identity.samples); }},
    {"exemplars", false, [](const Identity& identity) { return std::to_string(identity.exemplars); }},
    {"sampling", false, [](const Identity& identity) {
       return fmt::format("{} tau {} width {}", identity.sampling, identity.tau, identity.bucket_width);
     }},
    {"repair", false, [](const Identity& identity) { return std::string(identity.repair ? "on" : "off"); }},
    {"hint", false, [](const Identity& identity) { return identity.hint; }},
    {"precision", false, [](const Identity& identity) { return identity.precision; }},
    {"scores", false, [](const Identity& identity) { return std::string(identity.show_scores ? "shown" : "hidden"); }},
    {"start", false, [](const Identity& identity) { return identity.start_from_digest.substr(0, 8); }},
};

}  // namespace

void refuse_differences(const std::filesystem::path& folder, const Identity& found, const Identity& wanted, bool force) {
  std::vector<std::string> differences;
  bool all_forcible = true;
  for (const auto& field : fields) {
    const auto ours = field.text(wanted), theirs = field.text(found);
    if (ours == theirs || (force && field.forcible)) continue;
    differences.push_back(fmt::format("  {}: «{}» there, «{}» here", field.name, theirs, ours));
    all_forcible = all_forcible && field.forcible;
  }
  if (differences.empty()) return;
  throw base::Error(base::Fault::usage,
                    fmt::format("{} holds another run:\n{}\nName another folder with --out, or start afresh with --again{}",
                                folder.string(), fmt::join(differences, "\n"),
                                all_forcible ? ", or go on in spite of it with --force" : ""));
}

}  // namespace cudal1::store
