// SPDX-License-Identifier: Apache-2.0
// Rounds of four variants that lie close to each other by known extra work: which of them is chosen?
#include "court.hpp"
#include "figures.hpp"

#include "search/race.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

namespace figures {

namespace {

struct Contest {
  std::string name;
  Kernel task;                          // the reference, slower than all
  std::vector<std::string> variants;    // the fastest first
  std::string gaps;
};

std::vector<Contest> contests() {
  Contest steps{"arithmetic_400", arithmetic(800, 0), {}, "0, 1, 2, 3 % more multiply-adds"};
  for (const double percent : {0.0, 1.0, 2.0, 3.0}) steps.variants.push_back(arithmetic(400, percent).variant);
  Contest chained = steps;              // compared with the fastest so far, not with the reference
  chained.name += ", reference 20 times slower";
  chained.task = arithmetic(8000, 0);
  // What the task itself reads in vain, a variant reads a small part of.
  Contest bytes{"traffic_8192k", {}, {}, "0, 2, 4, 6 % more bytes"};
  const long elements = 1L << 23;
  bytes.task = traffic(elements, 100);
  bytes.task.task = bytes.task.task.substr(0, bytes.task.task.find("//@ launch")) + bytes.task.variant;
  for (const int percent : {0, 2, 4, 6}) {
    const std::string extra = fmt::format("(E / 100 * {})", percent);
    std::string text = percent == 0 ? traffic(elements, 0).variant : bytes.task.variant;
    for (std::size_t at = 0; percent > 0 && (at = text.find("N + E", at)) != std::string::npos; at += extra.size() + 4)
      text.replace(at, 5, "N + " + extra);
    bytes.variants.push_back(text.substr(text.find(percent == 0 ? "//@ launch" : "//@ scratch")));
  }
  return {steps, chained, bytes};
}

// The chosen one's number; screened in random order, as answers arrive.
struct Choice {
  std::size_t screened = 0, raced = 0;
  std::size_t racers = 0;
  double race_seconds = 0, screen_seconds = 0;
  std::string problem;
};

Choice choose(judge::Judge& judge, const std::vector<std::string>& texts, base::Random& random) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < texts.size(); ++i) order.insert(order.begin() + static_cast<std::ptrdiff_t>(random.below(i + 1)), i);
  std::vector<search::Variant> variants;
  Choice choice;
  const auto best = [&] {
    return order[static_cast<std::size_t>(std::max_element(variants.begin(), variants.end(), [](const auto& a, const auto& b) {
                                            return a.score() < b.score();
                                          }) - variants.begin())];
  };
  for (const std::size_t number : order) {
    auto& variant = variants.emplace_back();
    variant.id = fmt::format("v{}", number);
    variant.source = texts[number];
    variant.judgement = judge.screen(variant.source, variant.id + ".cu");
    choice.screen_seconds += variant.judgement.seconds;
    if (!outcome::is_right(variant.judgement.verdict)) throw base::Error(base::Fault::internal, variant.judgement.message);
  }
  choice.screened = best();
  const auto racers = search::contenders(variants, 0);
  std::vector<judge::Entrant> entrants;
  for (const auto index : racers) entrants.push_back({variants[index].source, variants[index].id + ".cu", variants[index].judgement.tunables});
  if (!entrants.empty()) {
    const auto raced = judge.race(entrants);
    choice.race_seconds = raced->seconds;
    choice.problem = raced->problem;
    search::rescore(search::placed(1, *raced, racers, variants, 0), variants);
  }
  choice.racers = racers.size();
  choice.raced = best();
  return choice;
}

}  // namespace

int race(int count) {
  const base::Seconds end = base::now() + limit();
  bool complete = true;
  for (const Contest& contest : contests()) {
    Court court(contest.task, false);
    court.judge.reference();
    base::Random random(base::secret_seed());
    std::vector<int> screened(4), raced(4), sizes(5);
    std::vector<double> seconds, screening;
    int rounds = 0, problems = 0;
    for (; rounds < count && base::now() < end; ++rounds) {
      const Choice choice = choose(court.judge, contest.variants, random);
      ++screened[choice.screened];
      ++raced[choice.raced];
      ++sizes[choice.racers];
      problems += !choice.problem.empty();
      screening.push_back(choice.screen_seconds);
      if (choice.racers > 0) seconds.push_back(choice.race_seconds);
    }
    complete = complete && rounds == count;
    std::printf("%s (%s): %d rounds\n  chosen by screening %d %d %d %d, after the race %d %d %d %d\n"
                "  racers: none in %d rounds, 2 in %d, 3 in %d, 4 in %d; a race takes %.3f s, the longest %.3f s; the four screenings %.2f s; %d void\n",
                contest.name.c_str(), contest.gaps.c_str(), rounds, screened[0], screened[1], screened[2], screened[3], raced[0], raced[1],
                raced[2], raced[3], sizes[0], sizes[2], sizes[3], sizes[4], median(seconds),
                seconds.empty() ? 0 : *std::max_element(seconds.begin(), seconds.end()), median(screening), problems);
    std::fflush(stdout);
  }
  return complete ? 0 : 1;
}

}  // namespace figures
