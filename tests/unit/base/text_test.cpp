// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include "base/clock.hpp"
#include "base/diagnostic.hpp"
#include "base/digest.hpp"
#include "base/display.hpp"
#include "catch.hpp"

#include <string>
#include <vector>

using namespace cudal1::base;

TEST_CASE("the width of a text counts characters, not bytes, and no character is cut") {
  CHECK(display_width("") == 0);
  CHECK(display_width("4.2 µs …") == 8);
  CHECK(fitted("µs…", 2) == "µs");
  CHECK(fitted("µs…", 0).empty());
  CHECK(fitted("µs…", 9) == "µs…");
}

TEST_CASE("text is trimmed and split") {
  CHECK(trim("  a b\t\r\n") == "a b");
  CHECK(trim(" \n ").empty());
  CHECK(split_lines("a\r\n\nb\n") == std::vector<std::string>{"a", "", "b"});
  CHECK(split_lines("").empty());
  CHECK(split_lines("\n") == std::vector<std::string>{""});
}

TEST_CASE("a misspelling finds its word and a stranger none") {
  const std::vector<std::string> words = {"input", "output", "launch", "scratch"};
  CHECK(nearest("luanch", words) == "launch");
  CHECK(nearest("scrach", words) == "scratch");
  CHECK(nearest("ouput", words) == "output");
  CHECK_FALSE(nearest("banana", words));
  CHECK_FALSE(nearest("x", {"y"}));
  CHECK_FALSE(nearest("", words));
}

TEST_CASE("printable text keeps letters and loses what moves a terminal or hides text") {
  CHECK(printable("a\x1b[31mb\r\n\tc\x7f") == "a[31mb\n\tc");
  CHECK(printable("gr\xc3\xbc\xc3\x9f \xe2\x86\x92") == "gr\xc3\xbc\xc3\x9f \xe2\x86\x92");
  CHECK(printable("a\xc2\x9b" "b") == "ab");               // C1 control sequence introducer
  CHECK(printable("a\xe2\x80\xae" "b") == "ab");           // right-to-left override
  CHECK(printable("a\xff\xc3" "b\xe2\x82") == "ab");       // not UTF-8
  CHECK(printable("\xf0\x9f\x98\x80") == "\xf0\x9f\x98\x80");
}

TEST_CASE("a diagnostic is rendered with its line and a caret") {
  Diagnostic diagnostic;
  diagnostic.file = "k.cu";
  diagnostic.line = 3;
  diagnostic.column = 4;
  diagnostic.message = "unknown directive \"luanch\"";
  diagnostic.line_text = "//@\tluanch";
  diagnostic.hint = "did you mean \"launch\"?";
  diagnostic.column = 5;
  CHECK(render(diagnostic) == "k.cu:3:5: error: unknown directive \"luanch\"\n  //@\tluanch\n     \t^\n  did you mean \"launch\"?\n");
  diagnostic = {};
  diagnostic.message = "nothing to launch";
  CHECK(render(diagnostic) == "error: nothing to launch\n");
}

TEST_CASE("a caret stands right behind letters of several bytes") {
  Diagnostic diagnostic;
  diagnostic.line = 1;
  diagnostic.column = 6;
  diagnostic.severity = Diagnostic::Severity::warning;
  diagnostic.message = "m";
  diagnostic.line_text = "\xc3\xbc = x";
  CHECK(render(diagnostic) == "line 1:6: warning: m\n  \xc3\xbc = x\n      ^\n");
}

TEST_CASE("a line of a source is found by number") {
  CHECK(line_of("a\nb\r\nc", 2) == "b");
  CHECK(line_of("a\nb\nc", 3) == "c");
  CHECK(line_of("a\nb\nc", 4).empty());
  CHECK(line_of("a", 0).empty());
}

TEST_CASE("SHA-256 agrees with FIPS 180-4") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("a time stamp is UTC in the form of RFC 3339") {
  const std::string text = timestamp();
  REQUIRE(text.size() == 20);
  CHECK(text[4] == '-');
  CHECK(text[10] == 'T');
  CHECK(text.back() == 'Z');
}
