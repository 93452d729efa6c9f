// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stands for a process of PyTorch that is asked to be ready to be timed, as FAKE_PYTORCH says: "works", "absent",
// "refuses" the task, "dies" with it, "hangs" from its start on. In FAKE_PYTORCH_FOLDER it writes its `pid`, and the
// moments at which it was at `work` for a baseline, in seconds.
int pytorch_main();
