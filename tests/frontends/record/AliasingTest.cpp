// Views, versions and writes against plain memory with strides.
#include "frontends/record/Ops.h"
#include "frontends/record/Record.h"
#include "runtime/drivers/Drivers.h"
#include "tests/frontends/record/Interpreter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

namespace graphc {
namespace {

using test::Values;

rt::Device &device() { return **rt::findDevice("null"); }

template <typename T>
T get(Result<T> r) {
  EXPECT_TRUE(r) << r.status().message();
  return r ? r.take() : T{};
}
void ok(const Status &s) { EXPECT_TRUE(s) << s.message(); }

/// What NumPy has: shared memory, an offset, strides.
struct Model {
  std::shared_ptr<Values> memory;
  int64_t offset = 0;
  std::vector<int64_t> shape, strides;

  template <typename Fn>
  void each(Fn fn) const {
    std::vector<int64_t> at(shape.size(), 0);
    int64_t n = 1;
    for (int64_t s : shape)
      n *= s;
    for (; n > 0; --n) {
      int64_t p = offset;
      for (size_t i = 0; i < shape.size(); ++i)
        p += at[i] * strides[i];
      fn((*memory)[static_cast<size_t>(p)]);
      for (size_t i = shape.size(); i-- > 0 && ++at[i] == shape[i];)
        at[i] = 0;
    }
  }
  Values read() const {
    Values out;
    each([&](double v) { out.push_back(v); });
    return out;
  }
  void write(const Values &v) {
    size_t n = 0;
    each([&](double &m) { m = v[n++]; });
  }
};

struct Pair {
  Array array;
  Model model;
};

Pair fresh(std::vector<int64_t> shape) {
  int64_t n = 1;
  for (int64_t s : shape)
    n *= s;
  Pair p;
  p.array = get(ops::reshape(get(ops::iota(n, DType::Float64, &device())),
                             Shape(std::span<const int64_t>(shape))));
  p.model.memory = std::make_shared<Values>();
  for (int64_t i = 0; i < n; ++i)
    p.model.memory->push_back(static_cast<double>(i));
  Shape strides = denseStrides(shape);
  p.model.shape = shape;
  p.model.strides.assign(strides.begin(), strides.end());
  return p;
}

Values valuesOf(const Array &a) {
  std::string error;
  Values v = test::valueOf(get(a.value()), error);
  EXPECT_EQ(error, "");
  return v;
}

IndexItem slice(std::optional<int64_t> start, std::optional<int64_t> stop,
                std::optional<int64_t> step = {}) {
  IndexItem item;
  item.kind = IndexItem::Kind::Slice;
  item.start = start;
  item.stop = stop;
  item.step = step;
  return item;
}
IndexItem at(int64_t i) {
  IndexItem item;
  item.kind = IndexItem::Kind::Integer;
  item.integer = i;
  return item;
}

TEST(Aliasing, aViewReadsTheNewestVersion) {
  Pair p = fresh({6});
  IndexItem middle[] = {slice(1, -1)};
  Array view = get(ops::index(p.array, middle));
  EXPECT_EQ(valuesOf(view), (Values{1, 2, 3, 4}));
  IndexItem second[] = {at(2)};
  ok(ops::setItem(p.array, second, op::Scalar::ofInt(50)));
  EXPECT_EQ(valuesOf(view), (Values{1, 50, 3, 4}));
  ok(ops::inPlace(op::OpKind::Add, view, op::Scalar::ofInt(100)));
  EXPECT_EQ(valuesOf(p.array), (Values{0, 101, 150, 103, 104, 5}));
}

TEST(Aliasing, overlappingSourceAndTarget) {
  Pair p = fresh({5});
  IndexItem high[] = {slice(1, {})}, low[] = {slice({}, -1)};
  Array source = get(ops::index(p.array, low));
  ok(ops::setItem(p.array, high, source));
  EXPECT_EQ(valuesOf(p.array), (Values{0, 0, 1, 2, 3}));
}

TEST(Aliasing, aValueComputedBeforeAWriteKeepsIt) {
  Pair p = fresh({3});
  Operand operands[] = {p.array, op::Scalar::ofInt(1)};
  Array before = get(ops::elementwise(op::OpKind::Add, operands));
  IndexItem all;
  ok(ops::setItem(p.array, {&all, 1}, op::Scalar::ofInt(9)));
  EXPECT_EQ(valuesOf(before), (Values{1, 2, 3}));
  EXPECT_EQ(valuesOf(p.array), (Values{9, 9, 9}));
}

TEST(Aliasing, copiesAreIndependent) {
  Pair p = fresh({3});
  Array copy = get(ops::copy(p.array));
  ok(ops::inPlace(op::OpKind::Mul, copy, op::Scalar::ofInt(2)));
  EXPECT_EQ(valuesOf(p.array), (Values{0, 1, 2}));
  EXPECT_EQ(valuesOf(copy), (Values{0, 2, 4}));
}

TEST(Aliasing, broadcastViewsAreReadOnly) {
  Pair p = fresh({3});
  Array wide = get(ops::broadcastTo(p.array, Shape{2, 3}));
  IndexItem all;
  Status s = ops::setItem(wide, {&all, 1}, op::Scalar::ofInt(1));
  EXPECT_EQ(s.code(), ErrorCode::InvalidArgument);
  EXPECT_FALSE(ops::inPlace(op::OpKind::Add, wide, op::Scalar::ofInt(1)));
  EXPECT_EQ(valuesOf(p.array), (Values{0, 1, 2}));
}

TEST(Aliasing, writingBackTheSameViewRecordsNothing) {
  Pair p = fresh({6});
  IndexItem middle[] = {slice(1, -1)};
  Array view = get(ops::index(p.array, middle));
  uint64_t version = p.array.storage()->versioned().second;
  ok(ops::setItem(p.array, middle, view));
  EXPECT_EQ(p.array.storage()->versioned().second, version);
}

TEST(Aliasing, indexErrorsNameTheShape) {
  Pair p = fresh({2, 3});
  IndexItem bad[] = {at(9), at(0)};
  auto r = ops::index(p.array, bad);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.status().code(), ErrorCode::Index);
  EXPECT_EQ(r.status().message(),
            "[getitem] index 9 is out of bounds for axis 0 with size 2: shape (2,3)");
  IndexItem many[] = {at(0), at(0), at(0)};
  EXPECT_FALSE(ops::index(p.array, many));
  IndexItem zero[] = {slice({}, {}, 0)};
  EXPECT_FALSE(ops::index(p.array, zero));
}

/// Random chains of views and writes, compared element by element.
class Fuzzer {
public:
  explicit Fuzzer(uint32_t seed) : random(seed) {}

  void run() {
    pairs.push_back(fresh(pickShape()));
    for (int step = 0; step < 24; ++step) {
      Pair &p = pairs[pick(pairs.size())];
      switch (pick(6)) {
      case 0:
      case 1:
        indexed(p);
        break;
      case 2:
        transposed(p);
        break;
      case 3:
        reshaped(p);
        break;
      case 4:
        written(p, pairs[pick(pairs.size())]);
        break;
      default:
        updated(p);
      }
      ASSERT_LT(pairs.size(), 64u);
    }
    for (Pair &p : pairs)
      EXPECT_EQ(valuesOf(p.array), p.model.read());
  }

private:
  size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); }
  int64_t range(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }

  std::vector<int64_t> pickShape() {
    std::vector<int64_t> shape(1 + pick(3));
    for (int64_t &s : shape)
      s = range(1, 6);
    return shape;
  }

  void indexed(const Pair &p) {
    std::vector<IndexItem> items;
    Model m{p.model.memory, p.model.offset, {}, {}};
    size_t axis = 0;
    for (; axis < p.model.shape.size(); ++axis) {
      int64_t size = p.model.shape[axis], stride = p.model.strides[axis];
      if (pick(5) == 0) {
        items.emplace_back().kind = IndexItem::Kind::NewAxis;
        m.shape.push_back(1);
        m.strides.push_back(0);
      }
      if (pick(4) == 0 && size > 0) {
        int64_t i = range(0, size - 1);
        items.push_back(at(pick(2) ? i : i - size));
        m.offset += i * stride;
        continue;
      }
      int64_t step = range(1, 3) * (pick(2) ? 1 : -1);
      int64_t first = range(0, std::max<int64_t>(size - 1, 0)), count = 0, last = first;
      for (int64_t i = first; i >= 0 && i < size; i += step, ++count)
        last = i;
      std::optional<int64_t> stop;
      if (count > 1 && pick(2)) {
        count = range(1, count);
        last = first + (count - 1) * step;
        int64_t after = last + step;
        if (after >= 0)
          stop = after;
      }
      if (size == 0)
        count = 0;
      if (!stop && last + step >= 0 && last + step < size) { // only when the stop fell below zero
        count = 0;
        for (int64_t i = first; i >= 0 && i < size; i += step)
          ++count;
      }
      items.push_back(slice(first, stop, step));
      m.offset += count ? first * stride : 0;
      m.shape.push_back(count);
      m.strides.push_back(stride * step);
    }
    pairs.push_back({get(ops::index(p.array, items)), m});
  }

  void transposed(const Pair &p) {
    std::vector<int64_t> axes;
    for (size_t i = 0; i < p.model.shape.size(); ++i)
      axes.push_back(static_cast<int64_t>(i));
    std::shuffle(axes.begin(), axes.end(), random);
    Model m{p.model.memory, p.model.offset, {}, {}};
    for (int64_t a : axes) {
      m.shape.push_back(p.model.shape[static_cast<size_t>(a)]);
      m.strides.push_back(p.model.strides[static_cast<size_t>(a)]);
    }
    pairs.push_back({get(ops::transpose(p.array, axes)), m});
  }

  void reshaped(const Pair &p) {
    int64_t n = p.array.size();
    std::vector<int64_t> to;
    for (int64_t left = n; left > 1;) {
      int64_t f = range(1, left);
      while (left % f)
        ++f;
      to.push_back(f);
      left /= f;
      if (to.size() > 4) {
        to.push_back(left);
        break;
      }
    }
    if (n == 0)
      to = {0, 2};
    Shape shape{std::span<const int64_t>(to)};
    Array result = get(ops::reshape(p.array, shape));
    Model m;
    m.shape = to;
    if (result.sharesStorage(p.array)) { // the strides it claims must be true
      m.memory = p.model.memory;
      m.offset = p.model.offset;
      m.strides.assign(result.view().strides().begin(), result.view().strides().end());
      EXPECT_EQ(m.read(), p.model.read());
    } else {
      m.memory = std::make_shared<Values>(p.model.read());
      Shape strides = denseStrides(to);
      m.strides.assign(strides.begin(), strides.end());
    }
    pairs.push_back({result, m});
  }

  void written(Pair &to, const Pair &from) {
    if (to.model.shape != from.model.shape)
      return;
    Values v = from.model.read();
    to.model.write(v);
    IndexItem all;
    ok(ops::setItem(to.array, {&all, 1}, from.array));
  }

  void updated(Pair &p) {
    Values v = p.model.read();
    for (double &x : v)
      x += 1000;
    p.model.write(v);
    ok(ops::inPlace(op::OpKind::Add, p.array, op::Scalar::ofInt(1000)));
  }

  std::mt19937 random;
  std::vector<Pair> pairs;
};

TEST(Aliasing, randomProgramsMatchStridedMemory) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    Fuzzer(seed).run();
    if (testing::Test::HasFailure())
      return;
  }
}

} // namespace
} // namespace graphc
