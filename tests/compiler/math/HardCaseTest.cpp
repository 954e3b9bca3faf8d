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
  if (c.function == "exp")
    return m::exp<64>(b, c.x);
  if (c.function == "expm1")
    return m::expm1<64>(b, c.x);
  if (c.function == "log")
    return m::log<64>(b, c.x);
  if (c.function == "log1p")
    return m::log1p<64>(b, c.x);
  if (c.function == "tanh")
    return m::tanh<64>(b, c.x);
  if (c.function == "sin")
    return m::sin<64>(b, c.x);
  if (c.function == "cos")
    return m::cos<64>(b, c.x);
  EXPECT_EQ(c.function, "pow");
  return m::pow<64>(b, c.x, c.y);
}

TEST(HardCases, F64) {
  std::map<std::string_view, Worst<double>> worst;
  for (const HardCase &c : kHardCases) {
    long double exact = static_cast<long double>(c.high) + c.low;
    double error = errorInUlp(evaluate(c), exact);
    EXPECT_LE(error, 1.0) << c.function << "(" << c.x << ", " << c.y << ")";
    worst[c.function].add(error, c.x, c.y);
  }
  EXPECT_EQ(worst.size(), 8u);
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
