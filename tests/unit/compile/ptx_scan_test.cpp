// SPDX-License-Identifier: Apache-2.0
#include "compile/ptx_scan.hpp"

#include "catch.hpp"

#include <string>
#include <vector>

using cudal1::compile::scan_ptx;
using Names = std::vector<std::string>;

namespace {

std::string kernel(const std::string& declarations, const std::string& body) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n" + declarations +
         "\n.visible .entry k(\n\t.param .u64 k_param_0\n)\n.maxntid 16, 8, 1\n{\n\t.reg .b64 %rd<9>;\n\t.loc 1 2 3\n" + body + "\n\tret;\n}\n";
}

Names written(const std::string& body) { return scan_ptx(kernel(".global .align 4 .u32 v;\n.global .align 4 .b8 w[8] = {1, 2};", body)).written; }

}  // namespace

TEST_CASE("entries are found with their bounds, and demangled") {
  const auto scan = scan_ptx(kernel("", "") + ".weak .entry _Z1tILi7EEvPi(.param .u64 p)\n{\nret;\n}\n.func (.param .b32 r) f(.param .b32 a)\n{\nret;\n}\n");
  REQUIRE(scan.entries.size() == 2);
  CHECK(scan.entries.at("k") == 128);
  CHECK(scan.entries.at("_Z1tILi7EEvPi") == 0);
  CHECK(cudal1::compile::readable_symbol("_Z1tILi7EEvPi", false) == "t<7>");
  CHECK(cudal1::compile::readable_symbol("_Z4fillPfi", true) == "fill(float*, int)");
  CHECK(cudal1::compile::readable_symbol("k", false) == "k");
}

TEST_CASE("a variable that is only read is not written") {
  CHECK(written("").empty());
  CHECK(written("ld.global.u32 %r1, [v];").empty());
  CHECK(written("mov.u64 %rd1, v;\nadd.s64 %rd2, %rd1, 8;\ncvta.global.u64 %rd3, %rd2;\nld.u32 %r1, [%rd3+4];\nst.global.u32 [%rd4], %r1;").empty());
  CHECK(written("mov.u64 %rd1, w;\ncp.async.cg.shared.global [%r1], [%rd1], 16;").empty());
  CHECK(written("// st.global.u32 [v], 1;\n/* st.global.u32 [v], 1; */").empty());
}

TEST_CASE("every way to write a variable is seen") {
  CHECK(written("st.global.u32 [v], %r1;") == Names{"v"});
  CHECK(written("@%p1 st.global.u32 [v+4], %r1;") == Names{"v"});
  CHECK(written("@!%p1 st.global.u32 [w], %r1;") == Names{"w"});
  CHECK(written("atom.global.add.u32 %r1, [v], 1;") == Names{"v"});
  CHECK(written("red.global.add.u32 [v], 1;") == Names{"v"});
  CHECK(written("mov.u64 %rd1, v;\nmad.wide.s32 %rd2, %r1, 4, %rd1;\nselp.b64 %rd3, %rd2, %rd4, %p1;\nst.u32 [%rd3], 1;") == Names{"v"});
  CHECK(written("cp.async.bulk.global.shared::cta.bulk_group [v], [%r1], 16;") == Names{"v"});
}

TEST_CASE("an address that gets away counts as written") {
  CHECK(written("mov.u64 %rd1, v;\nst.global.u64 [%rd2], %rd1;") == Names{"v"});
  CHECK(written("mov.u64 %rd1, w;\n{\n.param .b64 param0;\nst.param.b64 [param0+0], %rd1;\ncall.uni g, (param0);\n}") == Names{"w"});
  CHECK(written("mov.b64 {%r1, %r2}, %rd1;\nmov.u64 %rd1, v;\nmov.b64 %rd5, {%r1, %r2};\nst.u32 [%rd5], 1;") == Names{"v"});
  CHECK(scan_ptx(kernel(".global .u32 v;\n.global .u64 p[1] = {generic(v)};", "")).written == Names{"v"});
}

TEST_CASE("an address in a constant's initialiser gets away, and in one of any space") {
  CHECK(scan_ptx(kernel(".global .u32 v;\n.const .u64 p = generic(v);", "")).written == Names{"v"});
  CHECK(scan_ptx(kernel(".global .u32 v;\n.global .u32 w;\n.const .align 8 .u64 p[2] = {0, generic(w)+4};", "")).written == Names{"w"});
  CHECK(scan_ptx(kernel(".global .u32 v;", "{ .const .u64 p = v; }")).written == Names{"v"});
  CHECK(scan_ptx(kernel(".global .u32 v;\n.const .u32 c = 7;", "ld.const.u32 %r1, [c];")).written.empty());
}

TEST_CASE("an address that a function returns gets away") {
  const auto function = [](const std::string& body) {
    return kernel(".global .u32 v;", "") + ".func (.param .b64 func_retval0) place(.param .b32 place_param_0)\n{\n.reg .b64 %rd<4>;\nmov.u64 %rd1, v;\n" + body + "ret;\n}\n";
  };
  CHECK(scan_ptx(function("st.param.b64 [func_retval0+0], %rd1;\n")).written == Names{"v"});
  CHECK(scan_ptx(function("st.param.b64 [func_retval0], %rd1;\n{ .param .b64 param0;\nst.param.b64 [param0], %rd2;\ncall.uni (retval0), vprintf, (param0); }\n")).written == Names{"v"});
  CHECK(scan_ptx(function("ld.u32 %r1, [%rd1];\nst.param.b32 [func_retval0], %r1;\n")).written.empty());
  CHECK(scan_ptx(function("st.param.b64 [elsewhere], %rd1;\n")).written == Names{"v"});                      // and no call takes it
  CHECK(scan_ptx(function("{ .param .b64 param0;\nst.param.b64 [param0], %rd1;\ncall.uni (retval0), vprintf, (param0);\nld.param.u64 %rd2, [param0]; }\n")).written == Names{"v"});
}

TEST_CASE("all global variables are named, constants and literals too") {
  CHECK(scan_ptx(kernel(".visible .global .u32 v;\n.global .align 1 .b8 $str[3] = {104, 105};\n.const .u32 c = 1;", "{ .global .u32 x; }")).variables == Names{"v", "$str", "x"});
}

TEST_CASE("an address reaches a store through a loop, against the order of the text") {
  CHECK(written("mov.u64 %rd1, %rd7;\n$L__BB0_1:\nst.u32 [%rd1], 1;\nmov.u64 %rd1, %rd2;\nmov.u64 %rd2, %rd3;\nmov.u64 %rd3, v;\n@%p1 bra $L__BB0_1;") == Names{"v"});
}

TEST_CASE("what printf and assert take is not written") {
  const std::string call = "mov.u64 %rd1, w;\ncvta.global.u64 %rd2, %rd1;\n{ // callseq 0, 0\n.reg .b32 temp_param_reg;\n.param .b64 param0;\n"
                           "st.param.b64 [param0+0], %rd2;\n.param .b32 retval0;\ncall.uni (retval0),\n";
  CHECK(written(call + "vprintf,\n(\nparam0\n);\n}").empty());
  CHECK(written(call + "_Z1gPi,\n(\nparam0\n);\n}") == Names{"w"});
}

TEST_CASE("an address may lie in the thread's own memory while printf reads it, and no longer") {
  const std::string kept = "mov.u64 %SPL, __local_depot0;\ncvta.local.u64 %SP, %SPL;\nadd.u64 %rd1, %SP, 0;\nadd.u64 %rd2, %SPL, 0;\nmov.u64 %rd3, w;\ncvta.global.u64 %rd4, %rd3;\n"
                           "st.local.u64 [%rd2], %rd4;\n";
  const auto called = [](const std::string& function) {
    return "{ .param .b64 param0;\nst.param.b64 [param0+0], %rd1;\n.param .b32 retval0;\ncall.uni (retval0), " + function + ", (param0);\n}";
  };
  CHECK(written(kept + called("vprintf")).empty());
  CHECK(written(kept + called("vprintf") + "ld.local.u64 %rd5, [%rd2];\n") == Names{"w"});
  CHECK(written(kept + "ld.u64 %rd5, [%rd1];\n") == Names{"w"});
  CHECK(written(kept + "ld.local.u32 %r1, [elsewhere];\n") == Names{"w"});
  CHECK(written(kept + called("_Z1gPv")) == Names{"w"});
  CHECK(written(kept + "st.global.u64 [%rd7], %rd1;\n") == Names{"w"});
  CHECK(written(kept + "st.global.u64 [%rd7], %rd4;\n") == Names{"w"});
}

TEST_CASE("several variables of one declaration and declarations inside a function are seen") {
  CHECK(scan_ptx(kernel(".global .u32 a, b[2], c = 1;", "st.global.u32 [a], 1;\nst.global.u32 [b+4], 1;")).written == Names{"a", "b"});
  CHECK(scan_ptx(kernel("", "{ .global .u32 x; st.global.u32 [x], 1; }")).written == Names{"x"});
  CHECK(scan_ptx(kernel(".global .u32 v<4>;", "")).written == Names{"v"});
}

TEST_CASE("calls of the device's run-time are forbidden, and others must be defined") {
  const auto extern_of = [](const std::string& name) { return ".extern .func (.param .b64 r) " + name + "\n(\n.param .b64 p\n)\n;\n"; };
  CHECK(scan_ptx(kernel(extern_of("malloc"), "")).forbidden == Names{"malloc"});
  CHECK(scan_ptx(kernel(extern_of("cudaLaunchDeviceV2"), "")).forbidden == Names{"cudaLaunchDeviceV2"});
  CHECK(scan_ptx(kernel(extern_of("vprintf"), "")).forbidden.empty());
  CHECK(scan_ptx(kernel(extern_of("elsewhere"), "")).unresolved == Names{"elsewhere"});
  CHECK(scan_ptx(kernel("", "call.uni cudaGetParameterBufferV2, (param0);")).forbidden == Names{"cudaGetParameterBufferV2"});
  CHECK(scan_ptx(kernel(".func malloc(.param .b64 p)\n{\nret;\n}", "call.uni malloc, (param0);")).forbidden.empty());
}

TEST_CASE("a clock must not decide what is written") {
  const auto clocks = [](const std::string& body) { return scan_ptx(kernel("", body)).clocks; };
  const std::string read = "mov.u64 %rd1, %clock64;\n", odd = read + "and.b64 %rd2, %rd1, 1;\nsetp.eq.s64 %p1, %rd2, 1;\n";
  CHECK(clocks(read + "st.global.u64 [%rd3], %rd1;") == Names{"%clock64"});                                           // a value
  CHECK(clocks(read + "add.s64 %rd2, %rd3, %rd1;\nst.global.u32 [%rd2], 1;") == Names{"%clock64"});                   // an address
  CHECK(clocks(read + "add.s64 %rd2, %rd3, %rd1;\nld.global.u32 %r1, [%rd2];\nst.shared.u32 [%r2], %r1;") == Names{"%clock64"});
  CHECK(clocks(odd + "@%p1 st.global.u32 [%rd3], 1;") == Names{"%clock64"});                                          // whether it is stored
  CHECK(clocks(odd + "@%p1 bra $L1;\nst.global.u32 [%rd3], 1;\n$L1:") == Names{"%clock64"});
  CHECK(clocks(odd + "@!%p1 ret;\nst.global.u32 [%rd3], 1;") == Names{"%clock64"});
  CHECK(clocks(odd + "mov.u32 %r1, 0;\n@%p1 bra $L1;\nmov.u32 %r1, 1;\n$L1:\nst.global.u32 [%rd3], %r1;") == Names{"%clock64"});   // by a branch
  CHECK(clocks(odd + "@%p1 bra $L1;\nbra $L2;\n$L1:\ncall.uni f, ();\n$L2:") == Names{"%clock64"});
  CHECK(clocks("mov.u64 %rd1, %globaltimer;\nst.param.b64 [func_retval0], %rd1;") == Names{"%globaltimer"});
}

TEST_CASE("a clock may bound a wait") {
  const auto clocks = [](const std::string& body) { return scan_ptx(kernel("", body)).clocks; };
  CHECK(clocks("mov.u64 %rd1, %clock64;\nst.global.u32 [%rd3], 1;").empty());
  CHECK(clocks("mov.u64 %rd1, %clock64;\n$L1:\nmov.u64 %rd2, %clock64;\nsub.s64 %rd4, %rd2, %rd1;\nsetp.lt.s64 %p1, %rd4, 99;\n@%p1 bra $L1;\nst.global.u32 [%rd3], 1;").empty());
  // cuda::barrier polls, and sleeps the longer the longer it has waited. Another block has a register of the same name.
  const std::string poll = "{ .reg .pred p;\nmbarrier.try_wait.shared.b64 p, [%r8], %rd7;\nselp.b32 %r1, 1, 0, p; }\n";
  CHECK(clocks("mov.u64 %rd1, %globaltimer;\n$L1:\n" + poll + "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra $L3;\nmov.u64 %rd2, %globaltimer;\nsub.s64 %rd4, %rd2, %rd1;\n"
               "setp.lt.s64 %p2, %rd4, 99;\n@%p2 bra $L1;\nshr.u64 %rd5, %rd4, 2;\ncvt.u32.u64 %r2, %rd5;\nnanosleep.u32 %r2;\nbra $L1;\n$L3:\n"
               "{ .reg .pred p;\nsetp.eq.u32 p, %r9, 0;\n@p st.global.u32 [%rd3], 1; }").empty());
}

TEST_CASE("broken PTX is survived") {
  for (const char* text : {".entry k ( ) { mov.u64 %r, %clock; bra ; @%p bra x; brx.idx %r, t; @ }", ".entry k ( ) { } } %clock", ".entry k ( ) { l: l: @%clock bra l; st",
                           "", "{", "}", "}}{{", ".global", ".entry", ".func (", ".section .debug {", "\"", "/*", "mov", "call", "@", "@!", ".extern .func"}) {
    INFO(text);
    CHECK_NOTHROW(scan_ptx(text));
  }
}
