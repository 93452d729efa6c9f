// SPDX-License-Identifier: Apache-2.0
#include "compile/sandbox.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cudal1::compile {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t architecture = 0;
#endif

// What a compile needs: memory, time, its own signals, and reading and writing what is open already.
constexpr int always_allowed[] = {
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_close, SYS_fstat, SYS_lseek, SYS_fcntl, SYS_ppoll,
    SYS_recvfrom, SYS_recvmsg, SYS_sendto, SYS_sendmsg,
    SYS_mmap, SYS_mprotect, SYS_munmap, SYS_mremap, SYS_brk, SYS_madvise, SYS_mincore, SYS_membarrier,
    SYS_futex, SYS_set_robust_list, SYS_sched_yield, SYS_sched_getaffinity, SYS_exit, SYS_exit_group,
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack, SYS_restart_syscall,
    SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday, SYS_times, SYS_getrusage,
    SYS_getpid, SYS_gettid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getcwd, SYS_uname, SYS_sysinfo,
    SYS_getrandom,
#ifdef SYS_rseq
    SYS_rseq,
#endif
#ifdef SYS_poll
    SYS_poll,
#endif
#ifdef SYS_time
    SYS_time,
#endif
};

constexpr int file_calls[] = {
    SYS_openat, SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_readlinkat, SYS_getdents64,
#ifdef SYS_faccessat2
    SYS_faccessat2,
#endif
#ifdef SYS_open
    SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink,
#endif
};

class Filter {
 public:
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
  void answer(std::uint32_t action) { add(BPF_RET | BPF_K, action); }
  void answer_if_equal(std::uint32_t value, std::uint32_t action) {
    jump(BPF_JEQ, value, 0, 1);
    answer(action);
  }
  void allow_call(int number) { answer_if_equal(static_cast<std::uint32_t>(number), SECCOMP_RET_ALLOW); }
  // The next `length` instructions look at this call's arguments and answer it.
  void begin_call(int number, std::uint8_t length) { jump(BPF_JEQ, static_cast<std::uint32_t>(number), 0, length); }
  void jump(std::uint16_t comparison, std::uint32_t value, std::uint8_t when_true, std::uint8_t when_false) {
    code_.push_back({static_cast<std::uint16_t>(BPF_JMP | comparison | BPF_K), when_true, when_false, value});
  }
  bool install() {
    const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
  }

 private:
  void add(std::uint16_t code, std::uint32_t value) { code_.push_back({code, 0, 0, value}); }
  std::vector<sock_filter> code_;
};

constexpr std::uint32_t refuse(int why) { return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(why); }

std::size_t argument(int index) { return offsetof(seccomp_data, args) + static_cast<std::size_t>(index) * sizeof(std::uint64_t); }

}  // namespace

bool seccomp_available() {
  const std::uint32_t action = SECCOMP_RET_ERRNO;
  return architecture != 0 && ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

bool confine_calls(bool files) {
  if (architecture == 0) return false;
  Filter filter;
  filter.load(offsetof(seccomp_data, arch));
  filter.jump(BPF_JEQ, architecture, 1, 0);
  filter.answer(SECCOMP_RET_KILL_PROCESS);
  filter.load(offsetof(seccomp_data, nr));
  for (const int call : always_allowed) filter.allow_call(call);
  if (files)
    for (const int call : file_calls) filter.allow_call(call);
  // Another thread may be started, another process may not. clone3 hides its flags, so the C library is sent to clone.
  filter.answer_if_equal(SYS_clone3, refuse(ENOSYS));
  filter.begin_call(SYS_clone, 4);
  filter.load(argument(0));
  filter.jump(BPF_JSET, CLONE_THREAD, 0, 1);
  filter.answer(SECCOMP_RET_ALLOW);
  filter.answer(refuse(EPERM));
  // abort() sends itself a signal.
  filter.begin_call(SYS_tgkill, 4);
  filter.load(argument(0));
  filter.jump(BPF_JEQ, static_cast<std::uint32_t>(::getpid()), 0, 1);
  filter.answer(SECCOMP_RET_ALLOW);
  filter.answer(refuse(EPERM));
  // Limits may be asked for, not set: the pointer to the new limit must be null.
  filter.begin_call(SYS_prlimit64, 6);
  filter.load(argument(2));
  filter.jump(BPF_JEQ, 0, 0, 3);
  filter.load(argument(2) + 4);
  filter.jump(BPF_JEQ, 0, 0, 1);
  filter.answer(SECCOMP_RET_ALLOW);
  filter.answer(refuse(EPERM));
  filter.answer(refuse(EPERM));
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && filter.install();
}

}  // namespace cudal1::compile
