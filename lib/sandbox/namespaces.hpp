// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <sys/types.h>

namespace cudal1::sandbox {

// Which namespaces a new process has of its own.
struct Namespaces {
  bool users = false;       // needed by whoever is not root
  bool others = false;      // mounts, network, IPC
  bool processes = false;
};

// Forks into them; the child runs `body`, which must not return, and gets SIGKILL when this process ends. -1: the system
// does not allow it.
pid_t fork_into(const Namespaces& wanted, const std::function<void()>& body);

// In the child, while it is alone.
bool map_own_user(uid_t user, gid_t group);   // so that files belong to whom they belonged before
struct Mounts {
  bool own = false;             // nothing that is mounted here is seen outside
  bool processes = false;       // /proc shows the processes of this namespace alone
  bool shared_memory = false;   // /dev/shm is this namespace's own, and bounded
};
Mounts mount_own(bool processes);
bool drop_capabilities();

}  // namespace cudal1::sandbox
