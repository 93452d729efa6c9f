// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cudal1::families {

// Of one kernel, at the first workload.
struct Work {
  double bytes = 0;  // moved; more where too few blocks ask for them
  double operations = 0;
};

}  // namespace cudal1::families
