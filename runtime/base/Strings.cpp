//===- Strings.cpp - Small text helpers -------------------------------------------------------===//
#include "runtime/base/Strings.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace graphc::strings {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    size_t at = text.find(separator);
    if (std::string_view piece = trim(text.substr(0, at)); !piece.empty())
      pieces.push_back(piece);
    if (at == std::string_view::npos)
      break;
    text.remove_prefix(at + 1);
  }
  return pieces;
}

bool listContains(std::string_view list, std::string_view item) {
  auto pieces = split(list, ',');
  return std::find(pieces.begin(), pieces.end(), item) != pieces.end();
}

size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

namespace {

// Bytes of the valid UTF-8 sequence at the start of `text`, 0 when there is none.
size_t sequenceLength(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(0);
  size_t length = lead < 0x80             ? 1
                  : (lead & 0xe0) == 0xc0 ? 2
                  : (lead & 0xf0) == 0xe0 ? 3
                  : (lead & 0xf8) == 0xf0 ? 4
                                          : 0;
  if (length == 0 || length > text.size())
    return 0;
  uint32_t point = length == 1 ? lead : lead & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
    point = point << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kSmallest[5] = {0, 0, 0x80, 0x800, 0x10000};
  bool surrogate = point >= 0xd800 && point < 0xe000;
  return point < kSmallest[length] || point > 0x10ffff || surrogate ? 0 : length;
}

} // namespace

std::string jsonQuote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    size_t length = sequenceLength(text);
    unsigned char c = static_cast<unsigned char>(text[0]);
    if (length == 0)
      out += "\\ufffd";
    else if (c == '"' || c == '\\')
      out += {'\\', static_cast<char>(c)};
    else if (c == '\n')
      out += "\\n";
    else if (c < 0x20 || c == 0x7f)
      out += format("\\u{:04x}", c);
    else
      out += text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out + "\"";
}

std::string bytesText(int64_t bytes) {
  if (bytes < 1024)
    return format("{} bytes", bytes);
  constexpr const char *kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  int unit = 0;
  for (; value >= 1024 && unit < 5; ++unit)
    value /= 1024;
  return format("{:.1f} {}", value, kUnits[unit]);
}

bool parseBytes(std::string_view text, int64_t &bytes) {
  text = trim(text);
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !(value >= 0))
    return false;
  std::string unit(trim(text.substr(static_cast<size_t>(end - text.data()))));
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  constexpr std::string_view kUnits[] = {"", "k", "m", "g", "t"};
  for (int i = 0; i < 5; ++i) {
    std::string letter(kUnits[i]);
    bool plain = i == 0 && (unit == "b" || unit == "bytes");
    if (unit != letter && !plain && (i == 0 || (unit != letter + "b" && unit != letter + "ib")))
      continue;
    value = std::ldexp(value, 10 * i);
    if (value >= 9223372036854775807.0)
      return false;
    bytes = static_cast<int64_t>(value);
    return true;
  }
  return false;
}

} // namespace graphc::strings
