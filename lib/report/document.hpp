// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/run.hpp"

#include <string>
#include <variant>
#include <vector>

namespace cudal1::report {

// A report's content without its look: built once from a run, drawn by each format.

struct Heading {
  int level = 2;  // 1: the title
  std::string text;
};
struct Paragraph {
  enum class Kind { plain, verdict, warning };
  std::string text;
  Kind kind = Kind::plain;
};
struct List {
  std::vector<std::string> items;
};
struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // as wide as columns
  std::vector<bool> numeric;                   // one per column: aligned to the right
};
struct Code {
  std::string language;  // "cuda", "diff", "sh", "" for plain
  std::string text;
};
// Text written by a model: shown as a quotation, never as markup of ours.
struct Quotation {
  std::string text;
};
struct ScoreChart {
  struct Point {
    int round = 0;
    double score = 0, low = 0, high = 0;  // with the interval of the speed-up
    std::string id;
    bool right = false;
    std::size_t model = 0;          // index into models
  };
  std::vector<Point> points;
  std::vector<double> best_so_far;  // by round, from 1
  std::vector<std::string> models;
};
// What bounds a kernel: its arithmetic per byte of device memory, and the arithmetic that it does in a second, below both roofs.
struct Roofline {
  struct Point {
    double operations_per_byte = 0, operations_per_second = 0;
    std::string id;                 // "the reference" is none of the variants
  };
  std::vector<Point> points;
  double bytes_per_second = 0, operations_per_second = 0;
  std::string arithmetic;           // "FP32"
};

using Block = std::variant<Heading, Paragraph, List, Table, Code, Quotation, ScoreChart, Roofline>;
using Document = std::vector<Block>;

enum class Detail {
  brief,  // what a terminal shows at the end of a run
  full,
};
Document document(const store::Run& run, Detail detail);

}  // namespace cudal1::report
