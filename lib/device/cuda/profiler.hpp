// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda/driver.hpp"
#include "outcome/counters.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cudal1::cuda {

// The hardware's counters through CUPTI's host and range profiler interfaces, opened at run time. Counting needs rights
// that many machines give to root alone, and excludes other profilers and the sanitizer; where it does not work,
// problem() is a sentence that says why.
class Profiler {
 public:
  Profiler(CUcontext context, std::size_t device_index);
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  const std::string& problem() const { return problem_; }

  // Counts over what `run` queues, which happens once per pass after `prepare`. Both end with everything done.
  // False: problem() says why.
  bool count(const std::function<void()>& prepare, const std::function<void()>& run);

  outcome::Counters counters() const;                 // what the simulator counts too
  std::map<std::string, double> shares() const;       // of a peak, 0 … 1, by name; and rates
  std::size_t passes() const { return passes_; }

 private:
  struct Library;
  struct Session;
  bool fail(const char* step, int status);
  bool configure(const char* chip);

  std::unique_ptr<Library> library_;
  std::unique_ptr<Session> session_;
  CUcontext context_;
  std::string problem_;
  std::vector<std::size_t> rows_;                     // of the table of metrics: those that this chip has
  std::vector<double> values_;
  std::size_t passes_ = 0;
};

}  // namespace cudal1::cuda
