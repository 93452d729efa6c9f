// SPDX-License-Identifier: Apache-2.0
#include "compile/sandbox.hpp"

#include "sandbox/call_filter.hpp"

#include <sched.h>
#include <unistd.h>

namespace cudal1::compile {

bool confine_calls(bool files) {
  using sandbox::Condition, sandbox::Reply;
  sandbox::CallFilter filter(Reply::refuse);
  // What a compile needs: memory, time, its own signals, and reading and writing what is open already.
  filter.reply(Reply::allow, {"read", "write", "readv", "writev", "pread64", "close", "fstat", "lseek", "fcntl", "ppoll", "poll", "recvfrom",
                              "recvmsg", "sendto", "sendmsg", "mmap", "mprotect", "munmap", "mremap", "brk", "madvise", "mincore", "membarrier",
                              "futex", "set_robust_list", "sched_yield", "sched_getaffinity", "exit", "exit_group", "rt_sigaction",
                              "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall", "clock_gettime", "clock_getres",
                              "clock_nanosleep", "nanosleep", "gettimeofday", "time", "times", "getrusage", "getpid", "gettid", "getppid",
                              "getuid", "geteuid", "getgid", "getegid", "getcwd", "uname", "sysinfo", "getrandom", "rseq"});
  if (files)
    filter.reply(Reply::allow, {"openat", "newfstatat", "statx", "faccessat", "faccessat2", "readlinkat", "getdents64", "open", "stat", "lstat",
                                "access", "readlink"});
  // Another thread may be started, another process may not. clone3 hides its flags, so the C library is sent to clone.
  filter.reply(Reply::unknown, "clone3");
  filter.reply(Reply::allow, "clone", {{0, Condition::equal, CLONE_THREAD, CLONE_THREAD}});
  // abort() sends itself a signal.
  filter.reply(Reply::allow, "tgkill", {{0, Condition::equal, static_cast<std::uint64_t>(::getpid())}});
  // Limits may be asked for, not set: the pointer to the new limit must be null.
  filter.reply(Reply::allow, "prlimit64", {{2, Condition::equal, 0}});
  return filter.install();
}

}  // namespace cudal1::compile
