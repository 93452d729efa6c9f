// SPDX-License-Identifier: Apache-2.0
#include "cuda/tool_kernels.hpp"

namespace cudal1::cuda {

namespace {

// The body of both digests; only the load differs. The mixing constants are those of splitmix64 (Steele, Lea and
// Flood, OOPSLA 2014).
#define CUDAL1_DIGEST(name, shift, load)                                                \
  ".visible .entry " name "(.param .u64 data, .param .u64 count, .param .u64 sum)\n"    \
  "{\n"                                                                                 \
  "  .reg .b64 %d<12>;\n"                                                               \
  "  .reg .b32 %r<8>;\n"                                                                \
  "  .reg .pred %p1;\n"                                                                 \
  "  ld.param.u64 %d1, [data];\n"                                                       \
  "  ld.param.u64 %d2, [count];\n"                                                      \
  "  ld.param.u64 %d3, [sum];\n"                                                        \
  "  mov.u32 %r1, %ctaid.x;\n"                                                          \
  "  mov.u32 %r2, %ntid.x;\n"                                                           \
  "  mov.u32 %r3, %tid.x;\n"                                                            \
  "  mad.lo.u32 %r4, %r1, %r2, %r3;\n"                                                  \
  "  mov.u32 %r5, %nctaid.x;\n"                                                         \
  "  mul.lo.u32 %r5, %r5, %r2;\n"                                                       \
  "  cvt.u64.u32 %d4, %r4;\n"                                                           \
  "  cvt.u64.u32 %d5, %r5;\n"                                                           \
  "  mov.u64 %d6, 0;\n"                                                                 \
  "again:\n"                                                                            \
  "  setp.ge.u64 %p1, %d4, %d2;\n"                                                      \
  "  @%p1 bra done;\n"                                                                  \
  "  shl.b64 %d7, %d4, " shift ";\n"                                                    \
  "  add.u64 %d7, %d7, %d1;\n"                                                          \
  "  " load " %r6, [%d7];\n"                                                            \
  "  cvt.u64.u32 %d8, %r6;\n"                                                           \
  "  add.u64 %d9, %d4, 1;\n"                                                            \
  "  mul.lo.u64 %d9, %d9, 0x9E3779B97F4A7C15;\n"                                        \
  "  xor.b64 %d8, %d8, %d9;\n"                                                          \
  "  mul.lo.u64 %d8, %d8, 0xBF58476D1CE4E5B9;\n"                                        \
  "  shr.u64 %d10, %d8, 32;\n"                                                          \
  "  xor.b64 %d8, %d8, %d10;\n"                                                         \
  "  mul.lo.u64 %d8, %d8, 0x94D049BB133111EB;\n"                                        \
  "  shr.u64 %d10, %d8, 31;\n"                                                          \
  "  xor.b64 %d8, %d8, %d10;\n"                                                         \
  "  add.u64 %d6, %d6, %d8;\n"                                                          \
  "  add.u64 %d4, %d4, %d5;\n"                                                          \
  "  bra again;\n"                                                                      \
  "done:\n"                                                                             \
  "  red.global.add.u64 [%d3], %d6;\n"                                                  \
  "  ret;\n"                                                                            \
  "}\n"

}  // namespace

const char* const tool_kernels_ptx =
    ".version 6.3\n"
    ".target sm_75\n"
    ".address_size 64\n"
    ".visible .entry cudal1_block(.param .u64 flag, .param .u64 limit)\n"
    "{\n"
    "  .reg .b64 %d<11>;\n"
    "  .reg .b32 %r1;\n"
    "  .reg .pred %p1;\n"
    "  ld.param.u64 %d1, [flag];\n"
    "  ld.param.u64 %d2, [limit];\n"
    "  mov.u64 %d3, %globaltimer;\n"
    "  mov.u64 %d5, %clock64;\n"
    "  mov.u64 %d7, %d3;\n"                        // the reading before
    "  mov.u64 %d8, 0;\n"                          // the longest time between two readings
    "again:\n"
    "  ld.volatile.global.u32 %r1, [%d1];\n"
    "  mov.u64 %d4, %globaltimer;\n"
    "  sub.u64 %d9, %d4, %d7;\n"
    "  max.u64 %d8, %d8, %d9;\n"
    "  mov.u64 %d7, %d4;\n"
    "  setp.ne.u32 %p1, %r1, 0;\n"
    "  @%p1 bra done;\n"
    "  sub.u64 %d9, %d4, %d3;\n"
    "  setp.lt.u64 %p1, %d9, %d2;\n"
    "  @%p1 bra again;\n"
    "  st.volatile.global.u32 [%d1+4], 1;\n"
    "done:\n"
    "  mov.u64 %d6, %clock64;\n"
    "  mov.u64 %d4, %globaltimer;\n"
    "  sub.u64 %d9, %d4, %d3;\n"
    "  st.volatile.global.u64 [%d1+8], %d9;\n"
    "  sub.u64 %d9, %d6, %d5;\n"
    "  st.volatile.global.u64 [%d1+16], %d9;\n"
    "  st.volatile.global.u64 [%d1+24], %d8;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry cudal1_fill64(.param .u64 data, .param .u64 count, .param .u64 value)\n"
    "{\n"
    "  .reg .b64 %d<8>;\n"
    "  .reg .b32 %r<6>;\n"
    "  .reg .pred %p1;\n"
    "  ld.param.u64 %d1, [data];\n"
    "  ld.param.u64 %d2, [count];\n"
    "  ld.param.u64 %d3, [value];\n"
    "  mov.u32 %r1, %ctaid.x;\n"
    "  mov.u32 %r2, %ntid.x;\n"
    "  mov.u32 %r3, %tid.x;\n"
    "  mad.lo.u32 %r4, %r1, %r2, %r3;\n"
    "  mov.u32 %r5, %nctaid.x;\n"
    "  mul.lo.u32 %r5, %r5, %r2;\n"
    "  cvt.u64.u32 %d4, %r4;\n"
    "  cvt.u64.u32 %d5, %r5;\n"
    "again:\n"
    "  setp.ge.u64 %p1, %d4, %d2;\n"
    "  @%p1 bra done;\n"
    "  shl.b64 %d6, %d4, 3;\n"
    "  add.u64 %d6, %d6, %d1;\n"
    "  st.global.u64 [%d6], %d3;\n"
    "  add.u64 %d4, %d4, %d5;\n"
    "  bra again;\n"
    "done:\n"
    "  ret;\n"
    "}\n"
    CUDAL1_DIGEST("cudal1_digest_words", "2", "ld.global.u32")
    CUDAL1_DIGEST("cudal1_digest_bytes", "0", "ld.global.u8");

}  // namespace cudal1::cuda
