// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "reward/reward.hpp"

#include <cmath>

using namespace cudal1;
using reward::Result;
using reward::Shape;
using reward::Standing;

namespace {

Result right(double value, double half = 0.02, bool confirmed = true) {
  Result result;
  result.executable = result.right = true;
  result.confirmed = confirmed;
  result.speedup = outcome::Speedup{value, value * (1 - half), value * (1 + half)};
  return result;
}

double of(Shape shape, const Result& result, const Standing& standing = {}) { return reward::value(shape, result, standing).value(); }

const Result unreadable = [] { Result result; result.readable = false; return result; }();
const Result broken;
const Result wrong = [] { Result result; result.executable = true; return result; }();
const Result cheat = [] { Result result; result.executable = result.cheat = true; return result; }();

}  // namespace

TEST_CASE("paper: standardised by the task's own answers, clipped, rounded towards 1") {
  const Standing some{4, 2.0, 0.5, 3.0};
  CHECK(of(Shape::paper, right(2.25), some) == Approx(0.5));
  CHECK(of(Shape::paper, right(2.259), some) == Approx(0.5));
  CHECK(of(Shape::paper, right(1.991), some) == Approx(-0.02));
  CHECK(of(Shape::paper, right(0.991), {4, 1.0, 0.01, 2}) == Approx(0.0));   // 0.991 is 1.00
  CHECK(of(Shape::paper, right(5.9), some) == 1.5);
  CHECK(of(Shape::paper, wrong, some) == -1.5);
  CHECK(of(Shape::paper, right(1.4)) == Approx(0.4));
  CHECK(of(Shape::paper, wrong) == Approx(-1));
  CHECK(of(Shape::paper, cheat, {4, 2.0, 5.0, 9.0}) == -1.5);
  CHECK(of(Shape::paper, wrong, {4, 2.0, 5.0, 9.0}) == Approx(-0.4));
}

TEST_CASE("log: a speed-up counts by its share of the task's best, and noise for nothing") {
  CHECK(of(Shape::log, right(1.01, 0.05)) == 1);
  CHECK(of(Shape::log, right(2 / 0.98)) == Approx(2));
  CHECK(of(Shape::log, right(4 / 0.98), {3, 4, 1, 16}) == Approx(1.5));
  CHECK(of(Shape::log, right(0.5 / 1.02)) == Approx(0));
  CHECK(of(Shape::log, right(0.01)) == Approx(0));
  CHECK(of(Shape::log, right(1000)) == Approx(2.5));
  CHECK(of(Shape::log, wrong) == 0);
  CHECK(of(Shape::log, broken) == -0.2);
  CHECK(of(Shape::log, unreadable) == -0.3);
  CHECK(of(Shape::log, cheat) == -0.3);
}

TEST_CASE("milestones: right, faster than the reference, faster than the best") {
  const Standing best{2, 2, 1, 2};
  CHECK(of(Shape::milestones, wrong, best) == -1);
  CHECK(of(Shape::milestones, right(1.06, 0.02), best) == 1);   // its interval begins below 1.05
  CHECK(of(Shape::milestones, right(1.8), best) == 2);
  CHECK(of(Shape::milestones, right(2.1), best) == 2);
  CHECK(of(Shape::milestones, right(2.3), best) == 3);
  CHECK(of(Shape::milestones, cheat, best) == -1);
}

TEST_CASE("kevin and correct") {
  CHECK(of(Shape::kevin, right(2)) == Approx(2.3));
  CHECK(of(Shape::kevin, wrong) == 0);
  CHECK(of(Shape::correct, right(0.1)) == 1);
  CHECK(of(Shape::correct, cheat) == 0);
}

TEST_CASE("a jump counts in full only after a final verdict") {
  CHECK(reward::jump_limit({}) == 3);
  CHECK(reward::jump_limit({5, 4, 1, 8}) == 16);
  CHECK(of(Shape::kevin, right(40, 0.02, false)) == Approx(3.3));
  CHECK(of(Shape::kevin, right(40)) == Approx(40.3));
  CHECK(of(Shape::kevin, right(10, 0.02, false), {5, 4, 1, 8}) == Approx(10.3));
}

TEST_CASE("a copy of what the prompt showed earns what the reference does") {
  Result copy = right(41);
  copy.duplicate = true;
  CHECK(of(Shape::kevin, copy) == Approx(1.3));
  CHECK(of(Shape::log, copy, {3, 30, 10, 41}) == 1);
  CHECK(of(Shape::milestones, copy, {3, 30, 10, 41}) == 1);
}

TEST_CASE("right but not timed: only correctness has a value") {
  Result verified = right(1);
  verified.speedup.reset();
  CHECK_FALSE(reward::value(Shape::log, verified, {}));
  CHECK(of(Shape::correct, verified) == 1);
}

TEST_CASE("shapes have names") {
  for (const auto name : reward::shape_names()) CHECK(reward::name(reward::parse_shape(name).value()) == name);
  CHECK_FALSE(reward::parse_shape("best"));
}
