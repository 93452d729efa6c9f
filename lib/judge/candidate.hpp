// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compile/compiler.hpp"
#include "judge/messages.hpp"
#include "outcome/judgement.hpp"
#include "task/task.hpp"

#include <map>
#include <string>
#include <vector>

namespace cudal1::judge {

// A verdict reached before anything ran, with its evidence.
using Rejected = outcome::Judgement;

// An answer bound to its task: valid form, plan and family, nothing compiled yet.
struct Candidate {
  kernel::File file;
  std::vector<kernel::Environment> family;
};
tl::expected<Candidate, Rejected> read_candidate(const task::Task& task, const std::string& source,
                                                 const std::string& name);
tl::expected<Candidate, Rejected> candidate_of(kernel::File bound);

// One member of a family with every plan resolved and compiled for `arch`.
tl::expected<Executable, Rejected> build(const task::Task& task, const Candidate& candidate,
                                         const kernel::Environment& tunables, compile::Compiler& compiler,
                                         const std::string& arch);

// Members of one family, compiled, by their index in it.
using Built = std::map<std::size_t, tl::expected<Executable, Rejected>>;

// What a device found wrong.
Rejected rejected(verify::Evidence evidence);

// Keeps what is known about the kernel and takes over why it failed.
outcome::Judgement with_fault(outcome::Judgement judgement, const Rejected& fault);

// Names one member of one source's family, in the run and in those that go on with it.
std::string candidate_key(const std::string& source, const kernel::Environment& tunables);

std::map<std::string, std::int64_t> integers(const kernel::Environment& tunables);

// Indices of at most `count` members spread over a family: the first, the last, and others at equal distances.
std::vector<std::size_t> spread(std::size_t members, std::size_t count);

// Members that differ from `best` in one tunable, by one step of the values that the family has.
std::vector<std::size_t> neighbours(const std::vector<kernel::Environment>& family, std::size_t best);

}  // namespace cudal1::judge
