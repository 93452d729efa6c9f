// SPDX-License-Identifier: Apache-2.0
#include "sandbox/namespaces.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cudal1::sandbox {
namespace {

bool written(const char* path, const std::string& text) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool done = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(file);
  return done;
}

}  // namespace

pid_t fork_into(const Namespaces& wanted, const std::function<void()>& body) {
  const pid_t parent = ::getpid();
  unsigned long flags = SIGCHLD;
  if (wanted.users) flags |= CLONE_NEWUSER;
  if (wanted.others) flags |= CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
  if (wanted.processes) flags |= CLONE_NEWPID;
  // The C library's fork knows no flags. Its locks are free, because there is one thread.
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, flags, nullptr, nullptr, nullptr, nullptr));
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!wanted.processes && ::getppid() != parent) ::_exit(127);   // the parent died before the line above took effect
  body();
  ::_exit(127);
}

bool map_own_user(uid_t user, gid_t group) {
  written("/proc/self/setgroups", "deny");
  return written("/proc/self/uid_map", std::to_string(user) + " " + std::to_string(user) + " 1") &&
         written("/proc/self/gid_map", std::to_string(group) + " " + std::to_string(group) + " 1");
}

Mounts mount_own(bool processes) {
  Mounts mounts;
  mounts.own = ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  if (!mounts.own) return mounts;
  constexpr unsigned long plain = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  mounts.processes = processes && ::mount("proc", "/proc", "proc", plain, nullptr) == 0;
  mounts.shared_memory = ::mount("shm", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=1g,nr_inodes=10000") == 0;
  return mounts;
}

bool drop_capabilities() {
  ::prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0);
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; ++capability) {}
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  return ::syscall(SYS_capset, &header, none) == 0;
}

}  // namespace cudal1::sandbox
