// SPDX-License-Identifier: Apache-2.0
#include "sim/printf_format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

namespace cudal1::sim {

namespace {

constexpr std::int64_t most_width = 1000, most_precision = 200;

// One conversion, as it stands between % and its letter.
struct Conversion {
  bool left = false, plus = false, space = false, alternate = false, zeros = false;
  std::int64_t width = 0, precision = -1;   // -1: not given
  int longs = 0, shorts = 0;
  char kind = '\0';
};

class Reader {
 public:
  Reader(std::string_view format, const PrintfArguments& arguments) : format_(format), arguments_(arguments) {}

  // Behind the '%'. False when the format ends first.
  bool read(Conversion& c, std::size_t& at) const {
    for (; at < format_.size(); ++at) {
      const char flag = format_[at];
      if (flag == '-') c.left = true;
      else if (flag == '+') c.plus = true;
      else if (flag == ' ') c.space = true;
      else if (flag == '#') c.alternate = true;
      else if (flag == '0') c.zeros = true;
      else break;
    }
    c.width = number(at);
    if (c.width < 0) c.left = true, c.width = -c.width;
    c.width = std::min(c.width, most_width);
    if (at < format_.size() && format_[at] == '.') {
      ++at;
      c.precision = number(at);
      c.precision = c.precision < 0 ? -1 : std::min(c.precision, most_precision);
    }
    for (; at < format_.size(); ++at) {
      const char size = format_[at];
      if (size == 'l' || size == 'j' || size == 'z' || size == 't') ++c.longs;
      else if (size == 'h') ++c.shorts;
      else break;
    }
    if (at >= format_.size()) return false;
    c.kind = format_[at];
    return true;
  }

 private:
  std::int64_t number(std::size_t& at) const {
    if (at < format_.size() && format_[at] == '*') {
      ++at;
      return static_cast<std::int32_t>(arguments_.take(4));
    }
    std::int64_t value = 0;
    for (; at < format_.size() && format_[at] >= '0' && format_[at] <= '9'; ++at) value = std::min(value * 10 + (format_[at] - '0'), std::int64_t{1} << 20);
    return value;
  }

  std::string_view format_;
  const PrintfArguments& arguments_;
};

// Sign or prefix, digits, and what fills the width.
std::string padded(const Conversion& c, const std::string& prefix, const std::string& body, bool zeros) {
  const std::size_t length = prefix.size() + body.size(), width = static_cast<std::size_t>(c.width);
  const std::string fill(width > length ? width - length : 0, zeros && !c.left ? '0' : ' ');
  if (c.left) return prefix + body + fill;
  return zeros ? prefix + fill + body : fill + prefix + body;
}

std::string sign_of(const Conversion& c, bool negative) { return negative ? "-" : c.plus ? "+" : c.space ? " " : ""; }

std::string upper(std::string text) {
  for (char& letter : text)
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  return text;
}

std::string integer(const Conversion& c, std::uint64_t raw) {
  const bool wide = c.longs > 0, is_signed = c.kind == 'd' || c.kind == 'i';
  std::string prefix;
  std::uint64_t magnitude = wide ? raw : raw & 0xffffffff;
  if (is_signed) {
    std::int64_t value = wide ? static_cast<std::int64_t>(raw) : static_cast<std::int32_t>(raw);
    if (c.shorts == 1 && !wide) value = static_cast<std::int16_t>(raw);
    if (c.shorts >= 2 && !wide) value = static_cast<std::int8_t>(raw);
    prefix = sign_of(c, value < 0);
    magnitude = value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  } else if (!wide && c.shorts > 0) {
    magnitude &= c.shorts == 1 ? 0xffff : 0xff;
  }
  std::array<char, 32> room{};
  const int base = c.kind == 'o' ? 8 : c.kind == 'x' || c.kind == 'X' || c.kind == 'p' ? 16 : 10;
  std::string digits(room.data(), std::to_chars(room.data(), room.data() + room.size(), magnitude, base).ptr);
  if (c.precision == 0 && magnitude == 0) digits.clear();
  if (c.precision > static_cast<std::int64_t>(digits.size())) digits.insert(0, static_cast<std::size_t>(c.precision) - digits.size(), '0');
  if (c.alternate && c.kind == 'o' && !digits.starts_with('0')) digits.insert(0, 1, '0');
  if (c.kind == 'p' || (c.alternate && base == 16 && magnitude != 0)) prefix += "0x";
  if (c.kind == 'X') digits = upper(digits), prefix = upper(prefix);
  return padded(c, prefix, digits, c.zeros && c.precision < 0);
}

// "#" keeps the zeros behind the point that %g drops.
void keep_zeros(std::string& body, std::int64_t wanted) {
  const std::size_t exponent = std::min(body.find('e'), body.size()), first = body.find_first_of("123456789");
  std::int64_t digits = 0;
  for (std::size_t i = first < exponent ? first : 0; i < exponent; ++i) digits += body[i] != '.';
  if (digits < wanted) body.insert(exponent, static_cast<std::size_t>(wanted - digits), '0');
}

std::string real(const Conversion& c, double value) {
  const char kind = static_cast<char>(c.kind >= 'A' && c.kind <= 'Z' ? c.kind - 'A' + 'a' : c.kind);
  std::string prefix = sign_of(c, std::signbit(value)), body;
  const bool finite = std::isfinite(value);
  const double magnitude = std::fabs(value);
  if (!finite) {
    body = std::isnan(value) ? "nan" : "inf";
  } else {
    std::array<char, 800> room{};  // 309 digits in front of the point, most_precision behind it
    const auto form = kind == 'f' ? std::chars_format::fixed : kind == 'e' ? std::chars_format::scientific : kind == 'a' ? std::chars_format::hex : std::chars_format::general;
    const auto end = kind == 'a' && c.precision < 0
                         ? std::to_chars(room.data(), room.data() + room.size(), magnitude, form)
                         : std::to_chars(room.data(), room.data() + room.size(), magnitude, form, c.precision < 0 ? 6 : static_cast<int>(c.precision));
    body.assign(room.data(), end.ptr);
    if (kind == 'a') prefix += "0x";
    const std::size_t exponent = std::min(body.find(kind == 'a' ? 'p' : 'e'), body.size());
    if (c.alternate && body.find('.') == std::string::npos) body.insert(exponent, 1, '.');
    if (c.alternate && kind == 'g') keep_zeros(body, c.precision < 0 ? 6 : std::max<std::int64_t>(1, c.precision));
  }
  if (kind != c.kind) body = upper(body), prefix = upper(prefix);
  return padded(c, prefix, body, c.zeros && finite);
}

}  // namespace

std::string printf_text(std::string_view format, const PrintfArguments& arguments) {
  const Reader reader(format, arguments);
  std::string out;
  for (std::size_t k = 0; k < format.size(); ++k) {
    if (format[k] != '%') {
      out += format[k];
      continue;
    }
    const std::size_t start = k++;
    Conversion c;
    if (!reader.read(c, k)) {
      out += format.substr(start);
      break;
    }
    switch (c.kind) {
      case '%': out += '%'; break;
      case 'd': case 'i': case 'o': case 'u': case 'x': case 'X': out += integer(c, arguments.take(c.longs > 0 ? 8 : 4)); break;
      case 'p': out += integer(Conversion{.left = c.left, .width = c.width, .longs = 1, .kind = 'p'}, arguments.take(8)); break;
      case 'c': out += padded(c, "", std::string(1, static_cast<char>(arguments.take(4))), false); break;
      case 's': {
        const std::string text = arguments.text(arguments.take(8));
        out += padded(c, "", c.precision < 0 ? text : text.substr(0, static_cast<std::size_t>(c.precision)), false);
        break;
      }
      case 'f': case 'F': case 'e': case 'E': case 'g': case 'G': case 'a': case 'A': out += real(c, std::bit_cast<double>(arguments.take(8))); break;
      default: out += format.substr(start, k + 1 - start); break;
    }
  }
  return out;
}

}  // namespace cudal1::sim
