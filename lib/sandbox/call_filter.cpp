// SPDX-License-Identifier: Apache-2.0
#include "sandbox/call_filter.hpp"

#include <array>
#include <cerrno>
#include <set>

#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cudal1::sandbox {
namespace {

std::uint32_t action(Reply reply) {
  switch (reply) {
    case Reply::allow: return SCMP_ACT_ALLOW;
    case Reply::refuse: return SCMP_ACT_ERRNO(EPERM);
    case Reply::unknown: return SCMP_ACT_ERRNO(ENOSYS);
    case Reply::pretend: return SCMP_ACT_ERRNO(0);
  }
  return SCMP_ACT_KILL_PROCESS;
}

}  // namespace

struct CallFilter::State {
  scmp_filter_ctx context = nullptr;
  Reply otherwise = Reply::refuse;
  std::set<int> ruled;
  bool sound = true;
};

bool seccomp_available() {
  const std::uint32_t asked = SCMP_ACT_ERRNO(0);
  constexpr int get_action_available = 2;
  return ::syscall(SYS_seccomp, get_action_available, 0, &asked) == 0;
}

CallFilter::CallFilter(Reply otherwise) : state_(std::make_unique<State>()) {
  state_->otherwise = otherwise;
  state_->context = seccomp_init(action(otherwise));
  state_->sound = state_->context != nullptr && seccomp_attr_set(state_->context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM)) == 0;
  if (state_->context != nullptr) seccomp_attr_set(state_->context, SCMP_FLTATR_CTL_OPTIMIZE, 2);   // a tree instead of a list
}

CallFilter::~CallFilter() {
  if (state_->context != nullptr) seccomp_release(state_->context);
}

void CallFilter::reply(Reply reply, const char* call, std::initializer_list<Condition> conditions) {
  const int number = seccomp_syscall_resolve_name(call);
  if (number == __NR_SCMP_ERROR || number < 0) return;   // below 0: of another architecture
  state_->ruled.insert(number);
  if (reply == state_->otherwise) return;
  std::array<scmp_arg_cmp, 6> compared{};
  unsigned count = 0;
  for (const Condition& each : conditions) {
    const bool masked = each.kind == Condition::equal && each.mask != ~std::uint64_t{0};
    compared.at(count++) = masked                            ? scmp_arg_cmp{each.argument, SCMP_CMP_MASKED_EQ, each.mask, each.value}
                           : each.kind == Condition::equal ? scmp_arg_cmp{each.argument, SCMP_CMP_EQ, each.value, 0}
                                                           : scmp_arg_cmp{each.argument, SCMP_CMP_NE, each.value, 0};
  }
  if (seccomp_rule_add_array(state_->context, action(reply), number, count, compared.data()) != 0) state_->sound = false;
}

void CallFilter::reply(Reply answer, std::initializer_list<const char*> calls) {
  for (const char* call : calls) reply(answer, call);
}

void CallFilter::allow_others_up_to(int number) {
  for (int call = 0; call < number; ++call)
    if (!state_->ruled.contains(call) && seccomp_rule_add_array(state_->context, SCMP_ACT_ALLOW, call, 0, nullptr) != 0) state_->sound = false;
}

bool CallFilter::install() {
  return state_->sound && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         seccomp_attr_set(state_->context, SCMP_FLTATR_CTL_TSYNC, 1) == 0 && seccomp_load(state_->context) == 0;
}

std::string CallFilter::program() const {
  std::string text;
  const int file = ::memfd_create("filter", MFD_CLOEXEC);
  if (state_->sound && file >= 0 && seccomp_export_bpf(state_->context, file) == 0) {
    text.resize(static_cast<std::size_t>(::lseek(file, 0, SEEK_END)));
    if (::pread(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) text.clear();
  }
  if (file >= 0) ::close(file);
  return text;
}

}  // namespace cudal1::sandbox
