// SPDX-License-Identifier: Apache-2.0
#include "search/exemplars.hpp"

#include "search/buckets.hpp"
#include "task/module.hpp"

#include <algorithm>
#include <utility>

namespace cudal1::search {

namespace {

constexpr int islands = 4;

// Streams of one seed must not meet; these are the exemplars'.
std::uint64_t stream(const model::Key& key) {
  return (std::uint64_t{1} << 56) | (static_cast<std::uint64_t>(key.round) << 24) | static_cast<std::uint64_t>(key.sample);
}
std::uint64_t order_stream(const model::Key& key) { return (std::uint64_t{1} << 57) | stream(key); }

std::vector<std::size_t> draw_uniformly(std::vector<std::size_t> pool, std::size_t count, base::Random& random) {
  std::vector<std::size_t> drawn;
  while (drawn.size() < count && !pool.empty()) {
    const auto chosen = static_cast<std::ptrdiff_t>(random.below(pool.size()));
    drawn.push_back(pool[static_cast<std::size_t>(chosen)]);
    pool.erase(pool.begin() + chosen);
  }
  return drawn;
}

}  // namespace

std::vector<std::size_t> choose_exemplars(const std::vector<Variant>& variants, const Options& options,
                                          const model::Key& key) {
  if (options.sampling == Sampling::none) return {};
  std::vector<std::size_t> pool;
  const auto add = [&](auto&& wanted) {
    for (std::size_t index = 0; index < variants.size(); ++index) {
      const auto& variant = variants[index];
      if (variant.status == Variant::Status::judged && variant.right() && variant.judgement.score() > 0 && wanted(variant))
        pool.push_back(index);
    }
  };
  const auto count = static_cast<std::size_t>(std::max(options.exemplars, 0));
  if (options.sampling == Sampling::islands)
    add([&](const Variant& variant) { return variant.key.sample % islands == key.sample % islands; });
  if (pool.size() < count) {
    pool.clear();
    add([](const Variant&) { return true; });
  }

  base::Random random(options.seed, stream(key));
  std::vector<std::size_t> chosen;
  if (options.sampling == Sampling::random) {
    chosen = draw_uniformly(pool, count, random);
  } else {
    std::vector<double> scores;
    for (const auto index : pool) scores.push_back(variants[index].judgement.score());
    for (const auto index : draw(scores, count, options.tau, options.bucket_width, random)) chosen.push_back(pool[index]);
  }
  std::sort(chosen.begin(), chosen.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(variants[a].judgement.score(), a) < std::pair(variants[b].judgement.score(), b);
  });
  return chosen;
}

model::Exemplar exemplar(const Variant& variant) {
  model::Exemplar shown{variant.id, variant.source, variant.analysis, variant.judgement};
  if (variant.status == Variant::Status::malformed) shown.judgement.message = variant.reason;
  return shown;
}

std::vector<model::Exemplar> shown_exemplars(const std::vector<Variant>& variants, const task::Task& task, const outcome::Judgement& reference,
                                             const Options& options, const model::Key& key) {
  std::vector<model::Exemplar> shown;
  for (const auto index : choose_exemplars(variants, options, key)) shown.push_back(exemplar(variants[index]));
  const auto wanted = static_cast<std::size_t>(std::max(options.exemplars, 0));
  if (!shown.empty() && shown.size() < wanted && !task::is_module(task)) {
    model::Exemplar own{"reference", task.file.source, "", reference};
    if (!own.judgement.speedup) own.judgement.speedup = outcome::Speedup{};
    const auto slower = std::find_if(shown.begin(), shown.end(), [](const model::Exemplar& other) { return other.judgement.score() > 1; });
    shown.insert(slower, std::move(own));
  }
  if (options.show_scores) return shown;
  // The same variants, in an order that says nothing.
  base::Random random(options.seed, order_stream(key));
  for (std::size_t left = shown.size(); left > 1; --left) std::swap(shown[left - 1], shown[random.below(left)]);
  return shown;
}

}  // namespace cudal1::search
