// SPDX-License-Identifier: Apache-2.0
#include "families/shared_kernels.hpp"

#include "cuda_code/parameter_names.hpp"

#include <algorithm>
#include <unordered_map>

namespace cudal1::families {
namespace {

// A function under its own names, and under names that say no more than in which order they appear: equal for functions that differ in
// names alone. `functions` are those of its functions that no earlier one has, in that order.
struct Spelling {
  std::string own, canonical;
  std::vector<std::string> functions;
};

// The number of a name, a new one for a new name.
std::size_t number_of(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

class Sharing {
 public:
  Sharing(const std::set<std::string>& names, const std::map<std::string, std::string>& tunables) : names_(names), tunables_(tunables) {}

  SharedKernels of(const std::vector<std::string>& functions) {
    for (const std::string& code : functions) {
      Spelling spelling = spelling_of(code);
      const auto [earlier, first] = kept_.emplace(std::move(spelling.canonical), spelling.functions);
      for (std::size_t i = 0; i < spelling.functions.size(); ++i)
        if (first) known_.insert(spelling.functions[i]);
        else result_.renamed[spelling.functions[i]] = earlier->second[i];
      if (first) result_.functions.push_back(std::move(spelling.own));
    }
    return std::move(result_);
  }

 private:
  // A function's name or one made of it, as "rows_2_body" is.
  bool names_function(const std::string& word) const {
    for (std::size_t end = word.size(); end != std::string::npos && end > 0; end = word.rfind('_', end - 1))
      if (names_.count(word.substr(0, end)) != 0) return true;
    return false;
  }

  Spelling spelling_of(const std::string& code) const {
    Spelling result;
    std::vector<std::string> parameters;
    for (const auto& [text, word] : cuda_code::words_of(code)) {
      std::string spelt(text);
      if (const auto other = result_.renamed.find(spelt); word && other != result_.renamed.end()) spelt = other->second;
      result.own += spelt;
      const auto parts = cuda_code::parts_of(spelt);
      if (!word) result.canonical += spelt;
      else if (parts) result.canonical += parts->front + "\1p" + std::to_string(number_of(parameters, parts->parameter)) + "\1" + parts->back;
      else if (const auto tunable = tunables_.find(spelt); tunable != tunables_.end()) result.canonical += "\1t" + tunable->second;
      else if (known_.count(spelt) != 0 || (spelt[0] >= '0' && spelt[0] <= '9') || !names_function(spelt)) result.canonical += spelt;
      else result.canonical += "\1f" + std::to_string(number_of(result.functions, spelt));
    }
    return result;
  }

  const std::set<std::string>& names_;
  const std::map<std::string, std::string>& tunables_;
  SharedKernels result_;
  std::set<std::string> known_;  // names of functions, and the words made of them, that stay
  std::unordered_map<std::string, std::vector<std::string>> kept_;  // what stays, and its functions
};

}  // namespace

std::string SharedKernels::launch(const std::string& text) const {
  const std::size_t end = text.find("<<<");
  const auto other = renamed.find(text.substr(0, end));
  return other == renamed.end() ? text : other->second + text.substr(end);
}

SharedKernels share_kernels(const std::vector<std::string>& functions, const std::set<std::string>& names, const std::map<std::string, std::string>& tunables) {
  return Sharing(names, tunables).of(functions);
}

}  // namespace cudal1::families
