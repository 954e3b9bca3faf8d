// Difficult f64 arguments against results computed with 1300 bits
// (tools/mathgen/gen_hard_cases.py).
#include "compiler/math/Math.h"
#include "tests/compiler/math/Accuracy.h"
#include "tests/compiler/math/ScalarBuilder.h"

#include <gtest/gtest.h>

#include <map>
#include <string_view>

using namespace graphc::math::test;
namespace m = graphc::math;

namespace {

struct HardCase {
  std::string_view function;
  double x, y;
  double high, low;
};
constexpr HardCase kHardCases[] = {
#include "tests/compiler/math/HardCases.inc"
};

double evaluate(const HardCase &c) {
  ScalarBuilder<> b;
#define GRAPHC_CALL(name)                                                                          \
  if (c.function == #name)                                                                         \
    return m::name<64>(b, c.x);
  GRAPHC_CALL(acos)
  GRAPHC_CALL(acosh)
  GRAPHC_CALL(asin)
  GRAPHC_CALL(asinh)
  GRAPHC_CALL(atan)
  GRAPHC_CALL(atanh)
  GRAPHC_CALL(cbrt)
  GRAPHC_CALL(cos)
  GRAPHC_CALL(cosh)
  GRAPHC_CALL(erf)
  GRAPHC_CALL(erfc)
  GRAPHC_CALL(exp)
  GRAPHC_CALL(exp2)
  GRAPHC_CALL(expm1)
  GRAPHC_CALL(log)
  GRAPHC_CALL(log10)
  GRAPHC_CALL(log1p)
  GRAPHC_CALL(log2)
  GRAPHC_CALL(rsqrt)
  GRAPHC_CALL(sin)
  GRAPHC_CALL(sinh)
  GRAPHC_CALL(tan)
  GRAPHC_CALL(tanh)
#undef GRAPHC_CALL
  EXPECT_EQ(c.function, "pow");
  return m::pow<64>(b, c.x, c.y);
}

TEST(HardCases, F64) {
  std::map<std::string_view, Worst<double>> worst;
  for (const HardCase &c : kHardCases) {
    long double exact = static_cast<long double>(c.high) + c.low;
    double error = errorInUlp(evaluate(c), exact);
    EXPECT_LE(error, c.function == "erfc" ? 1.5 : 1.0)
        << c.function << "(" << c.x << ", " << c.y << ")";
    worst[c.function].add(error, c.x, c.y);
  }
  EXPECT_EQ(worst.size(), 24u);
  for (auto &[function, row] : worst)
    row.print(std::string(function).c_str(), "hard cases");
}

/// The f32 arguments nearest to multiples of pi / 2 and the largest ones, against the reduction of
/// f64 (exact for them).
TEST(HardCases, LargeF32) {
  ScalarBuilder<> b;
  for (float x :
       {16367173.0f * 0x1p72f, 0x1.fffffep127f, 0x1p127f, 0x1.000002p17f, 0x1p17f, 1e22f, 13023.5f})
    for (float s : {x, -x}) {
      EXPECT_LE(errorInUlp(m::sin<32>(b, s), std::sin(static_cast<double>(s))), 1.0) << s;
      EXPECT_LE(errorInUlp(m::cos<32>(b, s), std::cos(static_cast<double>(s))), 1.0) << s;
    }
}

} // namespace
