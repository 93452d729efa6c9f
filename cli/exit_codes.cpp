// SPDX-License-Identifier: Apache-2.0
#include "exit_codes.hpp"

namespace cudal1::cli {

namespace {

constexpr ExitCodeRow rows[] = {
    {ExitCode::success, "finished with a verified result"},
    {ExitCode::internal, "internal error"},
    {ExitCode::usage, "wrong usage or configuration"},
    {ExitCode::nothing_faster, "finished, nothing faster was found"},
    {ExitCode::credentials, "credentials missing or refused"},
    {ExitCode::no_device, "no usable GPU, driver or NVRTC"},
    {ExitCode::bad_input, "the task, its reference or a given variant does not compile or verify"},
    {ExitCode::model_unreachable, "model unreachable or out of credit; the same command goes on"},
    {ExitCode::failed_items, "a batch finished with failed items"},
    {ExitCode::predicted_only, "verified, but faster only by prediction, because no GPU was found"},
    {ExitCode::resumable, "stopped early; the same command goes on"},
    {ExitCode::interrupted, "interrupted (SIGINT); the same command goes on"},
    {ExitCode::terminated, "terminated (SIGTERM); the same command goes on"},
};

}  // namespace

std::span<const ExitCodeRow> exit_codes() { return rows; }

ExitCode exit_code(base::Fault fault) {
  switch (fault) {
    case base::Fault::internal: return ExitCode::internal;
    case base::Fault::usage: return ExitCode::usage;
    case base::Fault::credentials: return ExitCode::credentials;
    case base::Fault::no_device: return ExitCode::no_device;
    case base::Fault::bad_input: return ExitCode::bad_input;
    case base::Fault::model_unreachable: return ExitCode::model_unreachable;
    case base::Fault::resumable: return ExitCode::resumable;
  }
  return ExitCode::internal;
}

}  // namespace cudal1::cli
