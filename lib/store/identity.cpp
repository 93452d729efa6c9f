// SPDX-License-Identifier: Apache-2.0
#include "store/identity.hpp"

#include "base/digest.hpp"

#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::store {

namespace {

std::string_view sampling_name(search::Sampling sampling) {
  switch (sampling) {
    case search::Sampling::buckets: return "buckets";
    case search::Sampling::islands: return "islands";
    case search::Sampling::random: return "random";
    case search::Sampling::none: return "none";
  }
  return "";
}

}  // namespace

std::string Identity::digest() const {
  std::string all;
  // Each value is preceded by its length, so that no two identities write the same text.
  const auto add = [&](const std::string& value) { all += fmt::format("{}:{}\n", value.size(), value); };
  add(task_digest);
  add(device);
  add(prompts_digest);
  add(fmt::format("{}", models.size()));
  for (const auto& model : models) add(model);
  add(fmt::format("{} {} {} {} {} {}", seed, samples, exemplars, tau, bucket_width, repair));
  add(sampling);
  add(hint);
  add(start_from_digest);
  if (precision != "fp32") add(precision);
  if (!show_scores) add("no scores");
  return base::sha256(all);
}

Identity identity(const task::Task& task, const search::Options& options, std::vector<std::string> models,
                  std::string device, std::string driver, std::string version, std::string prompts_digest) {
  Identity identity;
  identity.task_name = task.name();
  identity.task_path = task.path.string();
  identity.task_digest = task.digest;
  identity.task_source = task.file.source;
  identity.device = std::move(device);
  identity.driver = std::move(driver);
  identity.version = std::move(version);
  identity.prompts_digest = std::move(prompts_digest);
  identity.models = std::move(models);
  identity.seed = options.seed;
  identity.samples = options.samples;
  identity.exemplars = options.exemplars;
  identity.tau = options.tau;
  identity.bucket_width = options.bucket_width;
  identity.sampling = sampling_name(options.sampling);
  identity.repair = options.repair;
  identity.hint = options.hint;
  if (!options.start_from.empty()) identity.start_from_digest = base::sha256(options.start_from);
  identity.show_scores = options.show_scores;
  return identity;
}

std::filesystem::path default_folder(const Identity& identity, const std::filesystem::path& base) {
  std::string name;
  for (const char c : identity.task_name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    name += plain ? c : '_';
  }
  return base / "cudal1-runs" / fmt::format("{}-{}", name.empty() ? "task" : name, identity.digest().substr(0, 8));
}

}  // namespace cudal1::store
