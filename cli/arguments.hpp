// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cudal1::cli {

// A condition on the value of an option.
class Check {
 public:
  static Check one_of(std::vector<std::string> words);
  static Check between(int least, int most);
  static Check positive();
  static Check not_negative();

  void apply(CLI::Option& option) const;

 private:
  enum class Kind { one_of, between, positive, not_negative };
  explicit Check(Kind kind) : kind_(kind) {}

  Kind kind_;
  std::vector<std::string> words_;
  int least_ = 0, most_ = 0;
};

// An option while it is declared: command.add_option("--rounds", rounds, "…")->option_text("N")->required().
class Declaration {
 public:
  explicit Declaration(CLI::Option& option) : option_(&option) {}
  Declaration* operator->() { return this; }

  Declaration required();
  Declaration group(const std::string& name);          // of the help text
  Declaration option_text(const std::string& text);    // what stands for the value in the help text
  Declaration default_str(const std::string& text);    // the default as the help text shows it; empty: none
  Declaration delimiter(char separator);               // of several values in one word
  Declaration one_value();                             // each time that it is given; several come from giving it again
  Declaration check(const Check& condition);

 private:
  CLI::Option* option_;
};

// A command while its options are declared. CLI11 takes ten seconds to compile and is seen by the sources of this class
// and of the help text alone.
class Arguments {
 public:
  explicit Arguments(CLI::App& app) : app_(&app) {}

  // `names` is "--long", "-s,--long" or, for a positional argument, "NAME". The variable outlives the parsing.
  template <typename Value>
  Declaration add_option(const std::string& names, Value& value, const std::string& help);
  Declaration add_flag(const std::string& names, bool& value, const std::string& help);
  void make_optional(const std::string& name);   // what was declared as required

  CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
};

}  // namespace cudal1::cli
