// SPDX-License-Identifier: Apache-2.0
#include "report/report.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/formats.hpp"

#include <fmt/format.h>

namespace cudal1::report {

namespace {

struct Format {
  const char* name;
  std::string (*render)(const store::Run&, const Style&);
};

constexpr Format known[] = {
    {"terminal", terminal},
    {"markdown", markdown},
    {"html", html},
    {"json", json},
    {"csv", csv},
    {"trace", trace},
};

}  // namespace

std::vector<std::string> formats() {
  std::vector<std::string> names;
  for (const auto& format : known) names.emplace_back(format.name);
  return names;
}

std::string render(const store::Run& run, std::string_view format, const Style& style) {
  for (const auto& candidate : known)
    if (format == candidate.name) return candidate.render(run, style);
  const auto near = base::nearest(format, formats());
  throw base::Error(base::Fault::usage, fmt::format("no report format is called \"{}\"{}; there are {}", format,
                                                    near ? fmt::format(", did you mean \"{}\"", *near) : "",
                                                    fmt::join(formats(), ", ")));
}

}  // namespace cudal1::report
