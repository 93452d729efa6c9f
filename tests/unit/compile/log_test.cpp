// SPDX-License-Identifier: Apache-2.0
#include "compile/log.hpp"

#include "compile/include_scan.hpp"
#include "catch.hpp"

#include <string>

using namespace cudal1;
using namespace cudal1::compile;

namespace {

const SourceNames names{"k.cu", "folder/k.cu", "tunables of k.cu"};
const std::string source = "line one\n\tint x = y;\nline three\n";

base::Diagnostics parse(const std::string& log) { return parse_diagnostics(log, source, names, {"/usr/local/cuda/include"}); }

}  // namespace

TEST_CASE("an error is told with the source's own line and the caret's column") {
  const auto found = parse("k.cu(2): error: identifier \"y\" is undefined\n  \tint x = y;\n  \t        ^\n\n1 error detected in the compilation of \"k.cu\".\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].file == "folder/k.cu");
  CHECK(found[0].line == 2);
  CHECK(found[0].column == 10);
  CHECK(found[0].line_text == "\tint x = y;");
  CHECK(found[0].message == "identifier \"y\" is undefined");
}

TEST_CASE("errors come before warnings, and repeated ones once") {
  const auto found = parse("k.cu(1): warning #177-D: variable \"u\" was declared but never referenced\n\nk.cu(3): error: bad\n\nk.cu(3): error: bad\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0].message == "bad");
  CHECK(found[1].severity == base::Diagnostic::Severity::warning);
  CHECK(found[1].message == "variable \"u\" was declared but never referenced");
}

TEST_CASE("text of a file that is not part of the compile is not repeated") {
  const auto found = parse("/etc/shadow(1): error: identifier \"root_hash\" is undefined\n  root_hash:x\n  ^\n\n"
                           "/usr/local/cuda/include/mma.h(9): error: needs sm_70\n  x\n  ^\n");
  const std::string text = base::render(found);
  CHECK(text.find("root_hash") == std::string::npos);
  CHECK(text.find("/etc/shadow:1: error: an error in a file that is not part of this compile") != std::string::npos);
  CHECK(text.find("needs sm_70") != std::string::npos);
}

TEST_CASE("an unknown kernel name is told as the launch's") {
  const auto found = parse("__nv_name_map(2): error: identifier \"m\" is undefined\n  #pragma nv_mangled_name m<3>\n                          ^\n\n"
                           "__nv_name_map(2): error: Error in parsing name expression for lowered name lookup. Input name expression was: \" m<3>\"\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].file.empty());
  CHECK(found[0].message.find("\"m<3>\"") != std::string::npos);
}

TEST_CASE("a launch that can mean two functions says how to tell them apart") {
  const auto found = parse("__nv_name_map(2): error: cannot determine which instance of overloaded function \"k\" is intended\n"
                           "  #pragma nv_mangled_name k\n                          ^\n\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].message == "the launch of \"k\" can mean more than one function: a kernel and another function are both called k");
  CHECK(found[0].hint.find("namespace detail") != std::string::npos);
}

TEST_CASE("the assembler's errors are told, its information is not") {
  const auto found = parse("ptxas info    : 0 bytes gmem\nptxas application ptx input, line 53; error   : Not a name of any known instruction: 'bogus'\n"
                           "ptxas fatal   : Ptx assembly aborted due to errors\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].message == "ptxas: Not a name of any known instruction: 'bogus'");
}

TEST_CASE("a flood is cut") {
  std::string log;
  for (int i = 0; i < 5000; ++i) log += "k.cu(" + std::to_string(i) + "): error: number " + std::to_string(i) + "\n";
  CHECK(parse(log).size() == 20);
}

TEST_CASE("control characters do not get through") {
  CHECK(parse("k.cu(1): error: bad \x1b[31mred\n")[0].message == "bad [31mred");
}

TEST_CASE("resource facts belong to their entry") {
  const auto facts = parse_resources(
      "ptxas info    : 44 bytes gmem, 16 bytes cmem[3]\n"
      "ptxas info    : Compiling entry function '_Z1kILi4EEvPfi' for 'sm_90a'\n"
      "ptxas info    : Function properties for _Z1kILi4EEvPfi\n"
      "ptxas         .     8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
      "ptxas info    : Used 24 registers, used 1 barriers, 8 bytes cumulative stack size, 512 bytes smem, 360 bytes cmem[0], 4 bytes cmem[2]\n"
      "ptxas info    : Compile time = 9.096 ms\n"
      "ptxas info    : Function properties for helper\n"
      "ptxas         .     800 bytes stack frame, 1 bytes spill stores, 2 bytes spill loads\n"
      "ptxas info    : Compiling entry function 'plain' for 'sm_90a'\n"
      "ptxas info    : Function properties for plain\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers, used 0 barriers\n");
  REQUIRE(facts.size() == 2);
  const outcome::ResourceFacts& k = facts.at("_Z1kILi4EEvPfi");
  CHECK(k.registers == 24);
  CHECK(k.shared_bytes == 512);
  CHECK(k.local_bytes == 8);
  CHECK(k.spill_store_bytes == 12);
  CHECK(k.spill_load_bytes == 16);
  CHECK(k.constant_bytes == 364);
  CHECK(facts.at("plain").registers == 8);
}

TEST_CASE("includes of stand-ins and angle names pass, includes of files do not") {
  CHECK_FALSE(find_bad_include("#include <cuda_fp16.h>\n#include \"stdint.h\"\n#define include 3\n# pragma once\n", "k.cu", {}));
  CHECK_FALSE(find_bad_include("// an #included word\n#include_me\n", "k.cu", {}));
  const auto bad = find_bad_include("int x;\n  #\tinclude /* */ \"/etc/passwd\"\n", "k.cu", {});
  REQUIRE(bad);
  CHECK(bad->line == 2);
  CHECK(bad->message.find("/etc/passwd") != std::string::npos);
  CHECK(find_bad_include("#include \"missing.h\"", "k.cu", {}));
  CHECK(find_bad_include("#include NAME\n", "k.cu", {}));
  CHECK(find_bad_include("#include", "k.cu", {}));
  CHECK(find_bad_include("#include <../x.h>", "k.cu", {}));
}

TEST_CASE("a remark that wgmma is serialised becomes a warning and a fact of its kernel") {
  const std::string log =
      "ptxas info    : (C7517) warpgroup.wait is injected in around line 422 by compiler to allow use of registers defined by GMMA in function '_Z3badPf'\n"
      "ptxas info    : (C7514) Potential Performance Loss: wgmma.mma_async instructions are serialized due to non wgmma instructions reading accumulator "
      "registers of  a wgmma between start and end of the pipeline stage in the function '_Z3badPf'\n"
      "ptxas info    : 0 bytes gmem\nptxas info    : Compiling entry function '_Z3badPf' for 'sm_90a'\nptxas info    : Function properties for _Z3badPf\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\nptxas info    : Used 34 registers, used 0 barriers\n"
      "ptxas info    : Compiling entry function '_Z4goodPf' for 'sm_90a'\nptxas info    : Function properties for _Z4goodPf\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\nptxas info    : Used 30 registers, used 0 barriers\n";
  const auto found = parse(log);
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == base::Diagnostic::Severity::warning);
  CHECK(found[0].message.starts_with("ptxas: Potential Performance Loss: wgmma.mma_async instructions are serialized due to non wgmma instructions"));
  const auto resources = parse_resources(log);
  CHECK(resources.at("_Z3badPf").serialized_wgmma ==
        "non wgmma instructions reading accumulator registers of a wgmma between start and end of the pipeline stage");
  CHECK(resources.at("_Z3badPf").registers == 34);
  CHECK(resources.at("_Z4goodPf").serialized_wgmma.empty());
}
