// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"

#include <cstdint>

#include <CLI/CLI.hpp>

namespace cudal1::cli {

Check Check::one_of(std::vector<std::string> words) {
  Check check(Kind::one_of);
  check.words_ = std::move(words);
  return check;
}

Check Check::between(int least, int most) {
  Check check(Kind::between);
  check.least_ = least;
  check.most_ = most;
  return check;
}

Check Check::positive() { return Check(Kind::positive); }
Check Check::not_negative() { return Check(Kind::not_negative); }

void Check::apply(CLI::Option& option) const {
  switch (kind_) {
    case Kind::one_of: option.check(CLI::IsMember(words_)); break;
    case Kind::between: option.check(CLI::Range(least_, most_)); break;
    case Kind::positive: option.check(CLI::PositiveNumber); break;
    case Kind::not_negative: option.check(CLI::NonNegativeNumber); break;
  }
}

Declaration Declaration::required() {
  option_->required();
  return *this;
}

Declaration Declaration::group(const std::string& name) {
  option_->group(name);
  return *this;
}

Declaration Declaration::option_text(const std::string& text) {
  option_->option_text(text);
  return *this;
}

Declaration Declaration::default_str(const std::string& text) {
  option_->default_str(text);
  return *this;
}

Declaration Declaration::delimiter(char separator) {
  option_->delimiter(separator);
  return *this;
}

Declaration Declaration::one_value() {
  option_->allow_extra_args(false);
  return *this;
}

Declaration Declaration::check(const Check& condition) {
  condition.apply(*option_);
  return *this;
}

template <typename Value>
Declaration Arguments::add_option(const std::string& names, Value& value, const std::string& help) {
  return Declaration(*app_->add_option(names, value, help));
}

Declaration Arguments::add_flag(const std::string& names, bool& value, const std::string& help) {
  return Declaration(*app_->add_flag(names, value, help));
}

void Arguments::make_optional(const std::string& name) { app_->get_option(name)->required(false); }

template Declaration Arguments::add_option(const std::string&, std::string&, const std::string&);
template Declaration Arguments::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Declaration Arguments::add_option(const std::string&, int&, const std::string&);
template Declaration Arguments::add_option(const std::string&, double&, const std::string&);
template Declaration Arguments::add_option(const std::string&, std::uint64_t&, const std::string&);
template Declaration Arguments::add_option(const std::string&, long long&, const std::string&);

}  // namespace cudal1::cli
