// SPDX-License-Identifier: Apache-2.0
#include "compile/cache.hpp"

#include "base/file.hpp"
#include "catch.hpp"

#include <chrono>
#include <string>
#include <thread>

using namespace cudal1;
using compile::Cache;
namespace fs = std::filesystem;

namespace {

compile::Compiled sample(const std::string& cubin) {
  compile::Compiled compiled;
  compiled.binary.ptx = "text with \xff bytes";
  compiled.binary.cubin = cubin;
  compiled.binary.arch = "sm_90a";
  compiled.binary.file = "k.cu";
  compiled.binary.entries = {{"k<1>", "_Z1k"}};
  outcome::ResourceFacts facts;
  facts.kernel = "k<1>";
  facts.registers = 33;
  facts.spill_load_bytes = 7;
  compiled.binary.resources = {facts};
  base::Diagnostic warning;
  warning.severity = base::Diagnostic::Severity::warning;
  warning.line = 3;
  warning.message = "m";
  compiled.warnings = {warning};
  compiled.seconds = base::Seconds{0.5};
  return compiled;
}

std::string key(char c) { return std::string(64, c); }

}  // namespace

TEST_CASE("what was stored is found again, whole") {
  const base::TemporaryFolder folder;
  Cache cache(folder.path(), 1 << 20);
  CHECK_FALSE(cache.find(key('a')));
  const compile::Compiled stored = sample(std::string("\0\1\2", 3));
  cache.store(key('a'), stored);
  const auto found = Cache(folder.path(), 1 << 20).find(key('a'));
  REQUIRE(found);
  CHECK(found->from_cache);
  CHECK(found->binary.ptx == stored.binary.ptx);
  CHECK(found->binary.cubin == stored.binary.cubin);
  CHECK(found->binary.entries == stored.binary.entries);
  CHECK(found->binary.resources == stored.binary.resources);
  CHECK(found->warnings == stored.warnings);
  CHECK(found->seconds == stored.seconds);
}

TEST_CASE("a damaged entry is no entry, and is replaced") {
  const base::TemporaryFolder folder;
  Cache cache(folder.path(), 1 << 20);
  cache.store(key('a'), sample("x"));
  const fs::path path = folder.path() / "aa" / std::string(62, 'a');
  const std::string good = base::read_file(path);
  std::string flipped = good;
  flipped[flipped.size() / 2] ^= 1;
  for (const std::string& bad : {std::string(), good.substr(0, 30), good.substr(0, good.size() - 1), flipped}) {
    base::write_file(path, bad);
    CHECK_FALSE(cache.find(key('a')));
  }
  fs::create_directories(folder.path() / "bb");
  fs::copy_file(path, folder.path() / "bb" / std::string(62, 'b'));
  cache.store(key('a'), sample("x"));
  CHECK(cache.find(key('a')));
  fs::copy_file(path, folder.path() / "bb" / std::string(62, 'b'), fs::copy_options::overwrite_existing);
  CHECK_FALSE(cache.find(key('b')));  // another key's content under this name
}

TEST_CASE("what was used longest ago goes first when the cache is full") {
  const base::TemporaryFolder folder;
  Cache cache(folder.path(), 100000);
  for (const char c : {'a', 'b', 'c'}) {
    cache.store(key(c), sample(std::string(30000, c)));
    std::this_thread::sleep_for(std::chrono::milliseconds(15));
  }
  CHECK(cache.find(key('a')));  // used: now the newest
  std::this_thread::sleep_for(std::chrono::milliseconds(15));
  cache.store(key('d'), sample(std::string(30000, 'd')));
  CHECK_FALSE(cache.find(key('b')));
  CHECK(cache.find(key('a')));
  CHECK(cache.find(key('d')));
}

TEST_CASE("no folder means no cache, and a folder that cannot be written is no error") {
  Cache none({}, 100);
  CHECK_FALSE(none.enabled());
  none.store(key('a'), sample("x"));
  CHECK_FALSE(none.find(key('a')));
  Cache impossible("/proc/no/such/place", 100);
  impossible.store(key('a'), sample("x"));
  CHECK_FALSE(impossible.find(key('a')));
}
