// Kernels become PTX side by side: the text depends on no thread count, and each kernel's is what
// it is alone.
#include "compiler/emit/device/DeviceModule.h"
#include "tests/compiler/emit/TestContext.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace graphc;
using namespace graphc::emit;

namespace {

/// y[i] = row i mod 4 of a table, times x[i] as often as `depth` says.
std::string functionText(const std::string &name, int depth) {
  std::string text =
      "func.func @" + name +
      "(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %b: index, %e: index) {\n"
      "%one = arith.constant 1 : index\n%four = arith.constant 4 : index\n"
      "%t = arith.constant dense<[[1.0, 3.0], [2.0, 5.0], [4.0, 7.0], [8.0, 9.0]]> : "
      "vector<4x2xf32>\n"
      "scf.for %i = %b to %e step %one {\n"
      "%v = memref.load %x[%i] : memref<?xf32>\n"
      "%r = arith.remui %i, %four : index\n"
      "%w = vector.extract %t[%r] : vector<2xf32> from vector<4x2xf32>\n"
      "%p0 = vector.extract %w[1] : f32 from vector<2xf32>\n";
  for (int i = 0; i < depth; ++i)
    text += "%p" + std::to_string(i + 1) + " = arith.mulf %p" + std::to_string(i) + ", %v : f32\n";
  return text + "memref.store %p" + std::to_string(depth) +
         ", %y[%i] : memref<?xf32>\n}\nreturn\n}\n";
}

std::string ptxOf(llvm::ArrayRef<int> depths, unsigned threads) {
  std::string text;
  std::vector<EmittedKernel> kernels;
  for (int depth : depths) {
    EmittedKernel kernel;
    kernel.name = "k" + std::to_string(depth);
    kernel.writes = {0, 1};
    kernel.sizeCount = 1;
    kernel.group = 64;
    text += functionText(kernel.name, depth);
    kernels.push_back(kernel);
  }
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(testContext()), "user.mlir");
  EXPECT_TRUE(module) << text;
  auto ptx = emitPtx(*module, kernels, "sm_90", /*dependent=*/true, threads);
  EXPECT_TRUE(ptx.isOk()) << ptx.status().message();
  return ptx.isOk() ? *ptx : "";
}

int countOf(const std::string &text, const std::string &what) {
  int count = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

TEST(Ptx, IsTheSameForEveryNumberOfThreads) {
  const int depths[] = {3, 40, 1, 7, 20};
  const std::string one = ptxOf(depths, 1);
  EXPECT_EQ(ptxOf(depths, 2), one);
  EXPECT_EQ(ptxOf(depths, 16), one);
  EXPECT_EQ(countOf(one, ".version"), 1);
  EXPECT_EQ(countOf(one, "\n.global"), 1); // the table of all
  for (int depth : depths) {
    const std::string alone = ptxOf(depth, 1);
    const std::string entry = alone.substr(alone.find("\n.entry"));
    EXPECT_NE(one.find(entry), one.npos) << depth;
    EXPECT_EQ(countOf(entry, "mul.rn.f32"), depth);
  }
}

} // namespace
