//===- LibraryTest.cpp - Routines on host memory ----------------------------------------------===//
#include "runtime/library/Library.h"
#include "runtime/library/MaskLoops.h"

#include "runtime/base/Shape.h"
#include "runtime/library/Keys.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <random>

using namespace graphc;
using namespace graphc::rt::library;

namespace {

template <typename T>
Operand over(std::vector<T> &values, DType dtype, const Shape &shape) {
  return {values.data(), dtype, shape};
}

template <typename T>
std::vector<T> randomValues(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T &v : values) {
    auto word = random();
    if constexpr (std::is_floating_point_v<T>)
      v = static_cast<T>(static_cast<int64_t>(word % 2001) - 1000) / 8;
    else
      v = static_cast<T>(word >> 40);
  }
  return values;
}

template <typename T>
bool before(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(b) ? !std::isnan(a) : a < b;
  else
    return a < b;
}

template <typename T>
void checkOrders(DType dtype) {
  for (int64_t n : {0, 1, 2, 3, 63, 64, 65, 1000, 70000, 200001}) {
    std::vector<T> x = randomValues<T>(static_cast<size_t>(n), 5 + static_cast<uint64_t>(n));
    if constexpr (std::is_floating_point_v<T>)
      for (size_t i = 0; i < x.size(); i += 7)
        x[i] = std::array{T(0), -T(0), std::numeric_limits<T>::quiet_NaN(),
                          std::numeric_limits<T>::infinity()}[i % 4];
    Shape shape{1, n};
    std::vector<int64_t> order(x.size()), want(x.size());
    std::iota(want.begin(), want.end(), 0);
    std::sort(want.begin(), want.end(), [&](int64_t a, int64_t b) {
      T left = x[static_cast<size_t>(a)], right = x[static_cast<size_t>(b)];
      return before(left, right) || (!before(right, left) && a < b);
    });
    int64_t params[] = {0};
    std::vector operands{over(x, dtype, shape)};
    ASSERT_TRUE(run(Routine::Argsort, {operands, over(order, DType::Int64, shape), params}).isOk());
    ASSERT_EQ(order, want) << dtypeName(dtype) << " " << n;
    std::vector<T> sorted(x.size());
    ASSERT_TRUE(run(Routine::Sort, {operands, over(sorted, dtype, shape), params}).isOk());
    for (size_t i = 0; i < sorted.size(); ++i) {
      T element = x[static_cast<size_t>(want[i])];
      if constexpr (std::is_floating_point_v<T>) {
        ASSERT_EQ(std::isnan(sorted[i]), std::isnan(element)) << n << " " << i;
        if (std::isnan(element))
          continue;
        ASSERT_EQ(std::signbit(sorted[i]), std::signbit(element)) << n << " " << i;
      }
      ASSERT_EQ(sorted[i], element) << n << " " << i;
    }
  }
}

TEST(Library, SortsEveryWidth) {
  checkOrders<int8_t>(DType::Int8);
  checkOrders<uint8_t>(DType::UInt8);
  checkOrders<int16_t>(DType::Int16);
  checkOrders<uint16_t>(DType::UInt16);
  checkOrders<int32_t>(DType::Int32);
  checkOrders<uint32_t>(DType::UInt32);
  checkOrders<int64_t>(DType::Int64);
  checkOrders<uint64_t>(DType::UInt64);
  checkOrders<float>(DType::Float32);
  checkOrders<double>(DType::Float64);
}

/// Ranks by comparing pairs, for each instruction set that the machine lets choose.
template <typename Key>
void checkRanks() {
  std::mt19937_64 random(3);
  for (size_t count = 0; count <= kMostRanked; ++count) {
    FewKeys<Key> keys, ranks;
    for (Key &key : keys) // behind the row, too
      key = static_cast<Key>(random() % (count % 2 ? 5 : 1000) << (sizeof(Key) * 8 - 10));
    keyLoops<Key>().ranks(keys, count, ranks);
    for (size_t i = 0; i < count; ++i) {
      size_t want = 0;
      for (size_t j = 0; j < count; ++j)
        want += keys[j] < keys[i] || (keys[j] == keys[i] && j < i);
      ASSERT_EQ(ranks[i], want) << count << " " << i;
    }
  }
}

template <typename Key>
void checkRows() {
  std::mt19937_64 random(4);
  for (size_t length = 1; length <= kMostNetworked; ++length)
    for (size_t rows : {1, 7, 8, 40, 101}) {
      std::vector<Key> keys(rows * length);
      for (Key &key : keys)
        key = random() % 8 ? static_cast<Key>(random()) : ~Key{0};
      std::vector<Key> want = keys;
      for (size_t r = 0; r < rows; ++r)
        std::sort(want.begin() + long(r * length), want.begin() + long((r + 1) * length));
      keyLoops<Key>().sortRows(keys.data(), rows, length);
      ASSERT_EQ(keys, want) << rows << " " << length;
    }
}

TEST(Library, SortsShortRowsSideBySide) {
  checkRows<uint32_t>();
  checkRows<uint64_t>();
}

TEST(Library, RanksOfShortRows) {
  checkRanks<uint32_t>();
  checkRanks<uint64_t>();
}

std::string refusal(Routine routine, std::vector<RoutineTensor> operands, RoutineTensor result,
                    std::vector<int64_t> params) {
  Status status = checkRoutine(routine, operands, result, params);
  EXPECT_FALSE(status.isOk());
  return status.message();
}

TEST(Routine, ChecksWhatItIsGiven) {
  int64_t ab[] = {2, 3}, square[] = {1, 3, 3}, oblong[] = {1, 3, 4}, open[] = {-1, 3};
  RoutineTensor x{DType::Float32, ab}, order{DType::Int64, ab};
  EXPECT_TRUE(checkRoutine(Routine::Sort, std::vector{x}, x, std::vector<int64_t>{1}).isOk());
  EXPECT_TRUE(
      checkRoutine(Routine::Sort, std::vector{x}, {DType::Float32, open}, std::vector<int64_t>{0})
          .isOk());
  EXPECT_EQ(refusal(Routine::Sort, {x}, order, {0}), "[sort] gives float32, not int64");
  EXPECT_EQ(refusal(Routine::Sort, {x}, x, {}), "[sort] takes 1 parameters, not 0");
  EXPECT_EQ(refusal(Routine::Sort, {x}, x, {2}), "[sort] parameter 2 is not in [0, 2)");
  EXPECT_EQ(refusal(Routine::Sort, {}, x, {0}), "[sort] 0 operands are too few");
  EXPECT_EQ(refusal(Routine::Sort, {x, x}, x, {0}), "[sort] 2 operands are too many");
  EXPECT_EQ(refusal(Routine::Inv, {{DType::Float64, oblong}}, {DType::Float64, square}, {0}),
            "[inv] sizes differ: 3 and 4");
  EXPECT_EQ(refusal(Routine::Inv, {{DType::Int32, square}}, {DType::Int32, square}, {0}),
            "[inv] needs float32, float64 or a complex dtype, not int32");
  int64_t packed[] = {1, 21};
  EXPECT_TRUE(checkRoutine(Routine::Qr, std::vector<RoutineTensor>{{DType::Float64, oblong}},
                           {DType::Float64, packed}, std::vector<int64_t>{0})
                  .isOk());
  EXPECT_EQ(refusal(Routine::Qr, {{DType::Float64, oblong}}, {DType::Float64, packed}, {2}),
            "[qr] sizes differ: 12 and 21");
  int64_t huge[] = {1, int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_EQ(refusal(Routine::Svd, {{DType::Float64, huge}}, {DType::Float64, packed}, {2}),
            "[svd] size 1099511627776 is too large");
  EXPECT_EQ(routineFromName("sort"), Routine::Sort);
  EXPECT_EQ(routineFromName("sorted"), std::nullopt);
}

} // namespace

TEST(Library, MasksChooseElementsAndRows) {
  for (int64_t n : {0, 1, 7, 8, 64, 65, 200, 70000, 200003})
    for (uint64_t density : {0, 1, 50, 97, 100}) {
      std::mt19937_64 random(static_cast<uint64_t>(n) + density);
      std::vector<uint8_t> mask(static_cast<size_t>(n));
      std::vector<int64_t> want;
      for (size_t i = 0; i < mask.size(); ++i) {
        mask[i] = random() % 100 < density ? static_cast<uint8_t>(1 + (density == 97) * 8) : 0;
        if (mask[i])
          want.push_back(static_cast<int64_t>(i));
      }
      auto count = static_cast<int64_t>(want.size());
      ASSERT_EQ(countTrue(mask), count);
      Shape length{n}, chosen{count};
      Operand masks[] = {over(mask, DType::Bool, length)};
      std::vector<int64_t> found(want.size());
      ASSERT_TRUE(run(Routine::Nonzero, {masks, over(found, DType::Int64, chosen), {}}).isOk());
      EXPECT_EQ(found, want);
      for (int64_t k : {1, 2, 3, 4, 6, 8, 12, 17, 24, 40, 64, 65}) {
        if (n > 70000 && k > 3) // several threads' by now
          continue;
        std::vector<uint8_t> x = randomValues<uint8_t>(static_cast<size_t>(n * k), 3), rows, out;
        for (int64_t i : want)
          rows.insert(rows.end(), x.begin() + i * k, x.begin() + (i + 1) * k);
        out.resize(rows.size());
        Shape table{n, k}, few{count, k};
        Operand both[] = {over(x, DType::UInt8, table), over(mask, DType::Bool, length)};
        ASSERT_TRUE(run(Routine::Compress, {both, over(out, DType::UInt8, few), {}}).isOk());
        EXPECT_EQ(out, rows);
        std::vector<uint8_t> open(static_cast<size_t>(n * k), 201), want(open);
        std::ranges::copy(rows, want.begin());
        const int64_t leaveRest[] = {1};
        ASSERT_TRUE(run(Routine::CompressFilled, {both, over(open, DType::UInt8, table), leaveRest})
                        .isOk());
        // Several bytes are written at a time, but of what is chosen.
        EXPECT_EQ(open, want);
      }
      Shape wrong{count + 1};
      std::vector<int64_t> room(want.size() + 1);
      EXPECT_EQ(run(Routine::Nonzero, {masks, over(room, DType::Int64, wrong), {}}).code(),
                ErrorCode::InvalidArgument);
    }
}

namespace {

/// What loops over a mask write where it chooses elements of `bytes`, each by itself.
void checkMaskLoops(const MaskLoops &loops, const std::vector<uint8_t> &mask, size_t bytes) {
  const size_t n = mask.size(), at = loopOf(static_cast<int64_t>(bytes));
  const auto size = static_cast<int64_t>(n);
  const auto x = randomValues<uint8_t>(n * bytes, 5), values = randomValues<uint8_t>(n * bytes, 6);
  const uint64_t bits = 0x0123456789abcdefu;
  std::vector<uint8_t> compressed, filled = x, chosen = x, expanded = x;
  std::vector<int64_t> places;
  for (size_t i = 0; i < n; ++i) {
    if (!mask[i])
      continue;
    const size_t byte = i * bytes;
    std::memcpy(filled.data() + byte, &bits, std::min<size_t>(bytes, 8));
    std::memcpy(chosen.data() + byte, values.data() + byte, bytes);
    std::memcpy(expanded.data() + byte, values.data() + places.size() * bytes, bytes);
    compressed.insert(compressed.end(), x.data() + byte, x.data() + byte + bytes);
    places.push_back(100 + static_cast<int64_t>(i));
  }
  const auto count = static_cast<int64_t>(places.size());
  ASSERT_EQ(loops.count(mask.data(), size), count);
  auto found = x;
  loops.choose[at](mask.data(), size, values.data(), found.data());
  EXPECT_EQ(found, chosen);
  found = x;
  // As many values as are chosen: none behind them is read.
  const std::vector<uint8_t> given(values.begin(), values.begin() + count * int64_t(bytes));
  loops.expand[at](mask.data(), size, count, given.data(), found.data());
  EXPECT_EQ(found, expanded);
  if (bytes == 16)
    return;
  found = x;
  loops.fill[at](mask.data(), size, bits, found.data());
  EXPECT_EQ(found, filled);
  found.resize(compressed.size());
  loops.compress[at](mask.data(), size, count, x.data(), found.data());
  EXPECT_EQ(found, compressed);
  std::vector<int64_t> seen(places.size());
  loops.places(mask.data(), size, count, 100, seen.data());
  EXPECT_EQ(seen, places);
}

} // namespace

TEST(Library, LoopsOverMasksDoTheSameOnEveryCpu) {
  std::vector<size_t> sizes = {1000, 4096, 5003};
  for (size_t n = 0; n < 200; ++n)
    sizes.push_back(n);
  for (const MaskLoops *loops : everyMaskLoops())
    for (size_t n : sizes)
      for (uint64_t density : {0, 1, 50, 99, 100})
        for (size_t bytes : {1, 2, 4, 8, 16}) {
          std::mt19937_64 random(n + density);
          std::vector<uint8_t> mask(n);
          for (uint8_t &element : mask)
            element = random() % 100 < density ? static_cast<uint8_t>(1 + random() % 255) : 0;
          checkMaskLoops(*loops, mask, bytes);
        }
}

TEST(Library, ValuesAreWrittenWhereMasksChoose) {
  for (size_t n : {0, 1, 63, 64, 65, 1000, 70000})
    for (uint64_t density : {1, 50, 99, 100})
      for (size_t bytes : {1, 2, 4, 8}) {
        std::mt19937_64 random(n + density);
        std::vector<uint8_t> mask(n), x = randomValues<uint8_t>(n * bytes, 5), want = x;
        for (uint8_t &chosen : mask)
          chosen = random() % 100 < density ? 7 : 0;
        int64_t count = countTrue(mask);
        auto values = randomValues<uint8_t>(static_cast<size_t>(count) * bytes, 6);
        for (size_t i = 0, k = 0; i < n; ++i)
          if (mask[i])
            std::memcpy(want.data() + i * bytes, values.data() + k++ * bytes, bytes);
        const auto unwritten = x;
        EXPECT_FALSE(expandInto(x.data(), mask, values.data(), count + 1, int64_t(bytes)));
        EXPECT_EQ(x, unwritten);
        EXPECT_TRUE(expandInto(x.data(), mask, values.data(), count, int64_t(bytes)));
        EXPECT_EQ(x, want);
      }
}

namespace {

// The definition, a sum at a time.
template <typename T>
std::vector<T> sumsByDefinition(const std::vector<T> &x, const std::vector<T> &w, int64_t first,
                                int64_t count) {
  int64_t n = static_cast<int64_t>(x.size()), m = static_cast<int64_t>(w.size());
  int64_t chain = m <= 256 ? 64 : 256;
  std::vector<T> sums;
  for (int64_t j = first; j < first + count; ++j) {
    T total = 0;
    for (int64_t begin = 0; begin < m; begin += chain) {
      T sum = 0;
      for (int64_t i = begin; i < std::min(m, begin + chain); ++i)
        if (int64_t at = i + j - m + 1; at >= 0 && at < n)
          sum = std::fma(w[static_cast<size_t>(i)], x[static_cast<size_t>(at)], sum);
      total = begin == 0 ? sum : total + sum;
    }
    sums.push_back(total);
  }
  return sums;
}

template <typename T>
void checkCorrelations(DType dtype) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  auto some = [&](int64_t count) {
    std::vector<T> values(static_cast<size_t>(count));
    std::generate(values.begin(), values.end(), [&] { return static_cast<T>(normal(random)); });
    return values;
  };
  for (auto [n, m] : {std::pair<int64_t, int64_t>{1, 1},
                      {7, 7},
                      {40, 3},
                      {100, 65},
                      {300, 256},
                      {300, 257},
                      {1000, 700},
                      {5000, 31},
                      {9000, 300}}) {
    std::vector<T> x = some(n), w = some(m);
    std::vector<T> ends = w; // infinite where the first and the last sums have no product
    ends.front() = ends.back() = std::numeric_limits<T>::infinity();
    std::pair<int64_t, int64_t> wanted[] = {
        {0, n + m - 1}, {m - 1, n - m + 1}, {(m - 1) / 2, n}, {m / 2, n}};
    for (std::vector<T> &factors : {std::ref(w), std::ref(ends)})
      for (int64_t kind = 0; kind < 4; ++kind) {
        auto [first, count] = wanted[kind];
        std::vector<T> got(static_cast<size_t>(count));
        Shape nShape{n}, mShape{m}, shape{count};
        Operand operands[] = {over(x, dtype, nShape), over(factors, dtype, mShape)};
        ASSERT_TRUE(run(Routine::Correlate, {operands, over(got, dtype, shape), {&kind, 1}}));
        std::vector<T> want = sumsByDefinition(x, factors, first, count);
        for (size_t j = 0; j < got.size(); ++j)
          ASSERT_TRUE(got[j] == want[j] || (std::isnan(got[j]) && std::isnan(want[j])))
              << n << " " << m << " " << kind << " " << j;
      }
  }
}

} // namespace

TEST(Library, SumsOfShiftedProducts) {
  checkCorrelations<float>(DType::Float32);
  checkCorrelations<double>(DType::Float64);
}

TEST(Routine, ChecksCorrelations) {
  Shape five{5}, three{3}, none{0};
  auto check = [](const Shape &x, const Shape &w, int64_t size, int64_t kind, DType t) {
    RoutineTensor operands[] = {{t, x}, {t, w}};
    Shape result{size};
    return checkRoutine(Routine::Correlate, operands, {t, result}, {&kind, 1}).isOk();
  };
  EXPECT_TRUE(check(five, three, 7, 0, DType::Float64));
  EXPECT_TRUE(check(five, three, 3, 1, DType::Float32));
  EXPECT_TRUE(check(five, three, 5, 3, DType::Float64));
  EXPECT_FALSE(check(five, three, 7, 1, DType::Float64));
  EXPECT_FALSE(check(five, three, 7, 4, DType::Float64));
  EXPECT_FALSE(check(five, three, 7, 0, DType::Int64));
  EXPECT_FALSE(check(three, five, 7, 0, DType::Float64)) << "the longer one comes first";
  EXPECT_FALSE(check(five, none, 4, 0, DType::Float64));
}
