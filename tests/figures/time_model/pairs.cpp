// SPDX-License-Identifier: Apache-2.0
#include "pairs.hpp"

#include "base/error.hpp"
#include "outcome/counter_fields.hpp"

#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include <fmt/format.h>

namespace cudal1::time_model {

namespace {

struct Column {
  std::string name;
  std::function<double(const sim::LaunchProfile&)> get;
  std::function<void(sim::LaunchProfile&, double)> set;
};

const std::vector<Column>& columns() {
  static const std::vector<Column> all = [] {
    std::vector<Column> list;
    for (const auto& field : outcome::counter_fields)
      list.push_back({std::string(field.name), [m = field.member](const sim::LaunchProfile& p) { return p.counters.*m; },
                      [m = field.member](sim::LaunchProfile& p, double v) { p.counters.*m = v; }});
    const auto work = [&](const char* name, double sim::PipeWork::* m) {
      list.push_back({name, [m](const sim::LaunchProfile& p) { return p.work.*m; }, [m](sim::LaunchProfile& p, double v) { p.work.*m = v; }});
    };
    work("slots", &sim::PipeWork::slots), work("pipe_fp32", &sim::PipeWork::fp32), work("pipe_integer", &sim::PipeWork::integer);
    work("pipe_special", &sim::PipeWork::special), work("pipe_fp64", &sim::PipeWork::fp64), work("pipe_half", &sim::PipeWork::half);
    work("pipe_memory", &sim::PipeWork::memory), work("products", &sim::PipeWork::products), work("operands", &sim::PipeWork::operands);
    const auto traffic = [&](const char* name, double sim::Traffic::* m) {
      list.push_back({name, [m](const sim::LaunchProfile& p) { return p.traffic.*m; }, [m](sim::LaunchProfile& p, double v) { p.traffic.*m = v; }});
    };
    traffic("load_lines", &sim::Traffic::load_lines), traffic("store_lines", &sim::Traffic::store_lines);
    traffic("joined_wavefronts", &sim::Traffic::shared_wavefronts), traffic("l1_sectors", &sim::Traffic::l1_sectors), traffic("l2_read_sectors", &sim::Traffic::l2_read_sectors);
    traffic("l2_write_sectors", &sim::Traffic::l2_write_sectors), traffic("read_bytes", &sim::Traffic::dram_read_bytes);
    traffic("write_bytes", &sim::Traffic::dram_write_bytes), traffic("dram_runs", &sim::Traffic::dram_runs);
    traffic("atomic_steps", &sim::Traffic::atomic_steps), traffic("hottest_line_steps", &sim::Traffic::hottest_line_steps);
    list.push_back({"warp_cycles", [](const sim::LaunchProfile& p) { return p.warp_cycles; }, [](sim::LaunchProfile& p, double v) { p.warp_cycles = v; }});
    list.push_back({"grid_blocks", [](const sim::LaunchProfile& p) { return static_cast<double>(p.blocks); },
                    [](sim::LaunchProfile& p, double v) { p.blocks = static_cast<std::uint64_t>(v); }});
    list.push_back({"blocks_per_sm", [](const sim::LaunchProfile& p) { return static_cast<double>(p.blocks_per_sm); },
                    [](sim::LaunchProfile& p, double v) { p.blocks_per_sm = static_cast<std::uint64_t>(v); }});
    list.push_back({"threads_per_block", [](const sim::LaunchProfile& p) { return static_cast<double>(p.threads_per_block); },
                    [](sim::LaunchProfile& p, double v) { p.threads_per_block = static_cast<std::uint32_t>(v); }});
    return list;
  }();
  return all;
}

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> result;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, '\t');) result.push_back(cell);
  return result;
}

std::ifstream opened(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw base::Error(base::Fault::bad_input, "cannot read " + path);
  return file;
}

}  // namespace

std::string profile_header() {
  std::string text = "#family\tmember\tother_seconds";
  for (const Column& column : columns()) text += "\t" + column.name;
  return text + "\n";
}

std::string profile_line(const std::string& family, const std::string& member, const sim::LaunchProfile& profile, double other_seconds) {
  std::string text = fmt::format("{}\t{}\t{:.5g}", family, member, other_seconds);
  for (const Column& column : columns()) text += fmt::format("\t{:.6g}", column.get(profile));
  return text + "\n";
}

std::vector<Pair> read_pairs(const std::string& profiles, const std::string& times) {
  std::map<std::pair<std::string, std::string>, double> measured;
  auto file = opened(times);
  for (std::string line; std::getline(file, line);) {
    const auto row = cells(line);
    if (!line.starts_with('#') && row.size() >= 3) measured[{row[0], row[1]}] = 1e-6 * std::stod(row[2]);
  }
  std::vector<Pair> result;
  std::vector<std::string> header;
  file = opened(profiles);
  for (std::string line; std::getline(file, line);) {
    const auto row = cells(line);
    if (line.starts_with('#')) {
      header = row;
      continue;
    }
    const auto time = measured.find({row.at(0), row.at(1)});
    if (time == measured.end()) continue;
    if (result.empty() || result.back().family != row[0] || result.back().member != row[1])
      result.push_back({row[0], row[1], {}, std::stod(row.at(2)), time->second});
    sim::LaunchProfile profile;
    for (std::size_t i = 3; i < row.size() && i < header.size(); ++i)
      for (const Column& column : columns())
        if (column.name == header[i]) column.set(profile, std::stod(row[i]));
    result.back().launches.push_back(std::move(profile));
  }
  if (result.empty()) throw base::Error(base::Fault::bad_input, profiles + " has no kernel that " + times + " has a time for");
  return result;
}

}  // namespace cudal1::time_model
