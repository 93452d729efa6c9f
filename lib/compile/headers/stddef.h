// SPDX-License-Identifier: Apache-2.0
// Stand-in for a header that NVRTC does not have.
#pragma once
using ptrdiff_t = decltype(static_cast<char*>(nullptr) - static_cast<char*>(nullptr));
#ifndef NULL
#define NULL 0
#endif
#ifndef offsetof
#define offsetof(type, member) reinterpret_cast<size_t>(&reinterpret_cast<const volatile char&>(static_cast<type*>(nullptr)->member))
#endif
