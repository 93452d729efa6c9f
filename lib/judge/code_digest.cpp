// SPDX-License-Identifier: Apache-2.0
#include "judge/code_digest.hpp"

#include "base/digest.hpp"
#include "judge/values.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <map>
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

// Names of symbols (see names_variables), and what depends on how many there are.
bool is_table(std::string_view name) {
  return name.empty() || name == ".symtab" || name == ".strtab" || name == ".shstrtab" || name.starts_with(".note") || name == ".nv.info" || name == ".nv.callgraph" || name == ".nv.prototype" ||
         name == ".nv.rel.action" || name == ".nv.compat";
}

// Of kernels' shared memory: none of these has a value before a launch, and where they lie stands in the instructions.
bool is_shared(std::string_view name) { return name.starts_with(".nv.shared") || name.starts_with(".nv.reservedSmem"); }

// Whether a table of symbols has variables, or cannot be read.
bool names_variables(const std::vector<Section>& all, const Section& table) {
  if (table.content.size() != table.size || table.size % sizeof(Elf64_Sym) != 0 || table.link >= all.size()) return true;
  const std::string_view names = all[table.link].content;
  Elf64_Sym symbol;
  for (std::size_t at = 0; read(table.content, at, symbol); at += sizeof symbol) {
    const int type = ELF64_ST_TYPE(symbol.st_info);
    if (type != STT_OBJECT && type != STT_COMMON && type != STT_TLS) continue;
    const bool has_place = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < all.size();
    if (!is_shared(has_place ? all[symbol.st_shndx].name : part(names, symbol.st_name, names.size()))) return true;
  }
  return false;
}

// Variables, constants in memory, and addresses that are filled in when the code is loaded: what the instructions do depends on names and on
// where the variables lie.
bool depends_on_names(const std::vector<Section>& all) {
  return std::any_of(all.begin(), all.end(), [&](const Section& section) {
    if (section.type == SHT_SYMTAB) return names_variables(all, section);
    if (section.size == 0 || is_debug(section.name)) return false;
    if (section.type == SHT_REL || section.type == SHT_RELA || section.name.starts_with(".rel")) return true;
    return section.name.starts_with(".nv.global") || (section.name.starts_with(".nv.constant") && !section.name.starts_with(".nv.constant0."));
  });
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
  if (depends_on_names(found) || copies(executable.checks) || copies(executable.workloads)) return {};
  std::map<std::string, std::string> kernels;   // by the name that a plan launches
  std::vector<std::string> shared;              // what belongs to none of them: functions that are called
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
    if (!of_kernel && !is_debug(section.name) && !is_table(section.name)) shared.push_back(text_of(section, section.name.starts_with(".text.") ? ".text." : section.name));
  }
  if (kernels.empty()) return {};
  std::sort(shared.begin(), shared.end());
  std::string all = fmt::format("{}\n{}", executable.binary.arch, fmt::join(shared, ""));
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
