// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "judge/device_host.hpp"
#include "judge/messages.hpp"

#include <future>
#include <optional>
#include <vector>

namespace cudal1::judge {

// The second fresh process of a final verdict, made ready while the first one is: it is opened, loads the reference, verifies the variant
// and makes the inputs and truths that the variant will be timed on. Whoever makes it holds a turn on the GPU until ready() was asked.
class MadeAhead {
 public:
  struct Jobs {
    OpenJob open;
    ReferenceJob reference;
    CheckJob check;
    std::vector<TimeJob> timed;   // without samples
  };
  // `host` must outlive it. `execution` limits one execution, as in DeviceHost::ask.
  MadeAhead(Jobs jobs, DeviceHost& host, base::Seconds execution);

  // Waits. What the verification found, where nothing was amiss; else nothing, and the host has no process.
  const std::optional<verify::Evidence>& ready();

 private:
  std::optional<verify::Evidence> found_;
  std::future<std::optional<verify::Evidence>> making_;
};

}  // namespace cudal1::judge
