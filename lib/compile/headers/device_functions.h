// SPDX-License-Identifier: Apache-2.0
// Stand-in for a header that NVRTC does not have. NVRTC declares what device code needs of it.
#pragma once
