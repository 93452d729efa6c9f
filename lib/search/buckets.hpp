// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.hpp"

#include <cstddef>
#include <vector>

namespace cudal1::search {

// Scores sorted into buckets of equal width in log score, each with its probability of being drawn first:
// P(i) = exp((m_i - mu) / tau) / sum_j exp((m_j - mu) / tau), where m_i is the mean log score of bucket i and mu the mean
// of all m_i (CUDA-L1, arXiv 2507.14111, there in plain scores; in log score one outlier does not take all the weight).
struct Bucket {
  std::vector<std::size_t> members;  // indices of scores
  double mean = 0;                   // of log score
  double probability = 0;
};
std::vector<Bucket> buckets(const std::vector<double>& scores, double tau, double width);  // by rising score

// Draws `count` scores from distinct buckets, without replacement, and uniformly within each. With fewer buckets than
// that, the rest is drawn from all scores that are left. Returns indices; fewer than `count` only when there are fewer
// scores. Every score must be positive.
std::vector<std::size_t> draw(const std::vector<double>& scores, std::size_t count, double tau, double width,
                              base::Random& random);

}  // namespace cudal1::search
