// SPDX-License-Identifier: Apache-2.0
#include "compile/sandbox.hpp"

#include <cstdint>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cudal1::compile {
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
constexpr std::uint64_t read_file = 1 << 2, read_folder = 1 << 3;

// What a version can restrict. Everything that it knows is denied; only reading is granted below some folders.
RulesetAttributes all_of(int abi) {
  RulesetAttributes attributes;
  attributes.files = (1 << 13) - 1;
  if (abi >= 2) attributes.files |= 1 << 13;  // refer
  if (abi >= 3) attributes.files |= 1 << 14;  // truncate
  if (abi >= 5) attributes.files |= 1 << 15;  // ioctl on devices
  if (abi >= 4) attributes.network = 3;       // bind and connect of TCP
  if (abi >= 6) attributes.scoped = 3;        // abstract sockets and signals outside
  return attributes;
}

std::size_t size_of_version(int abi) {
  return abi >= 6 ? sizeof(RulesetAttributes) : abi >= 4 ? 2 * sizeof(std::uint64_t) : sizeof(std::uint64_t);
}

}  // namespace

int landlock_abi() {
#ifdef SYS_landlock_create_ruleset
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, version_flag);
  return abi > 0 ? static_cast<int>(abi) : 0;
#else
  return 0;
#endif
}

bool confine_files(const std::vector<std::filesystem::path>& readable) {
#ifdef SYS_landlock_create_ruleset
  const int abi = landlock_abi();
  if (abi == 0) return false;
  const RulesetAttributes attributes = all_of(abi);
  const int ruleset = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size_of_version(abi), 0));
  if (ruleset < 0) return false;
  for (const std::filesystem::path& path : readable) {
    PathAttributes rule;
    rule.allowed = read_file | read_folder;
    rule.folder = ::open(path.c_str(), O_PATH | O_CLOEXEC);
    if (rule.folder < 0) continue;  // a folder that is not there gives nothing to read
    ::syscall(SYS_landlock_add_rule, ruleset, rule_path_beneath, &rule, 0);
    ::close(rule.folder);
  }
  const bool confined = ::syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  ::close(ruleset);
  return confined;
#else
  static_cast<void>(readable);
  return false;
#endif
}

}  // namespace cudal1::compile
