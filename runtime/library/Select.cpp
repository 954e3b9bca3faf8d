//===- Select.cpp - partition, argpartition ---------------------------------------------------===//
//
// Rows become keys (Order.h). A pivot from a sample parts them; only the side with the wanted
// places goes on, and is sorted when it is short: a few passes over the row in all, whatever its
// length.
//
//===------------------------------------------------------------------------------------------===//
#include "runtime/base/Strings.h"
#include "runtime/library/Keys.h"
#include "runtime/library/Routines.h"
#include "runtime/library/Rows.h"

#include <array>
#include <cmath>
#include <vector>

namespace graphc::rt::library {
namespace {

/// Fewer keys are sorted; elements of shorter rows, for their places.
constexpr int64_t kFew = 2048, kShort = 128;

/// Places of a row, in order.
struct Places {
  int64_t first, last;
};

/// In blocks: the loop counts in a key's own width.
template <typename Key>
int64_t countBelow(const Key *keys, int64_t count, Key limit) {
  constexpr int64_t kBlock = 1 << 15;
  size_t some = 0;
  for (int64_t from = 0; from < count; from += kBlock)
    some += keyLoops<Key>().below(keys + from, static_cast<size_t>(std::min(kBlock, count - from)),
                                  limit);
  return static_cast<int64_t>(some);
}

template <typename O, typename Key>
void toKeys(const Key *elements, int64_t count, Key *keys) {
  const auto size = static_cast<size_t>(count);
  if constexpr (O::kKind == KeyKind::BFloat16)
    PlainLoops::fill<O>(elements, size, Key{0}, keys);
  else
    keyLoops<Key>().kinds[static_cast<int>(O::kKind)].fill(elements, size, Key{0}, keys);
}
/// Back, in place.
template <typename O, typename Key>
void fromKeys(Key *keys, int64_t count) {
  const auto size = static_cast<size_t>(count);
  if constexpr (O::kKind == KeyKind::BFloat16)
    PlainLoops::finish<O>(keys, size, Key{0}, keys);
  else
    keyLoops<Key>().kinds[static_cast<int>(O::kKind)].finish(keys, size, Key{0}, keys);
}

/// Moves the keys of a row between two buffers until those from `places.first` to `places.last` are
/// among few. Keys that leave are copied to where they belong in `out`, if there is one.
template <typename Key>
class Selection {
public:
  Selection(Places places, int64_t count, Key *keys, Key *spare, Key *out)
      : places(places), end(count), keys(keys), spare(spare), out(out) {}

  void run() {
    while (end - begin > kFew && narrow())
      ;
    if (!isEqual)
      sortKeys(keys + begin, static_cast<size_t>(end - begin));
    if (out)
      std::copy(keys + begin, keys + end, out + begin);
  }
  Key at(int64_t place) const { return keys[place]; }

private:
  /// A key below or above the wanted ones, where most of the others are on its other side.
  Key pivot() {
    constexpr int64_t kSample = 128;
    std::array<Key, kSample> sample;
    for (int64_t i = 0; i < kSample; ++i)
      sample[static_cast<size_t>(i)] = keys[begin + (end - begin) / kSample * i];
    std::sort(sample.begin(), sample.end());
    int64_t below = places.first - begin, above = end - 1 - places.last;
    auto wanted = static_cast<double>(below > above ? below : places.last - begin + 1) /
                  static_cast<double>(end - begin);
    double margin = 2 * std::sqrt(wanted * (1 - wanted) / kSample) + 1.0 / kSample;
    double rank = (wanted + (below > above ? -margin : margin)) * kSample;
    return sample[static_cast<size_t>(std::clamp(rank, 0.0, kSample - 1.0))];
  }

  /// False when both sides of a pivot have wanted keys, or all keys are equal.
  bool narrow() {
    Key limit = pivot();
    int64_t count = end - begin, middle = begin + countBelow(keys + begin, count, limit);
    if (middle == begin) {
      // The pivot is the smallest key: those equal to it are one side.
      if (limit == std::numeric_limits<Key>::max())
        return !(isEqual = true);
      middle = begin + countBelow(keys + begin, count, ++limit);
      if (middle == end)
        return !(isEqual = true);
      isEqual = places.last < middle;
    }
    bool goesLow = places.last < middle;
    if (!goesLow && places.first < middle)
      return false;
    Key *low = (out && !goesLow ? out : spare) + begin,
        *high = (out && goesLow ? out : spare) + middle;
    keyLoops<Key>().part(keys + begin, static_cast<size_t>(count), limit, low, high);
    (goesLow ? end : begin) = middle;
    std::swap(keys, spare);
    return !isEqual;
  }

  Places places;
  int64_t begin = 0, end;
  Key *keys, *spare, *out;
  bool isEqual = false; ///< all that are left
};

Result<Places> placesOf(const Call &call, std::string_view name) {
  const auto *given = static_cast<const int64_t *>(call.operands[1].data);
  int64_t length = call.result.shape[1];
  if (call.operands[1].shape[0] != 2 || given[0] < 0 || given[0] > given[1] || given[1] >= length)
    return Status(
        ErrorCode::InvalidArgument,
        strings::format("[{}] places are not two of a row of {}, in order", name, length));
  return Places{given[0], given[1]};
}

/// Parts a row of complex numbers by the parts that decide first: calls `put(i, place)` for what
/// belongs below or above all wanted places, and gives the others, in the row's order, and where
/// they belong.
template <typename U>
struct Middle {
  std::vector<int64_t> positions;
  int64_t begin = 0;

  template <typename Put>
  static Result<Middle> of(const U *x, int64_t length, Places places, const Put &put) {
    GRAPHC_ASSIGN(BufferRef held, scratch(3 * length * static_cast<int64_t>(sizeof(U))));
    U *highs = as<U>(held), *keys = highs + length;
    for (int64_t i = 0; i < length; ++i)
      highs[i] = ComplexKey<U>::of(x + 2 * i).high;
    std::copy_n(highs, length, keys);
    Selection<U> selection(places, length, keys, keys + length, nullptr);
    selection.run();
    const U first = selection.at(places.first), last = selection.at(places.last);
    Middle middle;
    int64_t above = length;
    for (int64_t i = 0; i < length; ++i)
      above -= highs[i] > last;
    int64_t next[2] = {0, above}; // of either side, without a branch that nobody foresees
    for (int64_t i = 0; i < length; ++i)
      if (const U key = highs[i]; U(key - first) <= U(last - first))
        middle.positions.push_back(i);
      else
        put(i, next[key > last]++);
    middle.begin = next[0];
    return middle;
  }
};

/// Positions of a row in the order of its elements there.
template <typename U>
Status sortPositions(const U *x, DType dtype, bool several, std::vector<int64_t> &positions) {
  const auto count = static_cast<int64_t>(positions.size());
  std::vector<U> elements;
  elements.reserve(2 * positions.size());
  for (int64_t i : positions)
    elements.insert(elements.end(), {x[2 * i], x[2 * i + 1]});
  std::vector<int64_t> order(positions.size());
  GRAPHC_TRY(orderComplex(elements.data(), dtype, count, several, order.data()));
  for (int64_t &i : order)
    i = positions[static_cast<size_t>(i)];
  positions.swap(order);
  return Status::ok();
}

/// A row of complex numbers, parted at the wanted places: which element is where.
template <typename U, typename Put>
Status partComplex(const U *x, int64_t length, DType dtype, Places places, bool several,
                   const Put &put) {
  GRAPHC_ASSIGN(Middle<U> middle, Middle<U>::of(x, length, places, put));
  GRAPHC_TRY(sortPositions(x, dtype, several, middle.positions));
  for (int64_t i : middle.positions)
    put(i, middle.begin++);
  return Status::ok();
}

/// Whether so much of a row lies between the places that sorting all of it takes less.
bool areMost(Places places, int64_t length) { return places.last - places.first > length / 4; }

/// The call without places: the order that every partition agrees with.
Status sorted(const Call &call, Status (*routine)(const Call &)) {
  constexpr int64_t kAscending[] = {0};
  return routine({call.operands.first(1), call.result, kAscending});
}

} // namespace

Status partition(const Call &call) {
  int64_t rows = call.result.shape[0], length = call.result.shape[1];
  if (rows == 0 || length == 0)
    return Status::ok();
  GRAPHC_ASSIGN(Places places, placesOf(call, "partition"));
  DType dtype = call.result.dtype;
  if (itemSize(dtype) < 2 || length <= (isComplex(dtype) ? kShort : kFew) ||
      (isComplex(dtype) && areMost(places, length)))
    return sorted(call, sort);
  if (isComplex(dtype))
    return withPart(dtype, [&](auto word) {
      using U = decltype(word);
      return eachRow(rows, length, [&](int64_t r, bool several) {
        const U *x = static_cast<const U *>(call.operands[0].data) + 2 * r * length;
        U *out = static_cast<U *>(call.result.data) + 2 * r * length;
        return partComplex(x, length, dtype, places, several, [&](int64_t i, int64_t place) {
          std::copy_n(x + 2 * i, 2, out + 2 * place);
        });
      });
    });
  return withOrder(dtype, [&](auto order, auto word) -> Status {
    using O = decltype(order);
    using U = decltype(word);
    if constexpr (sizeof(U) >= 2) {
      const auto *x = static_cast<const U *>(call.operands[0].data);
      auto *out = static_cast<U *>(call.result.data);
      return eachRow(rows, length, [&](int64_t r, bool) -> Status {
        GRAPHC_ASSIGN(BufferRef held, scratch(2 * length * static_cast<int64_t>(sizeof(U))));
        U *keys = as<U>(held), *row = out + r * length;
        toKeys<O>(x + r * length, length, keys);
        Selection<U>(places, length, keys, keys + length, row).run();
        fromKeys<O>(row, length);
        return Status::ok();
      });
    }
    return Status(ErrorCode::Internal, "[partition] a narrow dtype");
  });
}

Status argpartition(const Call &call) {
  int64_t rows = call.result.shape[0], length = call.result.shape[1];
  if (rows == 0 || length == 0)
    return Status::ok();
  GRAPHC_ASSIGN(Places places, placesOf(call, "argpartition"));
  DType dtype = call.operands[0].dtype;
  if (itemSize(dtype) < 2 || length <= kShort ||
      (isComplex(dtype) ? areMost(places, length) : places.first != places.last))
    return sorted(call, argsort);
  if (isComplex(dtype))
    return withPart(dtype, [&](auto word) {
      using U = decltype(word);
      return eachRow(rows, length, [&](int64_t r, bool several) {
        int64_t *out = static_cast<int64_t *>(call.result.data) + r * length;
        return partComplex(static_cast<const U *>(call.operands[0].data) + 2 * r * length, length,
                           dtype, places, several,
                           [&](int64_t i, int64_t place) { out[place] = i; });
      });
    });
  return withOrder(dtype, [&](auto order, auto word) -> Status {
    using O = decltype(order);
    using U = decltype(word);
    if constexpr (sizeof(U) >= 2) {
      const auto *x = static_cast<const U *>(call.operands[0].data);
      auto *out = static_cast<int64_t *>(call.result.data);
      return eachRow(rows, length, [&](int64_t r, bool) -> Status {
        GRAPHC_ASSIGN(BufferRef held, scratch(2 * length * static_cast<int64_t>(sizeof(U))));
        U *keys = as<U>(held);
        toKeys<O>(x + r * length, length, keys);
        Selection<U> selection(places, length, keys, keys + length, nullptr);
        selection.run();
        U wanted = selection.at(places.first);
        toKeys<O>(x + r * length, length, keys);
        bool isLast = wanted == std::numeric_limits<U>::max();
        int64_t less = countBelow(keys, length, wanted);
        int64_t more = isLast ? length : countBelow(keys, length, U(wanted + 1)), equal = less;
        // Below, equal and above, each in the row's order.
        int64_t *row = out + r * length;
        less = 0;
        for (int64_t i = 0; i < length; ++i) {
          if (keys[i] == wanted) {
            row[equal++] = i;
            continue;
          }
          bool isLess = keys[i] < wanted;
          row[isLess ? less : more] = i;
          less += isLess;
          more += !isLess;
        }
        return Status::ok();
      });
    }
    return Status(ErrorCode::Internal, "[argpartition] a narrow dtype");
  });
}

} // namespace graphc::rt::library
