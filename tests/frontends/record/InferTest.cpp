#include "dialects/opset/Infer.h"

#include <gtest/gtest.h>

namespace graphc::op {
namespace {

Shape shape(std::initializer_list<int64_t> dims) { return Shape(dims); }

Result<TensorType> inferOne(OpKind kind, const TensorType &x, std::vector<int64_t> attrs,
                            const TensorType &wanted = {}) {
  TensorView view = x;
  return infer(kind, {&view, 1}, attrs, wanted);
}

std::string messageOf(const Result<TensorType> &r) { return r ? "no error" : r.status().message(); }

TEST(Infer, broadcastingUsesNumpysWords) {
  Shape a = shape({2, 3}), b = shape({4, 5});
  std::span<const int64_t> shapes[] = {a, b};
  auto r = broadcastShapes("add", shapes);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.status().code(), ErrorCode::Shape);
  EXPECT_EQ(r.status().message(),
            "[add] operands could not be broadcast together with shapes (2,3) (4,5)");
  Shape c = shape({3, 1, 5}), d = shape({4, 1}), e = shape({});
  std::span<const int64_t> three[] = {c, d, e};
  EXPECT_EQ(*broadcastShapes("add", three), shape({3, 4, 5}));
  Shape zero = shape({0, 3}), one = shape({1, 3});
  std::span<const int64_t> empty[] = {zero, one};
  EXPECT_EQ(*broadcastShapes("add", empty), shape({0, 3}));
}

TEST(Infer, elementwiseNeedsEqualTypes) {
  TensorView views[] = {{DType::Float32, {}}, {DType::Float64, {}}};
  EXPECT_EQ(infer(OpKind::Add, views, {}, {}).status().code(), ErrorCode::DType);
  TensorView bools[] = {{DType::Bool, {}}, {DType::Bool, {}}};
  EXPECT_EQ(infer(OpKind::Sub, bools, {}, {}).status().code(), ErrorCode::DType);
  TensorView floats[] = {{DType::Float64, {}}, {DType::Float64, {}}};
  EXPECT_EQ(infer(OpKind::Less, floats, {}, {})->dtype, DType::Bool);
  EXPECT_FALSE(infer(OpKind::Less, {floats, 1}, {}, {})) << "arity";
}

TEST(Infer, reshape_c1) {
  EXPECT_EQ(messageOf(inferOne(OpKind::Reshape, {DType::Int8, shape({2, 3})}, {},
                               {DType::Int8, shape({4, 4})})),
            "[reshape] cannot reshape array of size 6 into shape (4,4): its shape is (2,3)");
  EXPECT_EQ(*resolveReshape(shape({2, 3, 4}), shape({-1, 6})), shape({4, 6}));
  EXPECT_EQ(*resolveReshape(shape({0, 3}), shape({3, -1})), shape({3, 0}));
  EXPECT_FALSE(resolveReshape(shape({0, 3}), shape({0, -1}))) << "ambiguous";
  EXPECT_EQ(resolveReshape(shape({6}), shape({-1, -1})).status().message(),
            "[reshape] can only specify one unknown dimension");
}

TEST(Infer, slice_c1_c2_c3) {
  SliceAttrs a{{1}, {2}};
  TensorType x{DType::Int8, shape({6})};
  EXPECT_EQ(inferOne(OpKind::Slice, x, a.encode(), {DType::Int8, shape({3})})->shape, shape({3}));
  EXPECT_EQ(inferOne(OpKind::Slice, x, a.encode(), {DType::Int8, shape({4})}).status().code(),
            ErrorCode::Index);
  SliceAttrs zero{{0}, {0}};
  EXPECT_FALSE(inferOne(OpKind::Slice, x, zero.encode(), {DType::Int8, shape({1})}));
  SliceAttrs back{{5}, {-1}};
  EXPECT_TRUE(inferOne(OpKind::Slice, x, back.encode(), {DType::Int8, shape({6})}));
  EXPECT_FALSE(inferOne(OpKind::Slice, x, back.encode(), {DType::Int8, shape({7})}));
  SliceAttrs huge{{1}, {INT64_MAX}};
  EXPECT_FALSE(inferOne(OpKind::Slice, x, huge.encode(), {DType::Int8, shape({3})}))
      << "no overflow";
}

TEST(Infer, broadcast_c1_c2_transpose_c1_flip_c1) {
  BroadcastAttrs b{{1}};
  EXPECT_TRUE(inferOne(OpKind::Broadcast, {DType::Int8, shape({3})}, b.encode(),
                       {DType::Int8, shape({2, 3})}));
  EXPECT_FALSE(inferOne(OpKind::Broadcast, {DType::Int8, shape({4})}, b.encode(),
                        {DType::Int8, shape({2, 3})}));
  BroadcastAttrs falling{{1, 0}};
  EXPECT_FALSE(inferOne(OpKind::Broadcast, {DType::Int8, shape({3, 2})}, falling.encode(),
                        {DType::Int8, shape({2, 3})}));
  TransposeAttrs twice{{0, 0}};
  EXPECT_FALSE(inferOne(OpKind::Transpose, {DType::Int8, shape({2, 3})}, twice.encode()));
  FlipAttrs flip{{2}};
  EXPECT_FALSE(inferOne(OpKind::Flip, {DType::Int8, shape({2, 3})}, flip.encode()));
}

TEST(Infer, concatenateRules) {
  ConcatenateAttrs a{0};
  Shape s23 = shape({2, 3}), s13 = shape({1, 3}), s24 = shape({2, 4}), s3 = shape({3});
  TensorView good[] = {{DType::Int8, s23}, {DType::Int8, s13}};
  EXPECT_EQ(infer(OpKind::Concatenate, good, a.encode(), {})->shape, shape({3, 3}));
  TensorView c1[] = {{DType::Int8, s23}, {DType::Int8, s3}};
  EXPECT_FALSE(infer(OpKind::Concatenate, c1, a.encode(), {}));
  TensorView c2[] = {{DType::Int8, s23}, {DType::Int8, s24}};
  auto r = infer(OpKind::Concatenate, c2, a.encode(), {});
  EXPECT_NE(messageOf(r).find("along dimension 1"), std::string::npos) << messageOf(r);
  ConcatenateAttrs c3{2};
  EXPECT_EQ(infer(OpKind::Concatenate, good, c3.encode(), {}).status().code(), ErrorCode::Axis);
}

TEST(Infer, reduceRules) {
  auto reduce = [](ReduceKind kind, DType t, std::initializer_list<int64_t> dims,
                   std::vector<int64_t> axes) {
    ReduceAttrs a{static_cast<int64_t>(kind), std::move(axes)};
    return inferOne(OpKind::Reduce, {t, shape(dims)}, a.encode());
  };
  EXPECT_EQ(reduce(ReduceKind::Sum, DType::Float32, {2, 3, 4}, {0, 2})->shape, shape({3}));
  EXPECT_FALSE(reduce(ReduceKind::Sum, DType::Float32, {2, 3}, {1, 0})) << "c1";
  EXPECT_FALSE(reduce(ReduceKind::Any, DType::Float32, {2}, {0})) << "c2";
  EXPECT_FALSE(reduce(ReduceKind::Sum, DType::Bool, {2}, {0})) << "c2";
  EXPECT_TRUE(reduce(ReduceKind::Max, DType::Bool, {2}, {0})) << "c2";
  EXPECT_FALSE(reduce(ReduceKind::ArgMax, DType::Float32, {2, 3}, {0, 1})) << "c3";
  EXPECT_EQ(reduce(ReduceKind::ArgMax, DType::Float32, {2, 3}, {1})->dtype, DType::Int64);
  EXPECT_FALSE(reduce(ReduceKind::Min, DType::Float32, {0, 3}, {0})) << "c4";
  EXPECT_TRUE(reduce(ReduceKind::Min, DType::Float32, {0, 3}, {1})) << "c4";
  EXPECT_FALSE(reduce(ReduceKind::Mean, DType::Int32, {2}, {0})) << "c5";
  EXPECT_EQ(normalizeAxis("sum", 7, 2).status().message(),
            "[sum] axis 7 is out of bounds for array of dimension 2");
  EXPECT_EQ(normalizeAxis("sum", 7, 2).status().code(), ErrorCode::Axis);
  EXPECT_FALSE(normalizeAxes("sum", std::vector<int64_t>{0, -2}, 2)) << "the same axis twice";
}

TEST(Infer, matmulRules) {
  EXPECT_EQ(*matmulShape(shape({2, 3}), shape({3, 4})), shape({2, 4}));
  EXPECT_EQ(*matmulShape(shape({3}), shape({3})), shape({}));
  EXPECT_EQ(*matmulShape(shape({3}), shape({5, 3, 4})), shape({5, 4}));
  EXPECT_EQ(*matmulShape(shape({7, 1, 2, 3}), shape({5, 3, 4})), shape({7, 5, 2, 4}));
  auto r = matmulShape(shape({2, 3}), shape({4, 5}));
  EXPECT_NE(r.status().message().find("(2,3) and (4,5)"), std::string::npos);
  EXPECT_NE(r.status().message().find("size 4 is different from 3"), std::string::npos);
  EXPECT_FALSE(matmulShape(shape({}), shape({3})));
  EXPECT_FALSE(matmulShape(shape({2, 2, 3}), shape({3, 3, 4}))) << "batch axes";
}

TEST(Infer, sizesAreChecked) {
  TensorType huge{DType::Float64, shape({int64_t{1} << 40, int64_t{1} << 40})};
  EXPECT_FALSE(infer(OpKind::Full, {}, FullAttrs{0}.encode(), huge));
  EXPECT_FALSE(checkedCount("full", shape({-1})));
}

TEST(OpTable, attributesRoundTrip) {
  SliceAttrs a{{1, 2}, {3, -4}};
  SliceAttrs b;
  ASSERT_TRUE(b.decode(a.encode()));
  EXPECT_EQ(b.starts, a.starts);
  EXPECT_EQ(b.steps, a.steps);
  std::vector<int64_t> cut = a.encode();
  cut.pop_back();
  EXPECT_FALSE(b.decode(cut));
  cut = a.encode();
  cut.push_back(0);
  EXPECT_FALSE(b.decode(cut));
  EXPECT_FALSE(b.decode(std::vector<int64_t>{INT64_MAX}));
  std::vector<AttrSpan> spans;
  ASSERT_TRUE(splitAttrs(OpKind::Slice, a.encode(), spans));
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].kind, AttrKind::Extents);
  EXPECT_EQ(spans[1].offset, 4u);
}

TEST(OpTable, namesAreUnique) {
  for (int i = 0; i < kOpKindCount; ++i) {
    auto kind = static_cast<OpKind>(i);
    ASSERT_EQ(opKindFromName(opInfo(kind).name), kind);
  }
  for (int i = 0; i < kReduceKindCount; ++i)
    ASSERT_EQ(reduceKindFromName(reduceKindName(static_cast<ReduceKind>(i))),
              static_cast<ReduceKind>(i));
}

} // namespace
} // namespace graphc::op
