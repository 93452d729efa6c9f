// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

namespace cudal1::sandbox {

bool seccomp_available();

// What a process hears of a system call: that it happened, that it may not (EPERM), that there is none (ENOSYS), or that
// it happened although it did not.
enum class Reply { allow, refuse, unknown, pretend };

// One condition on an argument of a call, counted from 0: its bits in `mask` are `value`, or the whole is not.
struct Condition {
  unsigned argument;
  enum Kind { equal, different } kind;
  std::uint64_t value;
  std::uint64_t mask = ~std::uint64_t{0};   // for `equal`
};

// A seccomp filter, made by libseccomp. Calls of another architecture, as those of x32, are refused. A name that neither
// the library nor the kernel's numbers know is passed over.
class CallFilter {
 public:
  explicit CallFilter(Reply otherwise);
  ~CallFilter();
  CallFilter(const CallFilter&) = delete;
  CallFilter& operator=(const CallFilter&) = delete;

  // The conditions hold together. Of several rules for a call one is enough.
  void reply(Reply reply, const char* call, std::initializer_list<Condition> conditions = {});
  void reply(Reply reply, std::initializer_list<const char*> calls);
  void allow_others_up_to(int number);   // every call below it that has no rule yet

  bool install();                        // for all threads of this process, for good. False: the kernel refused
  std::string program() const;           // as seccomp(2) takes it

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cudal1::sandbox
