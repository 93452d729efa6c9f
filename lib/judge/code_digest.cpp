// SPDX-License-Identifier: Apache-2.0
#include "judge/code_digest.hpp"

#include "base/digest.hpp"
#include "judge/values.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace cudal1::judge {

namespace {

struct Section {
  std::string_view name, content;
  std::uint64_t size = 0;        // also of one without content, such as shared memory
  std::uint32_t flags = 0;       // registers and barriers, in a kernel's code
  std::uint32_t type = 0, link = 0;
};

template <typename T>
bool read(std::string_view bytes, std::uint64_t at, T& value) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return false;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return true;
}

std::string_view part(std::string_view bytes, std::uint64_t at, std::uint64_t size) { return at > bytes.size() ? std::string_view() : bytes.substr(at, size); }

// Of an ELF file; none of anything else.
std::vector<Section> sections(std::string_view cubin) {
  Elf64_Ehdr header;
  if (!cubin.starts_with(ELFMAG) || !read(cubin, 0, header)) return {};
  std::vector<Elf64_Shdr> headers(header.e_shnum);
  for (std::size_t i = 0; i < headers.size(); ++i)
    if (!read(cubin, header.e_shoff + i * header.e_shentsize, headers[i])) return {};
  if (header.e_shstrndx >= headers.size()) return {};
  const std::string_view names = part(cubin, headers[header.e_shstrndx].sh_offset, headers[header.e_shstrndx].sh_size);
  std::vector<Section> result;
  for (const Elf64_Shdr& each : headers) {
    const std::string_view name = part(names, each.sh_name, names.size());
    result.push_back({name.substr(0, name.find('\0')), each.sh_type == SHT_NOBITS ? std::string_view() : part(cubin, each.sh_offset, each.sh_size), each.sh_size,
                      static_cast<std::uint32_t>(each.sh_flags), each.sh_type, each.sh_link});
  }
  return result;
}

bool is_debug(std::string_view name) {
  return name.starts_with(".debug") || name.starts_with(".nv_debug") || name.starts_with(".rel.debug") || name.starts_with(".rela.debug") || name.starts_with(".rel.nv_debug") ||
         name.starts_with(".rela.nv_debug");
}

// Names of symbols (see places), and what depends on how many there are.
bool is_table(std::string_view name) {
  return name.empty() || name == ".symtab" || name == ".strtab" || name == ".shstrtab" || name.starts_with(".note") || name == ".nv.info" || name == ".nv.callgraph" || name == ".nv.prototype" ||
         name == ".nv.rel.action" || name == ".nv.compat";
}

// Of kernels' shared memory: none of these has a value before a launch, and where they lie stands in the instructions.
bool is_shared(std::string_view name) { return name.starts_with(".nv.shared") || name.starts_with(".nv.reservedSmem"); }

// What symbols a table has; none if it cannot be read.
struct Symbol {
  std::string_view name;     // of a section's own symbol the section's
  std::string_view place;    // the section where it lies; empty if it is defined elsewhere
  std::uint64_t value = 0, size = 0;
  int type = 0;
};

std::optional<std::vector<Symbol>> symbols(const std::vector<Section>& all, const Section& table) {
  if (table.content.size() != table.size || table.size % sizeof(Elf64_Sym) != 0 || table.link >= all.size()) return std::nullopt;
  const std::string_view names = all[table.link].content;
  std::vector<Symbol> result;
  Elf64_Sym symbol;
  for (std::size_t at = 0; read(table.content, at, symbol); at += sizeof symbol) {
    const bool has_place = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < all.size();
    const std::string_view name = part(names, symbol.st_name, names.size()), place = has_place ? all[symbol.st_shndx].name : std::string_view();
    const int type = ELF64_ST_TYPE(symbol.st_info);
    result.push_back({type == STT_SECTION ? place : name.substr(0, name.find('\0')), place, symbol.st_value, symbol.st_size, type});
  }
  return result;
}

// Variables, with their names: what the instructions do depends on where they lie.
bool add_variables(const std::vector<Section>& all, const Section& table, std::vector<std::string>& lines) {
  const auto found = symbols(all, table);
  if (!found) return false;
  for (const Symbol& symbol : *found)
    if ((symbol.type == STT_OBJECT || symbol.type == STT_COMMON || symbol.type == STT_TLS) && !is_shared(symbol.place.empty() ? symbol.name : symbol.place))
      lines.push_back(fmt::format("variable {} {} {} {}\n", symbol.name, symbol.place, symbol.value, symbol.size));
  return true;
}

// Addresses that are filled in when the code is loaded, each with the name of what lies there.
bool add_relocations(const std::vector<Section>& all, const Section& section, std::vector<std::string>& lines) {
  const bool has_addends = section.type == SHT_RELA;
  const std::size_t length = has_addends ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
  if (section.content.size() != section.size || section.size % length != 0 || section.link >= all.size()) return false;
  const auto found = symbols(all, all[section.link]);
  if (!found) return false;
  for (std::size_t at = 0; at < section.size; at += length) {
    Elf64_Rela entry{};
    std::memcpy(&entry, section.content.data() + at, length);
    const std::size_t symbol = ELF64_R_SYM(entry.r_info);
    if (symbol >= found->size()) return false;
    lines.push_back(fmt::format("{} {} {} {} {}\n", section.name, entry.r_offset, ELF64_R_TYPE(entry.r_info), (*found)[symbol].name, entry.r_addend));
  }
  return true;
}

// All variables and relocations; none if a table cannot be read.
std::optional<std::vector<std::string>> places(const std::vector<Section>& all) {
  std::vector<std::string> lines;
  for (const Section& section : all) {
    const bool relocates = section.type == SHT_REL || section.type == SHT_RELA;
    if (section.type == SHT_SYMTAB && !add_variables(all, section, lines)) return std::nullopt;
    if (relocates && !is_debug(section.name) && !add_relocations(all, section, lines)) return std::nullopt;
  }
  return lines;
}

bool copies(const std::vector<kernel::Plan>& plans) {
  return std::any_of(plans.begin(), plans.end(), [](const kernel::Plan& plan) {
    return std::any_of(plan.steps.begin(), plan.steps.end(), [](const kernel::PlanStep& step) { return std::holds_alternative<kernel::Copy>(step); });
  });
}

std::string text_of(const Section& section, std::string_view name) { return fmt::format("{} {} {:x} {}\n", name, section.size, section.flags, base::sha256(section.content)); }

}  // namespace

std::string code_digest(const Executable& executable) {
  const auto found = sections(executable.binary.cubin);
  auto shared = places(found);                  // what belongs to no kernel: variables, and functions that are called
  if (!shared || copies(executable.checks) || copies(executable.workloads)) return {};
  std::map<std::string, std::string> kernels;   // by the name that a plan launches
  for (const auto& [name, symbol] : executable.binary.entries) {
    std::vector<std::string> own;
    for (const Section& section : found)
      if (section.name.ends_with("." + symbol) && !section.name.starts_with(".rel") && !is_debug(section.name))
        own.push_back(text_of(section, section.name.substr(0, section.name.size() - symbol.size())));
    if (own.empty()) return {};
    std::sort(own.begin(), own.end());
    for (const outcome::ResourceFacts& facts : executable.binary.resources)
      if (facts.kernel == name) own.push_back(fmt::format("{} {} {} {}\n", facts.registers, facts.shared_bytes, facts.local_bytes, facts.max_threads_per_block));
    kernels[name] = base::sha256(fmt::format("{}", fmt::join(own, "")));
  }
  for (const Section& section : found) {
    const bool of_kernel = std::any_of(executable.binary.entries.begin(), executable.binary.entries.end(), [&](const auto& entry) { return section.name.ends_with("." + entry.second); });
    const bool listed = is_table(section.name) || section.type == SHT_REL || section.type == SHT_RELA;
    if (!of_kernel && !is_debug(section.name) && !listed) shared->push_back(text_of(section, section.name.starts_with(".text.") ? ".text." : section.name));
  }
  if (kernels.empty()) return {};
  std::sort(shared->begin(), shared->end());
  std::string all = fmt::format("{}\n{}", executable.binary.arch, fmt::join(*shared, ""));
  for (const auto* plans : {&executable.checks, &executable.workloads})
    for (const kernel::Plan& plan : *plans) {
      kernel::Plan nameless = plan;
      for (kernel::PlanBuffer& buffer : nameless.buffers) buffer.name.clear();
      for (kernel::PlanStep& step : nameless.steps)
        if (auto* launch = std::get_if<kernel::Launch>(&step)) launch->kernel = kernels[launch->kernel];
      const auto bytes = nlohmann::json::to_cbor(to(nameless));
      all += base::sha256({reinterpret_cast<const char*>(bytes.data()), bytes.size()}) + '\n';
    }
  return base::sha256(all);
}

}  // namespace cudal1::judge
