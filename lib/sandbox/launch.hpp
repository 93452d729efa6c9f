// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sandbox/landlock.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace cudal1::sandbox {

// What a started program may use; more ends it, with one line on its standard error.
struct Bounds {
  std::size_t processes = 1024, threads = 16384, files = 100'000;
  std::size_t file_bytes = std::size_t{16} << 30;   // of all files in its folder together
};

// A program that is not trusted.
struct Launch {
  std::vector<std::string> arguments;      // the executable first
  std::vector<std::string> environment;    // NAME=VALUE, all of it
  std::filesystem::path folder;            // its working folder
  std::filesystem::path counted;           // what is counted against its bounds; empty: its working folder
  FileRules files;                         // /proc and /dev/shm are added here
  std::vector<int> descriptors;            // become 3, 4 …; 0 to 2 stay, all others are closed
  bool namespaces = true;                  // of mounts, network and IPC, where the system has them
  bool own_processes = true;               // and of processes
  bool shared_memory = false;              // /dev/shm also where there is no namespace of mounts
  bool local_sockets = false;              // AF_UNIX, until the program shuts them by the filter on its last descriptor
  bool unconfined = false;                 // go on without Landlock or seccomp
  Bounds bounds;
};

// What holds for it.
struct Confined {
  std::string means;                       // "Landlock ABI 7, seccomp, namespaces of users, mounts, …"
  std::string lacking;                     // what this system does not give; empty: nothing
  std::string failed;                      // why it was not started; empty: it was
};

// Starts the program, confined before there is a second thread in it, tells what holds, and stays until it has ended.
// Whatever it started is killed then, and all of it dies with this process, which must be the leader of its process
// group and have one thread. Returns the exit code, 128 and the signal where one ended it.
int launch(const Launch& launch, const std::function<void(const Confined&)>& tell);

// What launch() would find on this system, tried out with a process that does nothing.
Confined confinement();

// A filter for all threads, as seccomp(2) takes it, that shuts what Launch::local_sockets left open.
std::string without_sockets();

}  // namespace cudal1::sandbox
