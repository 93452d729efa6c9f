// SPDX-License-Identifier: Apache-2.0
#include "variables.hpp"

#include <cstring>
#include <optional>

#include <elf.h>

namespace cudal1::runtime {

namespace {

template <typename T>
std::optional<T> at(std::string_view bytes, std::size_t offset) {
  T value{};
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view string_at(std::string_view bytes, const Elf64_Shdr& table, std::size_t offset) {
  if (offset >= table.sh_size || table.sh_offset > bytes.size() || table.sh_size > bytes.size() - table.sh_offset) return {};
  const std::string_view rest = bytes.substr(table.sh_offset + offset, table.sh_size - offset);
  return rest.substr(0, rest.find('\0'));
}

}  // namespace

ModuleSymbols read_symbols(std::string_view cubin) {
  ModuleSymbols symbols;
  const auto header = at<Elf64_Ehdr>(cubin, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64) return symbols;
  const auto section = [&](std::size_t i) { return at<Elf64_Shdr>(cubin, header->e_shoff + i * sizeof(Elf64_Shdr)); };
  const auto names = section(header->e_shstrndx);
  if (!names) return symbols;
  // Which sections hold variables, so that a module without any, which may have thousands of functions, is left at once. Bank 3
  // is what the source calls constant; others hold parameters and what the compiler puts there itself.
  std::set<std::size_t> holders;
  for (std::size_t i = 0; i < header->e_shnum; ++i) {
    const auto one = section(i);
    const std::string_view name = one ? string_at(cubin, *names, one->sh_name) : std::string_view();
    if (name == ".nv.constant3" || name == ".nv.global" || name == ".nv.global.init") holders.insert(i);
  }
  if (holders.empty()) return symbols;
  for (std::size_t i = 0; i < header->e_shnum; ++i) {
    const auto table = section(i);
    if (!table || table->sh_type != SHT_SYMTAB) continue;
    const auto strings = section(table->sh_link);
    if (!strings) continue;
    for (std::size_t k = 0; k < table->sh_size / sizeof(Elf64_Sym); ++k) {
      const auto symbol = at<Elf64_Sym>(cubin, table->sh_offset + k * sizeof(Elf64_Sym));
      if (!symbol || symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= header->e_shnum) continue;
      const auto kind = ELF64_ST_TYPE(symbol->st_info);
      if (kind == STT_FUNC) symbols.functions.emplace(string_at(cubin, *strings, symbol->st_name));
      if (kind == STT_OBJECT && symbol->st_size != 0 && holders.contains(symbol->st_shndx)) symbols.variables.emplace_back(string_at(cubin, *strings, symbol->st_name));
    }
  }
  return symbols;
}

void Variables::add_module(std::string_view cubin) {
  ModuleSymbols symbols = read_symbols(cubin);
  if (!symbols.variables.empty()) modules_.push_back(std::move(symbols));
}

std::vector<std::string> Variables::of(std::string_view kernel) const {
  for (const ModuleSymbols& module : modules_)
    if (module.functions.contains(kernel)) return module.variables;
  return {};
}

}  // namespace cudal1::runtime
