// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// One function per command; see main.cpp. Each returns the exit code.
namespace figures {

int aa(const std::string& level, int count, const std::string& record, const std::string& only);
int slow(double percent, int count, const std::string& only);
int width();
int trace(const std::string& path);
int coverage(const std::string& path);
int latency();
int stream(int count);
int race(int count);

}  // namespace figures
