// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::compile {

// More kernels than that are a whole network's: several threads compile them, and for longer.
constexpr std::size_t few_kernels = 24;

// What parent and child say to each other, in this order: Setup, Ready, then Job and Product for each compile.

struct Setup {
  std::string library, builtins;           // NVRTC
  std::vector<std::string> readable;       // folders that stay readable in the sandbox
  bool sandbox = true;
};

struct Ready {
  std::string fault;                       // empty: ready; otherwise "nvrtc" or "sandbox"
  std::string message;                     // of the fault
  int major = 0, minor = 0;
  std::vector<int> architectures;          // 75, 80 … 121
};

struct Job {
  std::string source, name;
  std::vector<std::string> kernels;        // name expressions
  std::vector<std::string> options;
  bool cubin = true;
};

struct Product {
  bool compiled = false, out_of_memory = false;
  std::string status;                      // NVRTC's own word for the outcome
  std::string log, ptx, cubin;
  std::vector<std::string> lowered;        // one for each of Job::kernels; empty where there is none
  double seconds = 0;
};

std::string encode(const Setup& message);
std::string encode(const Ready& message);
std::string encode(const Job& message);
std::string encode(const Product& message);

// Throw base::Error(internal) when the bytes are no such message.
Setup decode_setup(std::string_view bytes);
Ready decode_ready(std::string_view bytes);
Job decode_job(std::string_view bytes);
Product decode_product(std::string_view bytes);

}  // namespace cudal1::compile
