// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "console.hpp"

#include "model/arrivals.hpp"
#include "search/observer.hpp"

#include <memory>

namespace cudal1::cli {

// Shows a run while it goes on, on standard error: on a terminal each variant and a line that is repainted, in a pipe a
// line per finished round and at least one a minute, with --progress=json one JSON object per event (cudal1-json(5)).
// `rounds` and `samples` are those of the run; `arrivals` is told by its models.
std::unique_ptr<search::Observer> run_progress(const Console& console, int rounds, int samples,
                                               std::shared_ptr<const model::Arrivals> arrivals, std::string run);

}  // namespace cudal1::cli
