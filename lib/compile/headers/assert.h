// SPDX-License-Identifier: Apache-2.0
// Stand-in for a header that NVRTC does not have. NVRTC declares assert itself.
#pragma once
#ifndef assert
#ifdef NDEBUG
#define assert(condition) static_cast<void>(0)
#else
#define assert(condition) ((condition) ? static_cast<void>(0) : __trap())
#endif
#endif
