#include "dialects/opset/Promote.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace graphc::op {
namespace {

#include "PromotionTable.inc"

DType dtype(int i) { return static_cast<DType>(i); }

TEST(Promote, TypesFollowNumpy) {
  for (int a = 0; a < kDTypeCount; ++a)
    for (int b = 0; b < kDTypeCount; ++b)
      EXPECT_EQ(promoteTypes(dtype(a), dtype(b)), kPromoted[a][b])
          << dtypeName(dtype(a)) << " " << dtypeName(dtype(b));
}

TEST(Promote, PythonScalarsAreWeak) {
  for (int a = 0; a < kDTypeCount; ++a) {
    auto with = [&](const Scalar &s) {
      OperandType types[] = {{dtype(a), Weak::None}, s.type()};
      return resultType(types);
    };
    EXPECT_EQ(with(Scalar::ofInt(1)), kWithInt[a]) << dtypeName(dtype(a));
    EXPECT_EQ(with(Scalar::ofFloat(1)), kWithFloat[a]) << dtypeName(dtype(a));
    EXPECT_EQ(with(Scalar::ofComplex(1, 1)), kWithComplex[a]) << dtypeName(dtype(a));
    EXPECT_EQ(with(Scalar::ofBool(true)), kWithBool[a]) << dtypeName(dtype(a));
  }
}

TEST(Promote, ScalarsAlone) {
  OperandType both[] = {Scalar::ofInt(1).type(), Scalar::ofFloat(1).type()};
  EXPECT_EQ(resultType(both), DType::Float64);
  EXPECT_EQ(resultType({both, 1}), DType::Int64);
  EXPECT_EQ(resultType({}), DType::Float64);
}

TEST(Promote, SameKindFollowsNumpy) {
  for (int a = 0; a < kDTypeCount; ++a)
    for (int b = 0; b < kDTypeCount; ++b)
      EXPECT_EQ(canCastSameKind(dtype(a), dtype(b)), kSameKind[a][b])
          << dtypeName(dtype(a)) << " " << dtypeName(dtype(b));
}

TEST(Promote, ReductionsFollowNumpy) {
  for (int a = 0; a < kDTypeCount; ++a) {
    EXPECT_EQ(reduceDType(ReduceKind::Sum, dtype(a)), kSum[a]);
    EXPECT_EQ(reduceDType(ReduceKind::Prod, dtype(a)), kSum[a]);
    EXPECT_EQ(reduceDType(ReduceKind::Mean, dtype(a)), kMean[a]);
    EXPECT_EQ(reduceDType(ReduceKind::Max, dtype(a)), dtype(a));
    EXPECT_EQ(reduceDType(ReduceKind::ArgMax, dtype(a)), DType::Int64);
    EXPECT_EQ(reduceDType(ReduceKind::Any, dtype(a)), DType::Bool);
  }
}

TEST(Promote, OperandsOfElementwiseOps) {
  auto promoted = [](OpKind kind, DType a, DType b) {
    OperandType types[] = {{a, Weak::None}, {b, Weak::None}};
    return promoteOperands(kind, types);
  };
  EXPECT_EQ(*promoted(OpKind::Div, DType::Int32, DType::Int32), DType::Float64);
  EXPECT_EQ(*promoted(OpKind::Div, DType::Float32, DType::Int8), DType::Float32);
  EXPECT_EQ(*promoted(OpKind::FloorDivide, DType::Bool, DType::Bool), DType::Int8);
  EXPECT_EQ(*promoted(OpKind::LogicalAnd, DType::Float64, DType::Int8), DType::Bool);
  auto refused = promoted(OpKind::Sub, DType::Bool, DType::Bool);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.status().code(), ErrorCode::DType);
  EXPECT_NE(refused.status().message().find("[sub] not supported for operands of dtype bool, bool"),
            std::string::npos);
  EXPECT_FALSE(promoted(OpKind::BitwiseAnd, DType::Int64, DType::UInt64)) << "they meet in float64";
  EXPECT_FALSE(promoted(OpKind::ShiftLeft, DType::Float32, DType::Int32));
}

TEST(Literal, IntegersMustFit) {
  EXPECT_EQ(*literalBits(Scalar::ofInt(-1), DType::Int8), ~uint64_t{0});
  EXPECT_EQ(*literalBits(Scalar::ofInt(255), DType::UInt8), 255u);
  auto tooLarge = literalBits(Scalar::ofInt(300), DType::UInt8);
  ASSERT_FALSE(tooLarge);
  EXPECT_EQ(tooLarge.status().code(), ErrorCode::Overflow);
  EXPECT_EQ(tooLarge.status().message(), "Python integer 300 out of bounds for uint8");
  EXPECT_EQ(literalBits(Scalar::ofInt(-1), DType::UInt64).status().message(),
            "Python integer -1 out of bounds for uint64");
  __int128 big = static_cast<__int128>(std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(*literalBits(Scalar::ofInt(big), DType::UInt64), ~uint64_t{0});
  EXPECT_FALSE(literalBits(Scalar::ofInt(big), DType::Int64));
}

TEST(Literal, FloatsKeepTheirBits) {
  EXPECT_EQ(*literalBits(Scalar::ofFloat(-0.0), DType::Float64), uint64_t{1} << 63);
  EXPECT_EQ(*literalBits(Scalar::ofFloat(1.5), DType::Float32), std::bit_cast<uint32_t>(1.5f));
  EXPECT_EQ(*literalBits(Scalar::ofInt(3), DType::Float64), std::bit_cast<uint64_t>(3.0));
  EXPECT_EQ(*literalBits(Scalar::ofFloat(-2.7), DType::Int32), static_cast<uint64_t>(int64_t{-2}));
  EXPECT_EQ(literalBits(Scalar::ofFloat(std::nan("")), DType::Int32).status().code(),
            ErrorCode::InvalidArgument);
  EXPECT_EQ(literalBits(Scalar::ofFloat(HUGE_VAL), DType::Int32).status().code(),
            ErrorCode::Overflow);
  EXPECT_EQ(literalText(*literalBits(Scalar::ofFloat(0.1), DType::Float32), DType::Float32), "0.1");
}

} // namespace
} // namespace graphc::op
