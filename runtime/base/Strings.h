//===- Strings.h - Small text helpers ---------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_BASE_STRINGS_H
#define GRAPHC_RUNTIME_BASE_STRINGS_H

#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY
#endif
#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace graphc::strings {

using fmt::format;

/// The pieces between separators, without surrounding blanks; empty pieces are dropped.
std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
/// True when `item` is one of the comma separated items of `list`.
bool listContains(std::string_view list, std::string_view item);
/// Levenshtein distance.
size_t editDistance(std::string_view a, std::string_view b);
/// A JSON string literal, quotes included. Bytes that are not UTF-8 are written as U+FFFD.
std::string jsonQuote(std::string_view text);
/// "1.5 GiB"; exact below 1 KiB.
std::string bytesText(int64_t bytes);
/// "32 MiB", "4096", "1.5g": a byte count; false when it is none or does not fit.
bool parseBytes(std::string_view text, int64_t &bytes);

} // namespace graphc::strings

#endif // GRAPHC_RUNTIME_BASE_STRINGS_H
