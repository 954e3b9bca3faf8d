#include "dialects/opset/Printer.h"
#include "frontends/record/Choose.h"
#include "frontends/record/Constants.h"
#include "frontends/record/Ops.h"
#include "frontends/record/Record.h"
#include "frontends/record/Trace.h"
#include "runtime/base/Digest.h"
#include "runtime/drivers/Drivers.h"
#include "tests/frontends/record/Interpreter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <pthread.h>
#include <set>

namespace graphc {
namespace {

rt::Device &device() { return **rt::findDevice("null"); }

template <typename T>
T get(Result<T> r) {
  EXPECT_TRUE(r) << r.status().message();
  return r ? r.take() : T{};
}

Digest digestOfSegment(const Segment &s) {
  std::vector<uint8_t> bytes;
  op::appendCanonicalBytes(s.graph(false), bytes);
  return digestOf(bytes);
}

/// A value in memory that nobody reads.
Array leaf(std::initializer_list<int64_t> shape, DType t = DType::Float64) {
  return Array(Node::makeReady({t, Shape(shape)}, device(), nullptr));
}

Array binary(op::OpKind kind, const Operand &x, const Operand &y) {
  Operand both[] = {x, y};
  return get(ops::elementwise(kind, both));
}
Array add(const Operand &x, const Operand &y) { return binary(op::OpKind::Add, x, y); }
Array mul(const Operand &x, const Operand &y) { return binary(op::OpKind::Mul, x, y); }

Segment only(const Array &a, bool isFunction = true) {
  NodeRef root = get(a.value());
  Snapshot s = get(Snapshot::take({&root, 1}, isFunction));
  EXPECT_EQ(s.segmentCount(), 1u);
  return s.build(0);
}

Array softmaxLike(const Array &x) {
  Array top = get(ops::reduce(op::ReduceKind::Max, x, std::vector<int64_t>{1}, true, std::nullopt));
  Array d = binary(op::OpKind::Sub, x, top);
  Operand one[] = {d};
  return get(ops::elementwise(op::OpKind::Exp, one));
}

// A sort of 2^20 numbers doubles tiles of 2048 nine times, and reads and writes all each time; the
// host compares besides.
TEST(Choose, SortsCountAsPasses) {
  auto workOfStep = [](Routine routine, DType t) {
    Array keys[] = {leaf({1, 1 << 20}, t)};
    const DType result = routine == Routine::Argsort ? DType::Int64 : t;
    return workOf(only(get(ops::library(routine, keys, {0}, {result, Shape{1, 1 << 20}}))));
  };
  ProgramWork sort = workOfStep(Routine::Sort, DType::Float64);
  EXPECT_TRUE(sort.needsGroups);
  EXPECT_FALSE(sort.needsHost);
  EXPECT_GE(sort.bytes, 9 * 2 * 8.0 * (1 << 20));
  EXPECT_GE(sort.kernels, 2 * 9);
  EXPECT_GT(sort.sortNanos, 1e6);
  EXPECT_GT(workOfStep(Routine::Argsort, DType::Float64).sortNanos, 2 * sort.sortNanos);
  EXPECT_TRUE(workOfStep(Routine::Sort, DType::Complex128).needsHost);
}

TEST(Choose, SumsOfShiftedProductsCountAsProducts) {
  Array operands[] = {leaf({1 << 20}, DType::Float32), leaf({50}, DType::Float32)};
  ProgramWork work = workOf(
      only(get(ops::library(Routine::Correlate, operands, {2}, {DType::Float32, Shape{1 << 20}}))));
  EXPECT_TRUE(work.needsGroups);
  EXPECT_FALSE(work.needsHost);
  EXPECT_EQ(work.products, 2 * 50.0 * (1 << 20));
  EXPECT_EQ(work.tiledProducts, work.products);
}

TEST(Snapshot, anotherSizeHasTheSameDigest) {
  Segment a = only(softmaxLike(leaf({4, 7}))), b = only(softmaxLike(leaf({100, 33})));
  EXPECT_EQ(digestOfSegment(a), digestOfSegment(b));
  EXPECT_EQ(a.symbols, (std::vector<int64_t>{4, 7}));
  EXPECT_EQ(b.symbols, (std::vector<int64_t>{100, 33}));
}

TEST(Snapshot, rowsThatAreVisitedAgainAreOneKernelOfWork) {
  auto sum = [](const Array &x, int64_t axis) {
    return get(ops::reduce(op::ReduceKind::Sum, x, std::vector<int64_t>{axis}, true, std::nullopt));
  };
  Array d = softmaxLike(leaf({4, 7}));
  EXPECT_EQ(workOf(only(binary(op::OpKind::Div, d, sum(d, 1)))).kernels, 1);
  EXPECT_EQ(workOf(only(binary(op::OpKind::Div, d, sum(d, 0)))).kernels, 2);
  EXPECT_EQ(workOf(only(add(leaf({4, 7}), leaf({4, 7})))).kernels, 1);
}

TEST(Snapshot, equalSizesAndSizeOneAreStructure) {
  Digest apart = digestOfSegment(only(softmaxLike(leaf({4, 7}))));
  EXPECT_NE(apart, digestOfSegment(only(softmaxLike(leaf({5, 5})))));
  EXPECT_NE(apart, digestOfSegment(only(softmaxLike(leaf({1, 7})))));
  EXPECT_NE(apart, digestOfSegment(only(softmaxLike(leaf({4, 1})))));
}

TEST(Snapshot, sliceStartsAreSymbolsOfTheirOwn) {
  auto sliced = [](int64_t n, int64_t start) {
    Array x = leaf({n});
    IndexItem item;
    item.kind = IndexItem::Kind::Slice;
    item.start = start;
    item.stop = start + 3;
    return only(add(get(ops::index(x, {&item, 1})), op::Scalar::ofInt(1)));
  };
  Digest five = digestOfSegment(sliced(20, 5));
  EXPECT_EQ(five, digestOfSegment(sliced(30, 9)));
  EXPECT_EQ(five, digestOfSegment(sliced(30, 3))) << "a start that equals a size is another symbol";
  EXPECT_NE(five, digestOfSegment(sliced(20, 1)));
  EXPECT_NE(five, digestOfSegment(sliced(20, 0)));
  EXPECT_NE(digestOfSegment(sliced(20, 1)), digestOfSegment(sliced(20, 0)));
}

TEST(Snapshot, attributesAndDTypesAreStructure) {
  Array x = leaf({4, 6}), y = leaf({4, 6}, DType::Float32);
  auto sum = [](const Array &a, int64_t axis) {
    return digestOfSegment(only(
        get(ops::reduce(op::ReduceKind::Sum, a, std::vector<int64_t>{axis}, false, std::nullopt))));
  };
  EXPECT_NE(sum(x, 0), sum(x, 1));
  EXPECT_NE(sum(x, 0), sum(y, 0));
  EXPECT_EQ(sum(x, 0), sum(leaf({4, 6}), -2));
}

TEST(Snapshot, sharedOperandsAreSharedInTheGraph) {
  Array x = leaf({8}), y = leaf({8});
  EXPECT_NE(digestOfSegment(only(mul(x, x))), digestOfSegment(only(mul(x, y))));
  EXPECT_EQ(only(mul(x, x)).inputs.size(), 1u);
  EXPECT_EQ(only(mul(x, y)).inputs.size(), 2u);
}

TEST(Snapshot, whatIsStillHeldBecomesAnOutput) {
  Array x = leaf({8});
  Array held = mul(x, op::Scalar::ofInt(2));
  Array root = add(held, op::Scalar::ofInt(1));
  EXPECT_EQ(only(root, false).outputs.size(), 2u);
  EXPECT_EQ(only(root, true).outputs.size(), 1u) << "a function's values end with its call";
  held = Array();
  EXPECT_EQ(only(root, false).outputs.size(), 1u);
  Array zeros = get(ops::full(Shape{8}, op::Scalar::ofInt(0), DType::Float64, &device()));
  root = add(zeros, x);
  EXPECT_EQ(only(root, false).outputs.size(), 1u) << "a constant is cheaper to make again";
}

TEST(Snapshot, longChainsAreAFewPrograms) {
  Array x = leaf({8});
  for (int i = 0; i < 5000; ++i)
    x = add(mul(x, op::Scalar::ofFloat(0.5)), op::Scalar::ofFloat(1.0));
  NodeRef root = get(x.value());
  Snapshot s = get(Snapshot::take({&root, 1}, false));
  // What is left after a segment goes with it when both are at most two.
  EXPECT_EQ(s.segmentCount(),
            (2 * 5000 - 2 * kSegmentNodes + kSegmentNodes - 1) / kSegmentNodes + 1);
  std::set<Digest> digests;
  for (size_t i = 0; i < s.segmentCount(); ++i) {
    Segment segment = s.build(i);
    EXPECT_EQ(segment.inputs.size(), 1u);
    EXPECT_EQ(segment.outputs.size(), 1u);
    digests.insert(digestOfSegment(segment));
  }
  EXPECT_EQ(digests.size(), 2u) << "the full segments and the rest";
}

TEST(Snapshot, programsAreCutWhereLeastIsPassedOn) {
  // 20 times: eight values of one, mixed with each other ten times, and their sum.
  Array x = leaf({64});
  for (int pass = 0; pass < 20; ++pass) {
    std::vector<Array> parts;
    for (int j = 0; j < 8; ++j)
      parts.push_back(mul(x, op::Scalar::ofFloat(j + 0.5)));
    for (int round = 0; round < 10; ++round)
      for (int j = 0; j < 8; ++j)
        parts[j] = add(parts[j], parts[(j + 1) % 8]);
    x = parts[0];
    for (int j = 1; j < 8; ++j)
      x = add(x, parts[j]);
  }
  NodeRef root = get(x.value());
  Snapshot s = get(Snapshot::take({&root, 1}, false));
  EXPECT_GT(s.segmentCount(), 4u);
  for (size_t i = 0; i < s.segmentCount(); ++i) {
    Segment segment = s.build(i);
    EXPECT_EQ(segment.inputs.size(), 1u);
    EXPECT_EQ(segment.outputs.size(), 1u);
    EXPECT_LE(segment.code.locations.size(), 2 * kSegmentNodes + 8);
  }
}

TEST(Snapshot, segmentsComputeWhatTheWholeDoes) {
  Array x = get(ops::iota(5, DType::Float64, &device()));
  std::vector<double> expected{0, 1, 2, 3, 4};
  IndexItem reversed;
  reversed.kind = IndexItem::Kind::Slice;
  reversed.step = -1;
  for (int i = 0; i < 700; ++i) {
    x = add(get(ops::index(x, {&reversed, 1})), op::Scalar::ofInt(i % 3));
    std::reverse(expected.begin(), expected.end());
    for (double &v : expected)
      v += i % 3;
  }
  std::string error;
  EXPECT_EQ(test::valueOf(get(x.value()), error), expected);
  EXPECT_EQ(error, "");
}

TEST(Snapshot, structuralHashIsOfTheCalls) {
  auto build = [](int64_t n, double c) {
    return get(add(leaf({n}), op::Scalar::ofFloat(c)).value())->structuralHash();
  };
  EXPECT_EQ(build(4, 1.5), build(9, 1.5));
  EXPECT_NE(build(4, 1.5), build(4, 2.5));
  EXPECT_NE(get(mul(leaf({4}), op::Scalar::ofFloat(1.5)).value())->structuralHash(), build(4, 1.5));
}

TEST(Constants, aSecondValueMakesAnArgument) {
  forgetLiterals();
  auto run = [](double c) {
    Segment s = only(add(leaf({8}), op::Scalar::ofFloat(c)));
    promoteLiterals(s, s.code.structure());
    return s;
  };
  Segment first = run(1.5);
  EXPECT_TRUE(first.literals.empty());
  Segment same = run(1.5);
  EXPECT_EQ(digestOfSegment(first), digestOfSegment(same))
      << "no second program for the same value";
  Segment second = run(2.5);
  ASSERT_EQ(second.literals.size(), 1u);
  EXPECT_EQ(std::bit_cast<double>(second.literals[0].bits), 2.5);
  EXPECT_EQ(second.graph(false).inputs.size(), 2u);
  EXPECT_EQ(second.graph(false).nodes.size(), first.graph(false).nodes.size() - 1);
  Segment third = run(1.5);
  EXPECT_EQ(digestOfSegment(second), digestOfSegment(third)) << "from then on";
}

TEST(Constants, onlyTheLiteralThatDiffers) {
  forgetLiterals();
  auto run = [](double a, double b) {
    Segment s = only(add(mul(leaf({8}), op::Scalar::ofFloat(a)), op::Scalar::ofFloat(b)));
    promoteLiterals(s, s.code.structure());
    return s.literals.size();
  };
  EXPECT_EQ(run(2.5, 1.5), 0u);
  EXPECT_EQ(run(2.5, 7.5), 1u);
  EXPECT_EQ(run(3.5, 7.5), 2u);
}

TEST(Constants, exponentsAndIntegersStay) {
  forgetLiterals();
  auto run = [](op::OpKind kind, const op::Scalar &c, DType t) {
    Segment s = only(binary(kind, leaf({8}, t), c));
    promoteLiterals(s, s.code.structure());
    return s.literals.size();
  };
  for (double c : {3.25, 4.25, 5.25, 6.25, 7.25}) {
    EXPECT_EQ(run(op::OpKind::Pow, op::Scalar::ofFloat(c), DType::Float64), 0u);
    EXPECT_EQ(run(op::OpKind::Remainder, op::Scalar::ofFloat(c), DType::Float64), 0u);
    EXPECT_EQ(run(op::OpKind::Mul, op::Scalar::ofInt(static_cast<int>(c)), DType::Int64), 0u);
  }
}

TEST(Constants, aFourthDivisorMakesAnArgument) {
  forgetLiterals();
  auto run = [](double c) {
    Segment s = only(binary(op::OpKind::Div, leaf({8}), op::Scalar::ofFloat(c)));
    promoteLiterals(s, s.code.structure());
    return s.literals.size();
  };
  for (double c : {3.0, 5.0, 3.0, 7.0, 5.0, 7.0})
    EXPECT_EQ(run(c), 0u) << c;
  EXPECT_EQ(run(9.0), 1u);
  EXPECT_EQ(run(3.0), 1u) << "from then on";
}

TEST(Constants, aSegmentIsLookedAtAgain) {
  forgetLiterals();
  auto make = [](double a, double b) {
    Array sum = add(leaf({8}), op::Scalar::ofFloat(a));
    return only(binary(op::OpKind::Pow, sum, op::Scalar::ofFloat(b)));
  };
  auto count = [](Segment &s) {
    promoteLiterals(s, s.code.structure());
    return s.literals.size();
  };
  Segment first = make(1.5, 3.25), second = make(2.5, 3.25);
  EXPECT_EQ(count(first), 0u);
  EXPECT_EQ(count(second), 1u);
  forgetLiterals(); // as a structure that is new for it
  EXPECT_EQ(count(second), 0u) << "as if it were met first";
  for (double b : {4.25, 5.25, 6.25}) {
    Segment other = make(2.5, b);
    EXPECT_EQ(count(other), 0u) << "the exponent is still one";
  }
}

TEST(Constants, promotedGraphsAreWellFormed) {
  forgetLiterals();
  std::string error;
  for (double c : {1.5, 2.5}) {
    Array x = get(ops::iota(3, DType::Float64, &device()));
    Segment s = only(mul(add(x, op::Scalar::ofFloat(c)), op::Scalar::ofFloat(c * 2)));
    promoteLiterals(s, s.code.structure());
    std::vector<test::Values> inputs;
    for (const LiteralInput &literal : s.literals)
      inputs.push_back({std::bit_cast<double>(literal.bits)});
    test::Values expected{c * (c * 2), (1 + c) * (c * 2), (2 + c) * (c * 2)};
    EXPECT_EQ(test::interpret(s, inputs, error).back(), expected);
  }
  EXPECT_EQ(error, "");
}

TEST(Trace, readingOuterArraysCapturesThem) {
  Array outer = add(leaf({4}), op::Scalar::ofInt(1));
  Array argument = leaf({4});
  auto trace = get(Trace::begin({&argument, 1}));
  Array x = trace->placeholders()[0];
  NodeRef seen = get(outer.value());
  EXPECT_EQ(seen->state(), NodeState::Placeholder);
  EXPECT_EQ(seen, get(outer.value())) << "captured once";
  uint64_t version = outer.storage()->versioned().second;
  EXPECT_TRUE(ops::inPlace(op::OpKind::Add, outer, x));
  EXPECT_EQ(outer.storage()->versioned().second, version) << "a trace writes nothing";
  EXPECT_EQ(get(outer.value())->kind(), op::OpKind::Add);
  NodeRef root = get(mul(x, outer).value());
  auto refused = Snapshot::take({&root, 1}, false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.status().code(), ErrorCode::Trace);
  EXPECT_EQ(Trace::begin({&argument, 1}).status().code(), ErrorCode::Trace) << "one at a time";
  trace->abort();
  EXPECT_EQ(get(outer.value())->state(), NodeState::Pending) << "outside it is as before";
}

TEST(Trace, argumentsMustNotShareMemory) {
  Array a = leaf({4});
  Array both[] = {a, a};
  EXPECT_EQ(Trace::begin(both).status().code(), ErrorCode::Trace);
  EXPECT_EQ(Trace::active(), nullptr);
}

/// Builds, hashes, prints and drops a chain of a million nodes.
void *millionNodes(void *out) {
  constexpr int kNodes = 1'000'000;
  int64_t before = pendingNodes();
  {
    Array x = leaf({8});
    for (int i = 0; i < kNodes; ++i)
      x = add(x, op::Scalar::ofInt(1));
    EXPECT_GE(pendingNodes() - before, kNodes);
    EXPECT_NE(get(x.value())->structuralHash(), Digest{});
    NodeRef root = get(x.value());
    Snapshot s = get(Snapshot::take({&root, 1}, false));
    size_t bytes = 0;
    for (size_t i = 0; i < s.segmentCount(); ++i) {
      bytes += op::printGraph(s.build(i).graph(true)).size();
      s.drop(i);
    }
    EXPECT_GT(bytes, size_t{kNodes} * 10);
  }
  // The recent literals of this thread may stay.
  EXPECT_LE(pendingNodes() - before, 16);
  *static_cast<bool *>(out) = true;
  return nullptr;
}

TEST(Depth, aMillionNodesOnASmallStack) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
#if defined(__SANITIZE_ADDRESS__) || (defined(__has_feature) && __has_feature(address_sanitizer))
  constexpr size_t kStack =
      2 << 20; // frames of instrumented code are larger; recursion would need 100 MB
#else
  constexpr size_t kStack = 512 << 10;
#endif
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, kStack), 0);
  bool done = false;
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, millionNodes, &done), 0);
  pthread_join(thread, nullptr);
  EXPECT_TRUE(done);
}

} // namespace
} // namespace graphc
