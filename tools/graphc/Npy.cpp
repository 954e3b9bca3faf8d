//===- Npy.cpp - Arrays in NumPy's file format ------------------------------------------------===//
#include "tools/graphc/Npy.h"

#include "runtime/base/Strings.h"

#include <cstring>
#include <optional>
#include <string_view>

namespace graphc::cli {
namespace {

constexpr uint8_t kMagic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

constexpr std::string_view kCodes[kDTypeCount] = {
    "|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4",
    "<u8", "<f4", "<f8", "<f2", "<V2", "<c8", "<c16"}; // "<V2": ml_dtypes writes bfloat16 so

/// Reads the Python dict literal of a header: strings, True, False and tuples of integers.
class HeaderReader {
public:
  explicit HeaderReader(std::string_view text) : rest(text) {}

  bool take(char c) {
    skipBlanks();
    if (rest.empty() || rest[0] != c)
      return false;
    rest.remove_prefix(1);
    return true;
  }
  std::optional<std::string_view> quoted() {
    char quote = take('\'') ? '\'' : take('"') ? '"' : 0;
    size_t end = quote ? rest.find(quote) : std::string_view::npos;
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string_view text = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return text;
  }
  std::optional<bool> boolean() {
    skipBlanks();
    for (bool value : {false, true})
      if (std::string_view word = value ? "True" : "False"; rest.starts_with(word)) {
        rest.remove_prefix(word.size());
        return value;
      }
    return std::nullopt;
  }
  std::optional<int64_t> integer() {
    skipBlanks();
    int64_t value = 0;
    size_t digits = 0;
    while (digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9') {
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, rest[digits] - '0', &value))
        return std::nullopt;
      ++digits;
    }
    if (digits == 0)
      return std::nullopt;
    rest.remove_prefix(digits);
    take('L'); // written by Python 2
    return value;
  }
  std::optional<std::vector<int64_t>> tuple() {
    std::vector<int64_t> values;
    if (!take('('))
      return std::nullopt;
    while (!take(')')) {
      auto value = integer();
      if (!value || values.size() == static_cast<size_t>(kMaxRank))
        return std::nullopt;
      values.push_back(*value);
      if (!take(',')) {
        if (!take(')'))
          return std::nullopt;
        break;
      }
    }
    return values;
  }

private:
  void skipBlanks() {
    while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n'))
      rest.remove_prefix(1);
  }
  std::string_view rest;
};

struct Fields {
  std::optional<std::string_view> descr;
  std::optional<bool> fortran;
  std::optional<std::vector<int64_t>> shape;
};

bool readFields(std::string_view text, Fields &fields) {
  HeaderReader reader(text);
  if (!reader.take('{'))
    return false;
  while (!reader.take('}')) {
    auto key = reader.quoted();
    if (!key || !reader.take(':'))
      return false;
    if (*key == "descr") {
      // A list here means a structured type.
      fields.descr = reader.quoted();
      if (!fields.descr)
        return false;
    } else if (*key == "fortran_order") {
      if (!(fields.fortran = reader.boolean()))
        return false;
    } else if (*key == "shape") {
      if (!(fields.shape = reader.tuple()))
        return false;
    } else {
      return false;
    }
    if (!reader.take(',')) {
      if (!reader.take('}'))
        return false;
      break;
    }
  }
  return fields.descr && fields.fortran && fields.shape;
}

} // namespace

Result<NpyHeader> parseNpy(std::span<const uint8_t> file, const std::string &name) {
  auto bad = [&](std::string_view what) {
    return Status(ErrorCode::InvalidArgument, strings::format("{}: error: {}", name, what));
  };
  constexpr size_t kPrefix = sizeof kMagic + 2;
  if (file.size() < kPrefix + 2 || std::memcmp(file.data(), kMagic, sizeof kMagic) != 0)
    return bad("not a .npy file");
  unsigned version = file[6];
  if (version < 1 || version > 3)
    return bad(strings::format("unknown .npy format version {}", version));
  size_t lengthBytes = version == 1 ? 2 : 4;
  size_t headerBytes = 0;
  if (file.size() < kPrefix + lengthBytes)
    return bad("the .npy header is incomplete");
  for (size_t i = 0; i < lengthBytes; ++i)
    headerBytes |= static_cast<size_t>(file[kPrefix + i]) << (8 * i);
  NpyHeader header;
  header.dataOffset = kPrefix + lengthBytes;
  if (headerBytes > file.size() - header.dataOffset)
    return bad("the .npy header is incomplete");
  std::string_view text(reinterpret_cast<const char *>(file.data()) + header.dataOffset,
                        headerBytes);
  header.dataOffset += headerBytes;
  Fields fields;
  if (!readFields(text, fields))
    return bad("the .npy header is not one of a plain array");
  bool known = false;
  for (int i = 0; i < kDTypeCount; ++i)
    if (kCodes[i] == *fields.descr) {
      header.dtype = static_cast<DType>(i);
      known = true;
    }
  if (!known)
    return Status(ErrorCode::DType, strings::format("{}: error: elements of type '{}' are not "
                                                    "supported; use a little-endian bool, integer, "
                                                    "float or complex array",
                                                    name, *fields.descr));
  header.shape = Shape(std::span<const int64_t>(*fields.shape));
  if (*fields.fortran && header.shape.rank() > 1)
    return bad("the array is in Fortran order; save numpy.ascontiguousarray(x) instead");
  auto bytes = byteCount(header.shape, header.dtype);
  if (!bytes || static_cast<uint64_t>(*bytes) > file.size() - header.dataOffset)
    return bad(
        strings::format("shape {} needs more data than the file has", shapeText(header.shape)));
  return header;
}

std::vector<uint8_t> npyHeader(DType dtype, std::span<const int64_t> shape) {
  std::string text = strings::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                     kCodes[static_cast<int>(dtype)], shapeText(shape));
  constexpr size_t kAlignment = 64;
  size_t prefix = sizeof kMagic + 2 + 2;
  size_t total = (prefix + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  text.resize(total - prefix - 1, ' ');
  text += '\n';
  std::vector<uint8_t> bytes(kMagic, kMagic + sizeof kMagic);
  bytes.insert(bytes.end(), {1, 0, static_cast<uint8_t>(text.size() & 0xff),
                             static_cast<uint8_t>(text.size() >> 8)});
  bytes.insert(bytes.end(), text.begin(), text.end());
  return bytes;
}

} // namespace graphc::cli
