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
    {ExitCode::bad_input, "a given kernel does not compile, or is wrong"},
    {ExitCode::model_unreachable, "model unreachable or out of credit; the same command goes on"},
    {ExitCode::failed_items, "a batch finished with failed items"},
    {ExitCode::predicted_only, "verified, but faster only by prediction, because no GPU was found"},
    {ExitCode::bad_task, "the task or its reference does not parse, compile or verify; a journal is damaged"},
    {ExitCode::missing, "a file or folder that was named is missing or cannot be read"},
    {ExitCode::not_written, "a result could not be written: a full disk, or no permission"},
    {ExitCode::resumable, "stopped early; the same command goes on"},
    {ExitCode::hung_up, "the terminal was closed (SIGHUP); the same command goes on"},
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
    case base::Fault::no_device:
    case base::Fault::no_memory: return ExitCode::no_device;
    case base::Fault::bad_input: return ExitCode::bad_input;
    case base::Fault::bad_task: return ExitCode::bad_task;
    case base::Fault::missing: return ExitCode::missing;
    case base::Fault::not_written: return ExitCode::not_written;
    case base::Fault::model_unreachable: return ExitCode::model_unreachable;
    case base::Fault::resumable: return ExitCode::resumable;
  }
  return ExitCode::internal;
}

}  // namespace cudal1::cli
