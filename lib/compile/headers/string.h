// SPDX-License-Identifier: Apache-2.0
// Stand-in for a header that NVRTC does not have. NVRTC declares memcpy and memset itself.
#pragma once
#include <stddef.h>
