//===- Compact.cpp - What a mask chooses: nonzero, compress, countTrue ------------------------===//
//
// A mask is read twice: each chunk counts its true elements, the running counts say where the
// results of each chunk begin, and every chunk writes its own.
//
//===------------------------------------------------------------------------------------------===//
#include "runtime/base/NarrowFloat.h"
#include "runtime/base/Strings.h"
#include "runtime/library/MaskLoops.h"
#include "runtime/library/Parallel.h"
#include "runtime/library/Routines.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <vector>

namespace graphc::rt::library {
namespace {

constexpr int64_t kChunk = int64_t{1} << 16;

/// Where the results of each chunk begin, and the count of all at the end.
std::vector<int64_t> startsOf(const uint8_t *mask, int64_t size) {
  int64_t chunks = (size + kChunk - 1) / kChunk;
  std::vector<int64_t> starts(static_cast<size_t>(chunks) + 1);
  parallelFor(chunks, std::max<int64_t>(1, chunks / 16), [&](int64_t first, int64_t last) {
    for (int64_t c = first; c < last; ++c)
      starts[static_cast<size_t>(c) + 1] =
          maskLoops().count(mask + c * kChunk, std::min(size - c * kChunk, kChunk));
  });
  for (size_t c = 1; c < starts.size(); ++c)
    starts[c] += starts[c - 1];
  return starts;
}

/// Calls `write(begin, end, start, count)` for the chunks of a mask. Of a mask whose true elements
/// were counted, as many are `wanted`. Their number.
template <typename Write>
Result<int64_t> eachChunk(const Operand &mask, std::optional<int64_t> wanted, std::string_view name,
                          const Write &write) {
  const auto *bytes = static_cast<const uint8_t *>(mask.data);
  int64_t size = mask.shape[0];
  std::vector<int64_t> starts = startsOf(bytes, size);
  if (wanted && starts.back() != *wanted)
    return Status(ErrorCode::InvalidArgument,
                  strings::format("[{}] a mask with {} true elements, and room for {}", name,
                                  starts.back(), *wanted));
  auto chunks = static_cast<int64_t>(starts.size()) - 1;
  parallelFor(chunks, std::max<int64_t>(1, chunks / 16), [&](int64_t first, int64_t last) {
    for (int64_t c = first; c < last; ++c) {
      int64_t start = starts[static_cast<size_t>(c)];
      write(c * kChunk, std::min(size, (c + 1) * kChunk), start,
            starts[static_cast<size_t>(c) + 1] - start);
    }
  });
  return starts.back();
}

Result<int64_t> compressElements(const Call &call, int64_t itemBytes,
                                 std::optional<int64_t> wanted) {
  const Operand &mask = call.operands[1];
  const char *x = static_cast<const char *>(call.operands[0].data);
  char *out = static_cast<char *>(call.result.data);
  const auto *bytes = static_cast<const uint8_t *>(mask.data);
  auto loop = maskLoops().compress[loopOf(itemBytes)];
  return eachChunk(
      mask, wanted, "compress", [&](int64_t begin, int64_t end, int64_t start, int64_t count) {
        loop(bytes + begin, end - begin, count, x + begin * itemBytes, out + start * itemBytes);
      });
}

template <size_t N>
void copyEnds(char *to, const char *from, size_t bytes) {
  std::array<char, N> first, last;
  std::memcpy(first.data(), from, N);
  std::memcpy(last.data(), from + bytes - N, N);
  std::memcpy(to, first.data(), N);
  std::memcpy(to + bytes - N, last.data(), N);
}

/// As memcpy, for rows of one size after another, which a call for each would take longer than.
void copyRow(char *to, const char *from, size_t bytes) {
  constexpr size_t kStep = 32, kLong = 512;
  if (bytes > kLong) {
    std::memcpy(to, from, bytes);
  } else if (bytes >= kStep) {
    for (size_t at = 0; at + kStep < bytes; at += kStep)
      std::memcpy(to + at, from + at, kStep);
    std::memcpy(to + bytes - kStep, from + bytes - kStep, kStep);
  } else if (bytes >= 16) {
    copyEnds<16>(to, from, bytes);
  } else if (bytes >= 8) {
    copyEnds<8>(to, from, bytes);
  } else if (bytes >= 4) {
    copyEnds<4>(to, from, bytes);
  } else {
    std::copy_n(from, bytes, to);
  }
}

/// Some rows of a table and room for those of them that a mask chooses, `count`.
struct ChosenRows {
  const uint8_t *mask;
  int64_t size, count, rowBytes;
  const char *x;
  char *out;
};

/// Rows of up to N bytes, written as N: those that follow are written over what was too much. All
/// are, chosen or not, and the next one goes where one that was not chosen went: there is no branch
/// to guess.
template <size_t N>
void copyDense(const ChosenRows &rows) {
  constexpr auto kWritten = static_cast<int64_t>(N);
  const int64_t each = rows.rowBytes, end = rows.count * each;
  const uint8_t *mask = rows.mask;
  int64_t from = 0, to = 0; // bytes
  for (const int64_t last = rows.size * each - kWritten; from <= last && to <= end - kWritten;
       from += each, ++mask) {
    std::memcpy(rows.out + to, rows.x + from, N);
    to += each & -static_cast<int64_t>(*mask != 0);
  }
  for (; to < end; from += each, ++mask) {
    if (*mask) {
      copyRow(rows.out + to, rows.x + from, static_cast<size_t>(each));
      to += each;
    }
  }
}

/// Rows are found some at a time: whether a row is chosen nobody can guess, and what is read next
/// is asked for. Those of up to N bytes are written as above.
template <size_t N>
void copyFound(const ChosenRows &rows) {
  constexpr int64_t kFound = 1024, kAhead = 16;
  constexpr auto kWritten = static_cast<int64_t>(N);
  const MaskLoops &loops = maskLoops();
  const int64_t each = rows.rowBytes;
  const int64_t lastFrom = rows.size * each - kWritten, lastTo = rows.count * each - kWritten;
  int64_t to = 0; // bytes
  std::array<int64_t, kFound> places;
  for (int64_t begin = 0; begin < rows.size; begin += kFound) {
    int64_t size = std::min(kFound, rows.size - begin);
    int64_t count = loops.count(rows.mask + begin, size);
    loops.places(rows.mask + begin, size, count, begin, places.data());
    for (int64_t i = 0; i < count; ++i, to += each) {
      int64_t ahead = places[static_cast<size_t>(std::min(i + kAhead, count - 1))];
      __builtin_prefetch(rows.x + ahead * each);
      const int64_t from = places[static_cast<size_t>(i)] * each;
      if (N > 0 && from <= lastFrom && to <= lastTo)
        std::memcpy(rows.out + to, rows.x + from, N);
      else
        copyRow(rows.out + to, rows.x + from, static_cast<size_t>(each));
    }
  }
}

template <size_t N>
void copyChosen(const ChosenRows &rows) {
  if (rows.count > rows.size / 3)
    copyDense<N>(rows);
  else
    copyFound<N>(rows);
}

Result<int64_t> compressRows(const Call &call, int64_t rowBytes, std::optional<int64_t> wanted) {
  const Operand &mask = call.operands[1];
  const char *x = static_cast<const char *>(call.operands[0].data);
  char *out = static_cast<char *>(call.result.data);
  const auto *bytes = static_cast<const uint8_t *>(mask.data);
  auto copy = rowBytes <= 4    ? copyChosen<4>
              : rowBytes <= 8  ? copyChosen<8>
              : rowBytes <= 16 ? copyChosen<16>
              : rowBytes <= 32 ? copyChosen<32>
              : rowBytes <= 64 ? copyChosen<64>
                               : copyFound<0>;
  return eachChunk(mask, wanted, "compress",
                   [&](int64_t begin, int64_t end, int64_t start, int64_t count) {
                     copy({bytes + begin, end - begin, count, rowBytes, x + begin * rowBytes,
                           out + start * rowBytes});
                   });
}

Result<int64_t> compressAny(const Call &call, std::optional<int64_t> wanted) {
  int64_t rowBytes = call.operands[0].shape[1] * itemSize(call.operands[0].dtype);
  bool isElement = rowBytes > 0 && rowBytes <= 8 && std::has_single_bit(uint64_t(rowBytes));
  return isElement ? compressElements(call, rowBytes, wanted)
                   : compressRows(call, rowBytes, wanted);
}

Result<int64_t> positions(const Call &call, std::optional<int64_t> wanted) {
  const Operand &mask = call.operands[0];
  auto *out = static_cast<int64_t *>(call.result.data);
  const auto *bytes = static_cast<const uint8_t *>(mask.data);
  return eachChunk(mask, wanted, "nonzero",
                   [&](int64_t begin, int64_t end, int64_t start, int64_t count) {
                     maskLoops().places(bytes + begin, end - begin, count, begin, out + start);
                   });
}

/// Rows from `first` on of a table of `rows` get the bytes of one.
void fillRows(char *out, int64_t first, int64_t rows, int64_t rowBytes, const char *row) {
  constexpr int64_t kTogether = 1 << 12;
  int64_t parts = (rows - first + kTogether - 1) / kTogether;
  parallelFor(parts, std::max<int64_t>(1, parts / 16), [&](int64_t begin, int64_t end) {
    int64_t from = first + begin * kTogether,
            count = std::min(rows, first + end * kTogether) - from;
    char *to = out + from * rowBytes;
    std::memmove(to, row, static_cast<size_t>(rowBytes));
    for (int64_t done = 1; done < count; done *= 2)
      std::memcpy(to + done * rowBytes, to,
                  static_cast<size_t>(std::min(done, count - done) * rowBytes));
  });
}

template <typename T>
void putOne(char *to, T one) {
  std::memcpy(to, &one, sizeof one);
}

/// A row of ones.
std::vector<char> onesRow(DType dtype, int64_t elements) {
  auto itemBytes = static_cast<size_t>(itemSize(dtype));
  std::vector<char> row(static_cast<size_t>(elements) * itemBytes);
  for (char *to = row.data(); to != row.data() + row.size(); to += itemBytes) {
    if (dtype == DType::Float32 || dtype == DType::Complex64)
      putOne(to, 1.0f);
    else if (dtype == DType::Float64 || dtype == DType::Complex128)
      putOne(to, 1.0);
    else if (isFloat(dtype))
      putOne(to, narrowBits(1, dtype));
    else
      *to = 1; // of little-endian integers
  }
  return row;
}

} // namespace

int64_t countTrue(std::span<const uint8_t> mask) {
  return startsOf(mask.data(), static_cast<int64_t>(mask.size())).back();
}

bool expandInto(void *x, std::span<const uint8_t> mask, const void *values, int64_t count,
                int64_t itemBytes) {
  const int64_t size[] = {static_cast<int64_t>(mask.size())};
  const Operand whole{const_cast<uint8_t *>(mask.data()), DType::Bool, size};
  auto loop = maskLoops().expand[loopOf(itemBytes)];
  auto put = [&](int64_t begin, int64_t end, int64_t start, int64_t some) {
    loop(mask.data() + begin, end - begin, some,
         static_cast<const char *>(values) + start * itemBytes,
         static_cast<char *>(x) + begin * itemBytes);
  };
  return eachChunk(whole, count, "expand", put).isOk();
}

Status nonzero(const Call &call) { return positions(call, call.result.shape[0]).takeStatus(); }

Status compress(const Call &call) { return compressAny(call, call.result.shape[0]).takeStatus(); }

Status nonzeroFilled(const Call &call) {
  GRAPHC_ASSIGN(int64_t count, positions(call, std::nullopt));
  if (call.params[0])
    return Status::ok();
  auto *out = static_cast<int64_t *>(call.result.data);
  int64_t size = call.result.shape[0], last = count > 0 ? out[count - 1] : 0;
  fillRows(static_cast<char *>(call.result.data), count, size, sizeof last,
           reinterpret_cast<const char *>(&last));
  return Status::ok();
}

Status compressFilled(const Call &call) {
  GRAPHC_ASSIGN(int64_t count, compressAny(call, std::nullopt));
  int64_t rows = call.result.shape[0];
  int64_t rowBytes = call.operands[0].shape[1] * itemSize(call.operands[0].dtype);
  if (count == rows || rowBytes == 0 || call.params[0])
    return Status::ok();
  auto *out = static_cast<char *>(call.result.data);
  if (count > 0) {
    fillRows(out, count, rows, rowBytes, out + (count - 1) * rowBytes);
    return Status::ok();
  }
  std::vector<char> ones = onesRow(call.operands[0].dtype, call.operands[0].shape[1]);
  fillRows(out, 0, rows, rowBytes, ones.data());
  return Status::ok();
}

} // namespace graphc::rt::library
