// SPDX-License-Identifier: Apache-2.0
#include "sandbox/program_calls.hpp"

#include "sandbox/launch.hpp"

#include <asm/sockios.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cudal1::sandbox {
namespace {

// Calls from here on are younger than the list below, which cannot name them: a program hears that there are none, and
// uses what was there before.
constexpr int first_unknown_call = 451;

constexpr std::uint64_t new_namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

}  // namespace

// A pair of sockets with each other is all that is left. A datagram's could send to any address.
void rule_sockets(CallFilter& filter) {
  constexpr std::uint64_t kind = 0xf;
  filter.reply(Reply::refuse, {"socket", "connect", "bind", "listen", "accept", "accept4"});
  for (const int type : {SOCK_STREAM, SOCK_SEQPACKET})
    filter.reply(Reply::allow, "socketpair", {{0, Condition::equal, AF_UNIX}, {1, Condition::equal, static_cast<std::uint64_t>(type), kind}});
  filter.reply(Reply::refuse, "socketpair", {{0, Condition::different, AF_UNIX}});
  filter.reply(Reply::refuse, "socketpair", {{0, Condition::equal, AF_UNIX}, {1, Condition::equal, SOCK_DGRAM, kind}});
  filter.reply(Reply::allow, "sendto", {{4, Condition::equal, 0}});
  filter.reply(Reply::refuse, "sendto", {{4, Condition::different, 0}});
}

void rule(CallFilter& filter, const CallRules& rules) {
  // Other processes, and the whole system.
  filter.reply(Reply::refuse,
               {"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp", "pidfd_open", "pidfd_getfd",
                "pidfd_send_signal", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "setpriority", "ioprio_set", "sched_setscheduler", "sched_setparam",
                "sched_setattr", "migrate_pages", "move_pages", "personality", "perf_event_open", "bpf", "userfaultfd", "keyctl", "add_key",
                "request_key", "io_uring_setup", "io_uring_enter", "io_uring_register", "fanotify_init", "fanotify_mark", "name_to_handle_at",
                "open_by_handle_at", "openat2", "lookup_dcookie", "memfd_secret", "vhangup", "syslog", "acct", "quotactl", "quotactl_fd", "swapon", "swapoff",
                "reboot", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "iopl", "ioperm", "modify_ldt",
                "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "stime", "sethostname", "setdomainname", "mknod", "mknodat"});
  // Namespaces and mounts.
  filter.reply(Reply::refuse, {"unshare", "setns", "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen",
                               "fsconfig", "fsmount", "fspick", "mount_setattr"});
  filter.reply(Reply::allow, "clone", {{0, Condition::equal, 0, new_namespaces}});
  filter.reply(Reply::unknown, "clone3");   // hides its flags, so the C library is sent to clone
  // Memory and queues that outlive their process.
  filter.reply(Reply::refuse, {"shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd", "msgrcv", "msgctl",
                               "mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr"});
  // The process group is what is killed in the end, so nobody leaves it. Builders ask for groups of their own and fail
  // when they are refused, as linkers do that make their output executable; Landlock knows nothing of these calls.
  filter.reply(Reply::pretend, {"setsid", "setpgid", "chmod", "fchmod", "fchmodat", "chown", "fchown", "lchown", "fchownat", "utime", "utimes",
                                "utimensat", "futimesat", "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"});
  // Of itself alone.
  filter.reply(Reply::allow, "prlimit64", {{0, Condition::equal, 0}});
  filter.reply(Reply::refuse, "prlimit64", {{0, Condition::different, 0}});
  filter.reply(Reply::allow, "sched_setaffinity", {{0, Condition::equal, 0}});
  filter.reply(Reply::refuse, "sched_setaffinity", {{0, Condition::different, 0}});
  if (!rules.signals_kept_in) {
    filter.reply(Reply::refuse, {"kill", "tkill"});
    filter.reply(Reply::allow, "tgkill", {{0, Condition::equal, static_cast<std::uint64_t>(::getpid())}});
    filter.reply(Reply::refuse, "tgkill", {{0, Condition::different, static_cast<std::uint64_t>(::getpid())}});
  }
  if (rules.local_sockets) {
    filter.reply(Reply::allow, "socket", {{0, Condition::equal, AF_UNIX}});
    filter.reply(Reply::refuse, "socket", {{0, Condition::different, AF_UNIX}});
  } else {
    rule_sockets(filter);
  }
  filter.allow_others_up_to(first_unknown_call);
}

// The kernel looks at the low half of these arguments only, so the filter must, too, and can say so of what it refuses alone.
void rule_commands(CallFilter& filter) {
  constexpr std::uint64_t low_half = 0xffffffff;
  // Signals by way of a file's owner, and letters typed into a terminal.
  for (const std::uint64_t command : {F_SETOWN, F_SETOWN_EX}) filter.reply(Reply::refuse, "fcntl", {{1, Condition::equal, command, low_half}});
  for (const std::uint64_t command : {FIOSETOWN, SIOCSPGRP, TIOCSTI}) filter.reply(Reply::refuse, "ioctl", {{1, Condition::equal, command, low_half}});
  // A handle of who is at a socket's other end.
  constexpr std::uint64_t pass_handles = 76, peer_handle = 77;   // SO_PASSPIDFD, SO_PEERPIDFD of Linux 6.5
  filter.reply(Reply::refuse, "setsockopt", {{2, Condition::equal, pass_handles, low_half}});
  filter.reply(Reply::refuse, "getsockopt", {{2, Condition::equal, peer_handle, low_half}});
  // Programs that run with the rights of their file's owner, made as such where their mode cannot be changed afterwards.
  for (const std::uint64_t bit : {S_ISUID, S_ISGID}) {
    filter.reply(Reply::refuse, "creat", {{1, Condition::equal, bit, bit}});
    filter.reply(Reply::refuse, "open", {{1, Condition::equal, O_CREAT, O_CREAT}, {2, Condition::equal, bit, bit}});
    filter.reply(Reply::refuse, "openat", {{2, Condition::equal, O_CREAT, O_CREAT}, {3, Condition::equal, bit, bit}});
  }
}

std::string without_sockets() {
  constexpr std::uint64_t low_half = 0xffffffff;
  CallFilter filter(Reply::allow);
  rule_sockets(filter);
  // A process that is stopped stands still: no timer and no change of a file wakes it by a signal of its own.
  filter.reply(Reply::refuse, "timer_create");
  for (const std::uint64_t command : {F_SETSIG, F_NOTIFY, F_SETLEASE}) filter.reply(Reply::refuse, "fcntl", {{1, Condition::equal, command, low_half}});
  filter.reply(Reply::refuse, {"inotify_init", "inotify_init1", "inotify_add_watch"});   // Landlock lets it look at any folder
  filter.reply(Reply::refuse, {"sendmsg", "sendmmsg"});   // what the program opened so far may be connected anywhere
  return filter.program();
}

}  // namespace cudal1::sandbox
