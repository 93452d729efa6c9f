// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "product_case.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>

namespace cudal1::sim::test {

// All that wgmma has of floating point: every number of columns, A from shared memory and from registers.
inline std::vector<ProductCase> all_product_cases() {
  struct Kind {
    const char *a, *b;
    bool half_result;
  };
  static constexpr Kind kinds[] = {{"f16", "f16", false},   {"f16", "f16", true},   {"bf16", "bf16", false}, {"tf32", "tf32", false},  {"e4m3", "e4m3", false},
                                   {"e4m3", "e5m2", false}, {"e5m2", "e4m3", false}, {"e5m2", "e5m2", false}, {"e4m3", "e4m3", true}, {"e5m2", "e5m2", true}};
  std::vector<ProductCase> cases;
  for (const Kind& kind : kinds)
    for (std::size_t columns = 8; columns <= 256; columns += 8)
      for (const bool registers : {false, true})
        cases.push_back({fmt::format("{}_{}_{}_{}_{}", kind.a, kind.b, kind.half_result ? "f16" : "f32", registers ? "registers" : "shared", columns), kind.a, columns, kind.b, registers,
                         kind.half_result});
  return cases;
}

// A tile of rows of two 16-byte pieces to shared memory, where eight rows of one piece lie together.
inline std::string product_tile_copy(const char* from, const char* to, std::size_t pieces) {
  std::string text;
  for (std::size_t first = 0; first < pieces; first += 128)
    text += fmt::format(R"(  add.u32 %r4, %r0, {0};
  setp.lt.u32 %p0, %r4, {1};
  mul.wide.u32 %l4, %r4, 16;
  add.u64 %l4, {2}, %l4;
  @%p0 ld.global.v4.u32 {{%r5, %r6, %r7, %r8}}, [%l4];
  shr.u32 %r9, %r4, 4;
  shl.b32 %r9, %r9, 4;
  and.b32 %r10, %r4, 1;
  shl.b32 %r10, %r10, 3;
  add.u32 %r9, %r9, %r10;
  shr.u32 %r10, %r4, 1;
  and.b32 %r10, %r10, 7;
  add.u32 %r9, %r9, %r10;
  shl.b32 %r9, %r9, 4;
  add.u32 %r9, %r9, {3};
  @%p0 st.shared.v4.u32 [%r9], {{%r5, %r6, %r7, %r8}};
)", first, pieces, from, to);
  return text;
}

// The product itself; `held` registers hold its sums.
inline std::string product_instruction(const ProductCase& one, std::size_t held) {
  std::string list;
  for (std::size_t i = 0; i < held; ++i) list += fmt::format("{}%{}{}", i ? ", " : "", one.half_result ? "d" : "f", i);
  const bool sixteen = one.type == "f16" || one.type == "bf16";
  return fmt::format(R"(  cvt.u64.u32 %l8, %r2;
  shr.u64 %l8, %l8, 4;
  or.b64 %l8, %l8, {0};
  cvt.u64.u32 %l9, %r3;
  shr.u64 %l9, %l9, 4;
  or.b64 %l9, %l9, {0};
  setp.eq.u32 %p1, %r0, %r0;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n{1}k{2}.{3}.{4}.{5} {{{6}}}, {7}, %l9, %p1, 1, 1{8};
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
)", std::uint64_t{8} << 16 | std::uint64_t{16} << 32, one.columns, one.depth(), one.half_result ? "f16" : "f32", one.type, one.type_b(), list, one.registers ? "{%a0, %a1, %a2, %a3}" : "%l8",
                      !sixteen ? "" : one.registers ? ", 0" : ", 0, 0");
}

// PTX of one wgmma.mma_async a block on tiles without swizzle, as the kernels of tests/ptx/hopper/products.cu. Halves among the sums
// are converted from and to the floats of the buffers.
inline std::string product_kernel(const ProductCase& one) {
  const std::size_t sums = one.columns / 2, held = one.half_result ? sums / 2 : sums;
  std::string text = fmt::format(R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry {0}(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 out)
{{
  .reg .pred %p<3>;
  .reg .b16 %h<3>;
  .reg .b32 %r<20>, %a<4>, %d<{1}>;
  .reg .f32 %f<{2}>;
  .reg .b64 %l<20>;
  .shared .align 128 .b8 left[2048];
  .shared .align 128 .b8 right[{3}];
  ld.param.u64 %l0, [a];
  ld.param.u64 %l1, [b];
  ld.param.u64 %l2, [c];
  ld.param.u64 %l3, [out];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %l4, %r1, 2048;
  add.u64 %l0, %l0, %l4;
  mul.wide.u32 %l4, %r1, {3};
  add.u64 %l1, %l1, %l4;
  mul.wide.u32 %l4, %r1, {4};
  add.u64 %l2, %l2, %l4;
  add.u64 %l3, %l3, %l4;
  mov.u32 %r2, left;
  mov.u32 %r3, right;
)", one.kernel, held, sums, 32 * one.columns, 256 * one.columns);
  text += product_tile_copy("%l0", "%r2", 128) + product_tile_copy("%l1", "%r3", 2 * one.columns);
  // %r11: the thread's first row, %l5 and %l6: where its first sum is.
  text += fmt::format(R"(  fence.proxy.async.shared::cta;
  bar.sync 0;
  shr.u32 %r11, %r0, 5;
  shl.b32 %r11, %r11, 4;
  and.b32 %r12, %r0, 31;
  shr.u32 %r12, %r12, 2;
  add.u32 %r11, %r11, %r12;
  and.b32 %r12, %r0, 3;
  mul.lo.u32 %r13, %r11, {0};
  shl.b32 %r14, %r12, 3;
  add.u32 %r13, %r13, %r14;
  cvt.u64.u32 %l4, %r13;
  add.u64 %l5, %l2, %l4;
  add.u64 %l6, %l3, %l4;
)", 4 * one.columns);
  const auto offset = [&](std::size_t i) { return 4 * (i / 2 % 2 * 8 * one.columns + i / 4 * 8 + i % 2); };
  for (std::size_t i = 0; i < sums; ++i) text += fmt::format("  ld.global.f32 %f{}, [%l5+{}];\n", i, offset(i));
  for (std::size_t i = 0; i < held && one.half_result; ++i) text += fmt::format("  cvt.rn.f16x2.f32 %d{}, %f{}, %f{};\n", i, 2 * i + 1, 2 * i);
  if (one.registers) {
    text += "  shl.b32 %r13, %r11, 5;\n  shl.b32 %r14, %r12, 2;\n  add.u32 %r13, %r13, %r14;\n  cvt.u64.u32 %l7, %r13;\n  add.u64 %l7, %l0, %l7;\n";
    for (std::size_t r = 0; r < 4; ++r) text += fmt::format("  ld.global.u32 %a{}, [%l7+{}];\n", r, r % 2 * 256 + r / 2 * 16);
  }
  text += product_instruction(one, held);
  for (std::size_t i = 0; i < held && one.half_result; ++i)
    text += fmt::format("  mov.b32 {{%h0, %h1}}, %d{};\n  cvt.f32.f16 %f{}, %h0;\n  cvt.f32.f16 %f{}, %h1;\n", i, 2 * i, 2 * i + 1);
  for (std::size_t i = 0; i < sums; ++i) text += fmt::format("  st.global.f32 [%l6+{}], %f{};\n", offset(i), i);
  return text + "  ret;\n}\n";
}

}  // namespace cudal1::sim::test
