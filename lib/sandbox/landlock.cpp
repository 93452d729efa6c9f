// SPDX-License-Identifier: Apache-2.0
#include "sandbox/landlock.hpp"

#include <cstdint>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cudal1::sandbox {
namespace {

// The kernel's interface (linux/landlock.h) written out, because Debian 12's header knows its first versions only.
struct RulesetAttributes {
  std::uint64_t files = 0, network = 0, scoped = 0;
};
struct [[gnu::packed]] PathAttributes {
  std::uint64_t allowed = 0;
  std::int32_t folder = -1;
};
constexpr unsigned version_flag = 1;
constexpr int rule_path_beneath = 1;
constexpr std::uint64_t execute = 1 << 0, write_file = 1 << 1, read_file = 1 << 2, read_folder = 1 << 3, make_character = 1 << 6,
                        make_block = 1 << 11, truncate = 1 << 14, control = 1 << 15;
constexpr std::uint64_t of_files = execute | write_file | read_file | truncate | control;   // what a rule on a file may hold
constexpr std::uint64_t abstract_sockets = 1, signals = 2;

// What a version can restrict. Everything that it knows is denied, and rules give some of it back.
RulesetAttributes all_of(int abi, bool other_sockets) {
  RulesetAttributes attributes;
  attributes.files = (1 << 13) - 1;
  if (abi >= 2) attributes.files |= 1 << 13;  // refer
  if (abi >= 3) attributes.files |= truncate;
  if (abi >= 5) attributes.files |= control;
  if (abi >= 4) attributes.network = 3;       // bind and connect of TCP
  if (abi >= 6) attributes.scoped = signals | (other_sockets ? 0 : abstract_sockets);
  return attributes;
}

std::size_t size_of_version(int abi) {
  return abi >= 6 ? sizeof(RulesetAttributes) : abi >= 4 ? 2 * sizeof(std::uint64_t) : sizeof(std::uint64_t);
}

#ifdef SYS_landlock_create_ruleset
void give_back(int ruleset, std::uint64_t rights, const std::vector<std::filesystem::path>& paths) {
  for (const std::filesystem::path& path : paths) {
    PathAttributes rule;
    rule.folder = ::open(path.c_str(), O_PATH | O_CLOEXEC);
    if (rule.folder < 0) continue;
    struct stat facts {};
    const bool folder = ::fstat(rule.folder, &facts) == 0 && S_ISDIR(facts.st_mode);
    rule.allowed = folder ? rights : rights & of_files;
    ::syscall(SYS_landlock_add_rule, ruleset, rule_path_beneath, &rule, 0);
    ::close(rule.folder);
  }
}
#endif

}  // namespace

int landlock_abi() {
#ifdef SYS_landlock_create_ruleset
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, version_flag);
  return abi > 0 ? static_cast<int>(abi) : 0;
#else
  return 0;
#endif
}

bool confine_files(const FileRules& rules) {
#ifdef SYS_landlock_create_ruleset
  const int abi = landlock_abi();
  if (abi == 0) return false;
  const RulesetAttributes attributes = all_of(abi, rules.other_sockets);
  const int ruleset = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size_of_version(abi), 0));
  if (ruleset < 0) return false;
  const std::uint64_t known = attributes.files;
  give_back(ruleset, read_file | read_folder, rules.readable);
  give_back(ruleset, execute | read_file | read_folder, rules.runnable);
  give_back(ruleset, known & ~(control | make_character | make_block), rules.writable);
  give_back(ruleset, known & (read_file | read_folder | write_file | truncate), rules.written);
  give_back(ruleset, known & (read_file | read_folder | write_file | truncate | control), rules.devices);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const bool confined = ::syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  ::close(ruleset);
  return confined;
#else
  static_cast<void>(rules);
  return false;
#endif
}

}  // namespace cudal1::sandbox
