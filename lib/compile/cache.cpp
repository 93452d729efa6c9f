// SPDX-License-Identifier: Apache-2.0
#include "compile/cache.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace cudal1::compile {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// A file is this line, the SHA-256 of the rest and a newline, and the rest as CBOR. Change it with the format
// and with the rules for device code: what is found here is not looked at again.
constexpr std::string_view magic = "cudal1 compiled 3\n";
constexpr std::size_t digest_size = 64;

Json to_json(const outcome::ResourceFacts& f) {
  return {f.kernel, f.registers, f.shared_bytes, f.local_bytes, f.spill_store_bytes, f.spill_load_bytes, f.constant_bytes,
          f.max_threads_per_block, f.serialized_wgmma};
}

outcome::ResourceFacts facts_from(const Json& j) {
  return {j.at(0), j.at(1), j.at(2), j.at(3), j.at(4), j.at(5), j.at(6), j.at(7), j.at(8)};
}

Json to_json(const base::Diagnostic& d) {
  return {static_cast<int>(d.severity), d.file, d.line, d.column, d.message, d.line_text, d.hint};
}

base::Diagnostic diagnostic_from(const Json& j) {
  const int severity = j.at(0);
  return {static_cast<base::Diagnostic::Severity>(std::clamp(severity, 0, 2)), j.at(1), j.at(2), j.at(3), j.at(4), j.at(5), j.at(6)};
}

std::string payload_of(const std::string& key, const Compiled& compiled) {
  const outcome::Binary& binary = compiled.binary;
  Json resources = Json::array(), warnings = Json::array();
  for (const auto& facts : binary.resources) resources.push_back(to_json(facts));
  for (const auto& warning : compiled.warnings) warnings.push_back(to_json(warning));
  std::string bytes;
  Json::to_cbor({{"key", key}, {"ptx", binary.ptx}, {"cubin", binary.cubin}, {"arch", binary.arch}, {"entries", binary.entries},
                 {"variables", binary.variables}, {"constants", binary.constants}, {"file", binary.file}, {"resources", resources}, {"warnings", warnings}, {"seconds", compiled.seconds.count()}},
                bytes);
  return bytes;
}

Compiled compiled_from(const std::string& key, std::string_view payload) {
  const Json j = Json::from_cbor(payload);
  if (j.at("key") != key) throw base::Error(base::Fault::internal, "an entry of another key");
  Compiled compiled;
  compiled.binary.ptx = j.at("ptx");
  compiled.binary.cubin = j.at("cubin");
  compiled.binary.arch = j.at("arch");
  compiled.binary.entries = j.at("entries").get<std::map<std::string, std::string>>();
  compiled.binary.variables = j.at("variables").get<std::vector<std::string>>();
  compiled.binary.constants = j.at("constants").get<std::vector<std::string>>();
  compiled.binary.file = j.at("file");
  for (const Json& facts : j.at("resources")) compiled.binary.resources.push_back(facts_from(facts));
  for (const Json& warning : j.at("warnings")) compiled.warnings.push_back(diagnostic_from(warning));
  compiled.seconds = base::Seconds(j.at("seconds").get<double>());
  compiled.from_cache = true;
  return compiled;
}

}  // namespace

fs::path Cache::path_of(const std::string& key) const { return folder_ / key.substr(0, 2) / key.substr(2); }

std::optional<Compiled> Cache::find(const std::string& key) const {
  const fs::path path = path_of(key);
  std::error_code code;
  if (!enabled() || !fs::exists(path, code)) return std::nullopt;
  try {
    const std::string bytes = base::read_file(path);
    std::string_view rest = bytes;
    if (!rest.starts_with(magic) || rest.size() < magic.size() + digest_size + 1) return std::nullopt;
    rest.remove_prefix(magic.size());
    const std::string_view payload = rest.substr(digest_size + 1);
    if (base::sha256(payload) != rest.substr(0, digest_size)) return std::nullopt;
    Compiled compiled = compiled_from(key, payload);
    fs::last_write_time(path, fs::file_time_type::clock::now(), code);  // used just now
    return compiled;
  } catch (const base::Error&) {
    return std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void Cache::store(const std::string& key, const Compiled& compiled) {
  if (!enabled()) return;
  const std::string payload = payload_of(key, compiled);
  std::string file(magic);
  file += base::sha256(payload) + "\n" + payload;
  try {
    base::write_file(path_of(key), file);
  } catch (const base::Error&) {
    return;
  }
  const std::lock_guard lock(mutex_);
  if (size_) *size_ += file.size();
  if (!size_ || *size_ > limit_) trim();
}

// With the mutex held. Another process may remove the same files at the same time; a file that is gone is no error.
void Cache::trim() {
  struct Entry {
    fs::path path;
    fs::file_time_type used;
    std::size_t size;
  };
  std::vector<Entry> all;
  std::size_t total = 0;
  std::error_code code;
  for (fs::recursive_directory_iterator i(folder_, code), end; !code && i != end; i.increment(code)) {
    std::error_code gone;
    if (!i->is_regular_file(gone) || gone) continue;
    const auto used = i->last_write_time(gone);
    const std::uintmax_t size = gone ? 0 : i->file_size(gone);
    if (gone) continue;
    all.push_back({i->path(), used, static_cast<std::size_t>(size)});
    total += static_cast<std::size_t>(size);
  }
  if (total > limit_) {
    std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
    const std::size_t target = limit_ / 10 * 9;  // some room, so that not every store has to look again
    for (const Entry& entry : all) {
      if (total <= target) break;
      std::error_code gone;
      fs::remove(entry.path, gone);
      total -= entry.size;
    }
  }
  size_ = total;
}

}  // namespace cudal1::compile
