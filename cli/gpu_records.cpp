// SPDX-License-Identifier: Apache-2.0
#include "gpu_records.hpp"

#include "suggestion.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "sim/sim.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <toml++/toml.h>

namespace cudal1::cli {

namespace {

namespace fs = std::filesystem;
using outcome::DeviceFacts;

constexpr double kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

// A number of a record: its key, its unit in ours, and where it goes.
struct Field {
  std::string_view key;
  double unit;
  void (*put)(DeviceFacts&, double);
};

template <auto member>
void put(DeviceFacts& facts, double value) {
  using Member = std::remove_reference_t<decltype(facts.*member)>;
  facts.*member = static_cast<Member>(value);
}

constexpr Field fields[] = {
    {"sms", 1, put<&DeviceFacts::sm_count>},
    {"clock-mhz", 1e6, put<&DeviceFacts::clock_hz>},
    {"memory-gib", gib, put<&DeviceFacts::memory_bytes>},
    {"memory-gb-per-second", 1e9, put<&DeviceFacts::memory_bytes_per_second>},
    {"l2-mib", mib, put<&DeviceFacts::l2_bytes>},
    {"shared-kib-per-sm", kib, put<&DeviceFacts::shared_bytes_per_sm>},
    {"shared-kib-per-block", kib, put<&DeviceFacts::shared_bytes_per_block_optin>},
    {"registers-per-sm", 1, put<&DeviceFacts::registers_per_sm>},
    {"threads-per-sm", 1, put<&DeviceFacts::max_threads_per_sm>},
    {"blocks-per-sm", 1, put<&DeviceFacts::max_blocks_per_sm>},
    {"fp32-tflops", 1e12, put<&DeviceFacts::fp32_flops>},
    {"fp64-tflops", 1e12, put<&DeviceFacts::fp64_flops>},
    {"fp16-tensor-tflops", 1e12, put<&DeviceFacts::fp16_tensor_flops>},
    {"tf32-tensor-tflops", 1e12, put<&DeviceFacts::tf32_tensor_flops>},
};
constexpr std::string_view optional_fields[] = {"registers-per-sm", "shared-kib-per-block", "tf32-tensor-tflops"};
constexpr std::string_view words[] = {"like", "name", "source", "compute-capability"};

// "8.9"
std::optional<std::pair<int, int>> capability(const std::string& text) {
  const auto point = text.find('.');
  const auto digits = [](std::string_view part) { return !part.empty() && part.size() < 3 && std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c); }); };
  if (point == std::string::npos || !digits(std::string_view(text).substr(0, point)) || !digits(std::string_view(text).substr(point + 1))) return std::nullopt;
  return std::pair{std::stoi(text.substr(0, point)), std::stoi(text.substr(point + 1))};
}

class Reader {
 public:
  Reader(const fs::path& file, std::string name, const toml::table& table) : file_(file), name_(std::move(name)), table_(table) {}

  GpuRecord record() {
    require_known_keys();
    GpuRecord record;
    record.name = name_;
    record.own = true;
    const auto like = word("like");
    if (like) record.facts = sim::gpu(*like);
    record.facts.simulated = true;
    record.facts.name = word("name").value_or(name_);
    record.source = word("source").value_or("");
    if (sim::compared(record.facts)) refuse(table_, fmt::format("\"{}\" is the name of a built-in record; give this one another", record.facts.name));
    read_capability(record.facts, like.has_value());
    for (const Field& field : fields) read(field, record.facts, like.has_value());
    // One KiB per block is the system's from 8.0 on (CUDA C++ Programming Guide).
    if (table_.contains("shared-kib-per-sm") && !table_.contains("shared-kib-per-block"))
      record.facts.shared_bytes_per_block_optin = record.facts.shared_bytes_per_sm - (record.facts.major >= 8 ? 1024 : 0);
    return record;
  }

 private:
  [[noreturn]] void refuse(const toml::node& at, const std::string& what) const {
    throw base::Error(base::Fault::usage, fmt::format("{}:{}: {}: {}", file_.string(), at.source().begin.line, name_, what));
  }

  void require_known_keys() const {
    std::vector<std::string> known(std::begin(words), std::end(words));
    for (const Field& field : fields) known.emplace_back(field.key);
    for (const auto& [key, node] : table_)
      if (std::find(known.begin(), known.end(), key.str()) == known.end())
        refuse(node, fmt::format("{} is no part of a GPU's record{}", key.str(), did_you_mean(std::string(key.str()), known)));
  }

  std::optional<std::string> word(std::string_view key) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return std::nullopt;
    if (!node->is_string()) refuse(*node, fmt::format("{} is a text in quotes", key));
    return node->value<std::string>();
  }

  void read_capability(DeviceFacts& facts, bool known) const {
    const auto text = word("compute-capability");
    if (!text && !known) refuse(table_, "compute-capability = \"8.9\" is missing; like = \"L40\" takes what is not given from that record");
    if (!text) return;
    const auto parts = capability(*text);
    if (!parts) refuse(*table_.get("compute-capability"), fmt::format("compute-capability \"{}\" is not of the form \"8.9\"", *text));
    std::tie(facts.major, facts.minor) = *parts;
  }

  void read(const Field& field, DeviceFacts& facts, bool known) const {
    const toml::node* node = table_.get(field.key);
    if (node == nullptr) {
      if (!known && std::find(std::begin(optional_fields), std::end(optional_fields), field.key) == std::end(optional_fields))
        refuse(table_, fmt::format("{} is missing; like = \"L40\" takes what is not given from that record", field.key));
      return;
    }
    const auto value = node->value<double>();
    if (!value || !std::isfinite(*value) || *value <= 0 || *value * field.unit > 1e18) refuse(*node, fmt::format("{} is a number above 0", field.key));
    field.put(facts, *value * field.unit);
  }

  const fs::path& file_;
  std::string name_;
  const toml::table& table_;
};

std::vector<GpuRecord> read(const fs::path& file) {
  toml::table document;
  try {
    document = toml::parse(base::read_file(file, std::size_t{1} << 20), file.string());
  } catch (const toml::parse_error& error) {
    throw base::Error(base::Fault::usage, fmt::format("{}:{}: {}", file.string(), error.source().begin.line, error.description()));
  }
  std::vector<GpuRecord> records;
  for (const auto& [name, node] : document) {
    const auto* table = node.as_table();
    if (table == nullptr)
      throw base::Error(base::Fault::usage, fmt::format("{}:{}: {} stands outside a table; a record begins with its name, such as [RTX4060]",
                                                        file.string(), node.source().begin.line, name.str()));
    records.push_back(Reader(file, std::string(name.str()), *table).record());
  }
  return records;
}

const GpuRecord* find(const std::vector<GpuRecord>& records, const std::string& name) {
  const auto found = std::find_if(records.begin(), records.end(), [&](const GpuRecord& each) {
    return sim::same_gpu_name(each.name, name) || sim::same_gpu_name(each.facts.name, name);
  });
  return found == records.end() ? nullptr : &*found;
}

std::string names_of(const std::vector<GpuRecord>& records) {
  std::string names;
  for (const GpuRecord& record : records) names += (names.empty() ? "" : ", ") + record.name;
  return names;
}

std::optional<GpuRecord> of_a_file(const std::string& name) {
  const auto end = name.rfind(".toml");
  if (end == std::string::npos || (end + 5 != name.size() && name[end + 5] != ':')) return std::nullopt;
  const fs::path file = name.substr(0, end + 5);
  const auto records = read(file);
  const std::string one = end + 5 < name.size() ? name.substr(end + 6) : "";
  const GpuRecord* found = one.empty() && records.size() == 1 ? &records.front() : find(records, one);
  if (found == nullptr)
    throw base::Error(base::Fault::usage, fmt::format("--gpu {}: {} holds {}; choose with {}:NAME", name, file.string(),
                                                      records.empty() ? "no record" : names_of(records), file.string()));
  GpuRecord record = *found;
  record.name = file.string() + ":" + found->name;
  return record;
}

}  // namespace

fs::path own_gpus_file() { return base::config_folder() / "gpus.toml"; }

std::vector<GpuRecord> gpu_records() {
  std::vector<GpuRecord> records;
  for (const auto& name : sim::gpu_names()) records.push_back({name, sim::gpu(name), "", false});
  std::error_code none;
  if (!fs::exists(own_gpus_file(), none)) return records;
  for (GpuRecord& record : read(own_gpus_file())) {
    if (find(records, record.name) != nullptr)
      throw base::Error(base::Fault::usage, fmt::format("{}: there is a record {} already; give this one another name", own_gpus_file().string(), record.name));
    records.push_back(std::move(record));
  }
  return records;
}

GpuRecord gpu_record(const std::string& name) {
  if (auto record = of_a_file(name)) return *std::move(record);
  const auto records = gpu_records();
  if (const GpuRecord* found = find(records, name)) return *found;
  std::vector<std::string> names;
  for (const GpuRecord& record : records) names.push_back(record.name);
  std::string capitals = name;
  std::transform(capitals.begin(), capitals.end(), capitals.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const auto nearest = base::nearest(capitals, names);
  throw base::Error(base::Fault::usage, fmt::format("there is no GPU record \"{}\"{}; known: {}. Records of your own go into {}", name,
                                                    nearest ? fmt::format(" (did you mean {}?)", *nearest) : "", names_of(records), own_gpus_file().string()));
}

std::vector<GpuRecord> gpu_list(const std::string& names) {
  if (names == "all") return gpu_records();
  std::vector<GpuRecord> list;
  std::istringstream words_of(names);
  for (std::string name; std::getline(words_of, name, ',');) {
    GpuRecord record = gpu_record(name);
    if (std::none_of(list.begin(), list.end(), [&](const GpuRecord& each) { return each.name == record.name; })) list.push_back(std::move(record));
  }
  return list;
}

}  // namespace cudal1::cli
