// SPDX-License-Identifier: Apache-2.0
#include "compile/assemble.hpp"

#include "base/defence.hpp"
#include "base/text.hpp"
#include "compile/ptx_scan.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace cudal1::compile {
namespace {

constexpr std::size_t static_shared_limit = 48 * 1024;  // of every architecture; more has to be dynamic

base::Diagnostic complaint(std::string message, std::string hint = {}) {
  base::Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  return diagnostic;
}

// The rejection's line is the first complaint's.
Rejection rejection(Rejection::Kind kind, base::Diagnostics diagnostics) {
  Rejection rejected;
  rejected.kind = kind;
  if (!diagnostics.empty()) {
    const base::Diagnostic& first = diagnostics.front();
    rejected.message = first.line > 0 ? fmt::format("{}:{}: {}", first.file, first.line, first.message) : first.message;
  }
  rejected.diagnostics = std::move(diagnostics);
  return rejected;
}

bool has_option(const std::vector<std::string>& options, std::initializer_list<std::string_view> names) {
  return std::any_of(options.begin(), options.end(), [&](const std::string& option) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return option.starts_with(name); });
  });
}

// Threads per block that the registers leave room for: 65536 of them, given out to warps in units of 256.
int threads_by_registers(int registers) {
  if (registers <= 0) return 0;
  const int per_warp = (registers * 32 + 255) / 256 * 256;
  return std::min(1024, 65536 / per_warp * 32);
}

Rejection failed(const Request& request, const SourceNames& names, const Product& product, const std::vector<std::string>& trusted) {
  base::Diagnostics diagnostics = parse_diagnostics(product.log, request.source, names, trusted);
  const bool error = std::any_of(diagnostics.begin(), diagnostics.end(),
                                 [](const auto& d) { return d.severity == base::Diagnostic::Severity::error; });
  if (!error) {  // ptxas refuses too much shared memory without a word
    base::Diagnostics found;
    for (const auto& [symbol, facts] : parse_resources(product.log))
      if (facts.shared_bytes > static_shared_limit)
        found.push_back(complaint(fmt::format("kernel {} declares {} bytes of static shared memory; the limit is {}",
                                              readable_symbol(symbol, false), facts.shared_bytes, static_shared_limit),
                                  "use dynamic shared memory (extern __shared__) and give its size in the launch"));
    if (found.empty()) found.push_back(complaint("NVRTC gave up without an error message (" + product.status + ")"));
    diagnostics.insert(diagnostics.begin(), found.begin(), found.end());
  }
  return rejection(Rejection::Kind::compile_failed, std::move(diagnostics));
}

// NVRTC turns the file's name into a path of its own folder; the user's name is put back.
void restore_file_name(std::string& ptx, const SourceNames& names) {
  const std::string ending = "/" + names.alias + "\"";
  for (std::size_t at = ptx.find("\t.file\t"); at != std::string::npos; at = ptx.find("\t.file\t", at + 1)) {
    const std::size_t end = std::min(ptx.find('\n', at), ptx.size());
    const std::size_t open = ptx.find('"', at);
    if (open == std::string::npos || open >= end) continue;
    const std::size_t close = ptx.find('"', open + 1);
    if (close == std::string::npos || close >= end) continue;
    const std::string_view path = std::string_view(ptx).substr(open, close + 1 - open);
    if (!path.ends_with(ending) && path != "\"" + names.alias + "\"") continue;
    std::string name;
    for (const char c : names.name)
      if (c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20) name += c;
    ptx.replace(open + 1, close - open - 1, name);
  }
}

bool is_time(std::string_view name) { return name.starts_with("%clock") || name.starts_with("%globaltimer"); }

std::optional<Rejection> broken_rules(const PtxScan& scan) {
  base::Diagnostics diagnostics;
  for (const std::string& name : scan.forbidden)
    diagnostics.push_back(complaint("device code calls " + name,
                                    name.find("alloc") != std::string::npos || name == "free"
                                        ? "memory comes from the plan: declare it with //@ scratch"
                                        : "a kernel cannot start kernels or use the run-time: write another //@ launch line"));
  for (const std::string& clock : scan.clocks)
    diagnostics.push_back(complaint(fmt::format("the {} {} decides what is written", is_time(clock) ? "clock" : "register", clock),
                                    "outputs follow from inputs alone; a clock may only bound a wait"));
  if (!diagnostics.empty() && base::defended(base::Defence::forbidden_calls))
    return rejection(Rejection::Kind::forbidden_code, std::move(diagnostics));
  diagnostics.clear();
  for (const std::string& name : scan.unresolved)
    diagnostics.push_back(complaint("device code calls " + readable_symbol(name, true) + ", which nothing defines"));
  if (!diagnostics.empty()) return rejection(Rejection::Kind::compile_failed, std::move(diagnostics));
  for (const std::string& name : scan.written)
    diagnostics.push_back(name.starts_with("$str") ? complaint("the address of a text literal is kept in memory, so writes to it cannot be ruled out",
                                                               "print numbers, not texts by %s")
                                                   : complaint("the global variable " + readable_symbol(name, true) +
                                                                   " may be written, and would keep its value between launches",
                                                               "make it const, or declare it with //@ scratch and pass it to the kernel"));
  if (!diagnostics.empty() && base::defended(base::Defence::state))
    return rejection(Rejection::Kind::stateful, std::move(diagnostics));
  return std::nullopt;
}

}  // namespace

namespace {

// The one entry with this name, which NVRTC could not tell from a function of CUDA's.
std::string entry_named(const PtxScan& scan, const std::string& kernel) {
  std::string found;
  for (const auto& [symbol, bound] : scan.entries) {
    if (readable_symbol(symbol, false) != kernel) continue;
    if (!found.empty()) return "";
    found = symbol;
  }
  return found;
}

}  // namespace

SourceNames names_of(const Request& request) {
  SourceNames names;
  names.name = request.name.empty() ? "kernel.cu" : request.name;
  for (const char c : std::filesystem::path(names.name).filename().string())
    names.alias += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_' ? c : '_';
  names.tunables = "tunables of " + names.alias;
  return names;
}

Job job_of(const Request& request, const SourceNames& names, const NvrtcIdentity& identity) {
  Job job;
  if (!request.prelude.empty()) {
    job.source = "#line 1 \"" + names.tunables + "\"\n" + request.prelude;
    if (!request.prelude.ends_with('\n')) job.source += '\n';
  }
  // A byte order mark is no word of C++.
  const std::string_view mark = "\xef\xbb\xbf";
  job.source += "#line 1 \"" + names.alias + "\"\n" + (request.source.starts_with(mark) ? request.source.substr(mark.size()) : request.source);
  job.name = names.alias;
  job.kernels = request.kernels;
  job.cubin = request.cubin;
  std::string arch = request.arch;
  if (!request.cubin && arch.starts_with("sm_")) arch.replace(0, 3, "compute_");
  job.options = {"-arch=" + arch, "-lineinfo", "--pre-include=math.h"};  // INFINITY is there under nvcc, too
  // nvcc's own headers bring these along, so that files use them without an include.
  if (request.source.find("std::") != std::string::npos)
    for (const char* header : {"cmath", "limits", "type_traits"}) job.options.push_back(std::string("--pre-include=") + header);
  if (request.cubin) job.options.emplace_back("--ptxas-options=-v");
  if (request.kernels.size() > few_kernels && identity.major >= 13) job.options.emplace_back("--split-compile=8");  // threads
  if (!has_option(request.options, {"-std", "--std"})) job.options.emplace_back("-std=c++17");
  job.options.insert(job.options.end(), request.options.begin(), request.options.end());
  for (const auto& folder : request.include_folders) job.options.push_back("-I" + std::filesystem::weakly_canonical(folder).string());  // the sandbox opens real paths
  if (const auto& folder = identity.include_folder; !folder.empty()) {
    job.options.push_back("-I" + folder.string());
    job.options.push_back("-I" + (folder / "cccl").string());  // libcu++ and CUB since CUDA 13
  }
  return job;
}

tl::expected<Compiled, Rejection> assemble(const Request& request, const SourceNames& names, const Product& product,
                                           const std::vector<std::string>& trusted) {
  if (!product.compiled) return tl::unexpected(failed(request, names, product, trusted));
  const PtxScan scan = scan_ptx(product.ptx);
  if (auto broken = broken_rules(scan)) return tl::unexpected(std::move(*broken));

  Compiled compiled;
  compiled.seconds = base::Seconds(product.seconds);
  compiled.warnings = parse_diagnostics(product.log, request.source, names, trusted);
  outcome::Binary& binary = compiled.binary;
  binary.arch = request.arch;
  binary.file = names.name;
  binary.variables = scan.variables;
  binary.constants = scan.constants;
  base::Diagnostics missing;
  for (std::size_t i = 0; i < request.kernels.size(); ++i) {
    std::string symbol = product.lowered.at(i);
    if (symbol.empty()) symbol = entry_named(scan, request.kernels[i]);
    if (scan.entries.count(symbol) == 0)
      missing.push_back(complaint("the launch of \"" + request.kernels[i] + "\" names no __global__ function"));
    binary.entries[request.kernels[i]] = symbol;
  }
  if (request.kernels.empty())
    for (const auto& entry : scan.entries) binary.entries[readable_symbol(entry.first, false)] = entry.first;
  if (binary.entries.empty()) missing.push_back(complaint("the source has no __global__ function (templates are compiled only when launched)"));
  if (!missing.empty()) return tl::unexpected(rejection(Rejection::Kind::compile_failed, std::move(missing)));

  const auto resources = parse_resources(product.log);
  for (const auto& [kernel, symbol] : binary.entries) {
    const auto known = resources.find(symbol);
    outcome::ResourceFacts facts = known != resources.end() ? known->second : outcome::ResourceFacts{};
    const int bound = scan.entries.at(symbol);
    facts.kernel = kernel;
    facts.max_threads_per_block = bound > 0 ? bound : threads_by_registers(facts.registers);
    binary.resources.push_back(std::move(facts));
  }
  binary.ptx = product.ptx;
  restore_file_name(binary.ptx, names);
  binary.cubin = product.cubin;
  return compiled;
}

}  // namespace cudal1::compile
