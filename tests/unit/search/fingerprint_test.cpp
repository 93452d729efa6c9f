// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "search/fingerprint.hpp"

using cudal1::search::fingerprint;

TEST_CASE("white space, comments and the of line do not make another variant") {
  const auto plain = fingerprint("//@ launch k<<<1, 32>>>(A)\n__global__ void k(float* A) { A[0] = 1; }\n");
  CHECK(fingerprint("//@ of x.cu sha256:ab\n//@   launch  k<<<1,32>>>(A)   // one block\n\n// A comment.\n__global__ void "
                    "k( float *A )\n{\n  A[0]=1; /* set */\n}\n") == plain);
}

TEST_CASE("the order of a tunable's choices does not make another variant, the choices do") {
  const auto plain = fingerprint("//@ tune B = 32 | 64 | 128 if B < 100 || A > 2\nint b = B;");
  CHECK(fingerprint("//@ tune  B=128 | 32|64   if B < 100 || A > 2  // blocks\nint b = B;") == plain);
  CHECK(fingerprint("//@ tune B = 32 | 64 if B < 100 || A > 2\nint b = B;") != plain);
  CHECK(fingerprint("//@ tune B = 32 | 64 | 128\nint b = B;") != plain);
  CHECK(fingerprint("//@ tune B = 32 | 64 | 128 if B < 100 || A > 3\nint b = B;") != plain);
  CHECK(fingerprint("//@ tune B =").size() == 64);
  CHECK(fingerprint("//@ tune").size() == 64);
}

TEST_CASE("what changes the code makes another variant") {
  const auto plain = fingerprint("//@ launch k<<<1, 32>>>(A)\n__global__ void k(float* A) { A[0] = 1; }\n");
  CHECK(fingerprint("//@ launch k<<<1, 64>>>(A)\n__global__ void k(float* A) { A[0] = 1; }\n") != plain);
  CHECK(fingerprint("//@ launch k<<<1, 32>>>(A)\n__global__ void k(float* A) { A[0] = 2; }\n") != plain);
}

TEST_CASE("spaces that separate are kept") {
  CHECK(fingerprint("int a = b - -c;") != fingerprint("int a = b --c;"));
  CHECK(fingerprint("unsigned x;") != fingerprint("unsignedx;"));
  CHECK(fingerprint("s = \"a  b\";") != fingerprint("s = \"a b\";"));
  CHECK(fingerprint("#define A (x)\nint y;") != fingerprint("#define A(x)\nint y;"));
}

TEST_CASE("the end of a preprocessor line is kept") {
  CHECK(fingerprint("#define A 1\nint b;") != fingerprint("#define A 1 int b;"));
  CHECK(fingerprint("#define A 1\nint b;") == fingerprint("#define   A   1\n\n\nint b;"));
}

TEST_CASE("unfinished comments and literals end with the text") {
  CHECK(fingerprint("/* never closed").size() == 64);
  CHECK(fingerprint("\"never closed").size() == 64);
  CHECK(fingerprint("\"\\").size() == 64);
  CHECK(fingerprint("").size() == 64);
}
