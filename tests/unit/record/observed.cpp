// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "record/program.hpp"

#include <cstdlib>
#include <cstring>

using namespace cudal1;

#ifdef CUDAL1_FAKE_PROGRAM

namespace {

struct Watched {
  record::Recording recording;
  record::Ended end;
};

Watched watch(const std::string& word, const record::Choice& choice, bool keep = true) {
  ::setenv("CUDAL1_CUPTI", CUDAL1_FAKE_GPU, 1);
  record::ObservedOptions options;
  options.choice = choice;
  options.keep = keep;
  Watched watched;
  watched.end = record::record_observed({{CUDAL1_FAKE_PROGRAM, word}, {}}, CUDAL1_INJECTED, options, watched.recording);
  for (const auto& problem : watched.recording.problems) UNSCOPED_INFO(problem);
  return watched;
}

std::vector<float> floats(const record::Bytes& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

const record::KernelTotal& total(const record::Recording& recording, const std::string& kernel) {
  for (const auto& one : recording.kernels)
    if (one.kernel == kernel) return one;
  FAIL("no kernel " << kernel);
  std::abort();
}

}  // namespace

TEST_CASE("the launches of a program on a GPU are counted and timed") {
  const Watched watched = watch("", {}, false);
  CHECK(watched.end.exit_code == 0);
  CHECK(watched.recording.problems.empty());
  CHECK(watched.recording.device == "a GPU of paper");
  CHECK_FALSE(watched.recording.predicted);
  CHECK(watched.recording.launches == 5);
  REQUIRE(watched.recording.kernels.size() == 2);
  const auto& scale = total(watched.recording, "scale");
  CHECK(scale.launches == 3);
  CHECK(scale.first == 1);
  CHECK(scale.buffer_bytes == 64);
  CHECK(watched.recording.ms(scale) == 6);
  CHECK(total(watched.recording, "ns::add<float>").buffer_bytes == 64 + 96);
  CHECK(watched.recording.kept.empty());
  CHECK(watched.recording.kept_seconds == 0);
}

TEST_CASE("after some thousand launches without anything new the others count as long as these") {
  const Watched watched = watch("many", {}, false);
  CHECK(watched.recording.launches == 10'002);
  CHECK(watched.recording.ms(total(watched.recording, "scale")) == Approx(20'000));
  CHECK(watched.recording.ms(total(watched.recording, "ns::add<float>")) == Approx(8));  // a new kernel is timed again
}

TEST_CASE("a chosen launch on a GPU is kept with arguments, memory and variables") {
  record::Choice choice;
  choice.first = choice.last = 2;
  const Watched watched = watch("", choice);
  REQUIRE(watched.recording.kept.count("") == 1);
  const record::Kept& kept = watched.recording.kept.at("");
  CHECK(kept.why_not.empty());
  REQUIRE(kept.launches.size() == 1);
  const record::Launch& launch = kept.launches.front();
  CHECK(launch.number == 2);
  CHECK(launch.kernel == "scale");
  CHECK(launch.grid[0] == 2);
  CHECK(launch.block[0] == 8);
  REQUIRE(launch.parameters.size() == 3);
  REQUIRE(launch.parameters[0].targets.size() == 1);
  CHECK(floats(launch.parameters[1].bytes) == std::vector<float>{0.25F});
  REQUIRE(kept.memory.size() == 1);
  const record::Memory& memory = kept.memory.begin()->second;
  CHECK(floats(memory.before)[4] == 2);
  CHECK(floats(memory.after)[4] == 1);
  CHECK(kept.ms == Approx(0.25));
  REQUIRE(kept.variables.size() == 1);
  CHECK(kept.variables[0].symbol == "weight");
  CHECK(floats(kept.variables[0].before) == std::vector<float>{2});
  CHECK(watched.recording.kept_seconds > 0);
  CHECK(watched.recording.kept_seconds < watched.end.seconds);
  CHECK(watched.recording.ms(total(watched.recording, "scale")) == 0);  // nobody asked for times
}

TEST_CASE("an argument on a GPU may point into the middle of an allocation") {
  record::Choice choice;
  choice.kernels = {"add"};
  const Watched watched = watch("", choice);
  const record::Kept& kept = watched.recording.kept.at("");
  REQUIRE(kept.launches.size() == 1);
  CHECK(kept.launches.front().number == 4);
  REQUIRE(kept.launches.front().parameters.size() == 2);
  REQUIRE(kept.launches.front().parameters[1].targets.size() == 1);
  CHECK(kept.launches.front().parameters[1].targets[0].at == 16);
  CHECK(kept.memory.size() == 2);
}

TEST_CASE("without a choice the first large launch of each kernel on a GPU is kept") {
  const Watched watched = watch("", {});
  REQUIRE(watched.recording.kept.size() == 2);
  CHECK(watched.recording.kept.at("scale").launches.front().number == 1);
  CHECK(watched.recording.kept.at("ns::add<float>").launches.front().number == 4);
}

TEST_CASE("launches on a GPU between which the program writes memory give no task") {
  record::Choice choice;
  choice.first = 3;
  choice.last = 4;
  CHECK(watch("", choice).recording.kept.at("").why_not.empty());
  const Watched watched = watch("write", choice);
  CHECK_THAT(watched.recording.kept.at("").why_not, containing("after launch 3 the program itself writes"));
}

TEST_CASE("a launch that becomes part of a graph is named") {
  record::Choice choice;
  choice.kernels = {"scale"};
  CHECK_THAT(watch("capture", choice).recording.kept.at("").why_not, containing("launch 1 of scale cannot be recorded: it becomes part of a CUDA graph"));
}

TEST_CASE("kernels are loaded when a program on a GPU needs them") {
  ::unsetenv("CUDA_MODULE_LOADING");
  CHECK(watch("eager", {}, false).end.exit_code == 0);
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 1);   // unless its user says otherwise
  CHECK(watch("eager", {}, false).end.exit_code == 7);
  ::unsetenv("CUDA_MODULE_LOADING");
}

TEST_CASE("a program on a GPU ends when what was chosen is recorded") {
  record::Choice choice;
  choice.kernels = {"scale"};
  choice.stop = true;
  const Watched watched = watch("more", choice);
  CHECK(watched.end.exit_code == 0);
  CHECK(watched.recording.launches == 1);
  CHECK(watched.recording.kept.at("").launches.size() == 1);
}

#endif
