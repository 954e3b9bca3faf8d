// Operations in LLVM's form, on constants: LLVM's evaluation of what was made against numbers that
// follow from the operation's meaning.
#include "compiler/emit/cpu/LlvmModule.h"
#include "tests/compiler/emit/TestContext.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace graphc;
using namespace graphc::emit;

namespace {

struct Made {
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;
  std::string said;
};

Made make(const std::string &text) {
  Made made;
  mlir::ScopedDiagnosticHandler handler(
      testContext(), [&](mlir::Diagnostic &diagnostic) { made.said += diagnostic.str(); });
  auto parsed = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(testContext()));
  EXPECT_TRUE(parsed) << made.said;
  if (parsed)
    made.module = makeLlvmModule(*parsed, {}, *made.context);
  return made;
}

/// The constant that a function without branches returns, as LLVM prints it.
std::string valueOf(const std::string &body, const std::string &type) {
  Made made = make("func.func @f() -> " + type + " {\n" + body + "return %r : " + type + "\n}\n");
  if (!made.module)
    return made.said;
  EXPECT_FALSE(llvm::verifyModule(*made.module, &llvm::errs()));
  llvm::BasicBlock &block = made.module->getFunction("f")->getEntryBlock();
  for (llvm::Instruction &instruction : block)
    if (llvm::Constant *folded =
            llvm::ConstantFoldInstruction(&instruction, made.module->getDataLayout()))
      instruction.replaceAllUsesWith(folded);
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::cast<llvm::ReturnInst>(block.getTerminator())->getReturnValue()->printAsOperand(stream);
  return text;
}

std::string index(const std::string &name, int64_t value) {
  return "%" + name + " = arith.constant " + std::to_string(value) + " : index\n";
}

TEST(LlvmModule, Integers) {
  std::string ab = index("a", -7) + index("b", 2);
  EXPECT_EQ(valueOf(ab + "%r = arith.divsi %a, %b : index\n", "index"), "i64 -3");
  EXPECT_EQ(valueOf(ab + "%r = arith.remsi %a, %b : index\n", "index"), "i64 -1");
  EXPECT_EQ(valueOf(ab + "%r = arith.shrsi %a, %b : index\n", "index"), "i64 -2");
  EXPECT_EQ(valueOf(ab + "%r = arith.maxui %a, %b : index\n", "index"), "i64 -7");
  EXPECT_EQ(valueOf(ab + "%r = arith.minsi %a, %b : index\n", "index"), "i64 -7");
  EXPECT_EQ(valueOf(ab + "%r = arith.cmpi ult, %a, %b : index\n", "i1"), "i1 false");
  EXPECT_EQ(valueOf(ab + "%r = arith.cmpi slt, %a, %b : index\n", "i1"), "i1 true");
  for (auto [n, above] : {std::pair(0, "i64 0"), {1, "i64 1"}, {4, "i64 1"}, {9, "i64 3"}})
    EXPECT_EQ(
        valueOf(index("a", n) + index("b", 4) + "%r = arith.ceildivui %a, %b : index\n", "index"),
        above);
}

TEST(LlvmModule, WidthsAndBits) {
  std::string byte = "%a = arith.constant -3 : i8\n", zero = "%a = arith.constant 0 : i32\n";
  EXPECT_EQ(valueOf(byte + "%r = arith.extsi %a : i8 to i32\n", "i32"), "i32 -3");
  EXPECT_EQ(valueOf(byte + "%r = arith.extui %a : i8 to i32\n", "i32"), "i32 253");
  EXPECT_EQ(valueOf(byte + "%r = arith.index_cast %a : i8 to index\n", "index"), "i64 -3");
  EXPECT_EQ(valueOf(byte + "%r = arith.index_castui %a : i8 to index\n", "index"), "i64 253");
  EXPECT_EQ(valueOf(byte + "%r = arith.uitofp %a : i8 to f64\n", "f64"), "double 2.530000e+02");
  EXPECT_EQ(valueOf(byte + "%r = arith.sitofp %a : i8 to f64\n", "f64"), "double -3.000000e+00");
  EXPECT_EQ(valueOf(zero + "%r = math.ctlz %a : i32\n", "i32"), "i32 32");
  EXPECT_EQ(valueOf(zero + "%r = math.cttz %a : i32\n", "i32"), "i32 32");
}

TEST(LlvmModule, FloatsCompareWithNan) {
  std::string one = "%a = arith.constant 1.0 : f64\n", nan =
                                                           "%b = arith.constant 0x7FF8000000000000 "
                                                           ": f64\n";
  auto compare = [&](const std::string &how) {
    return valueOf(one + nan + "%r = arith.cmpf " + how + ", %a, %b : f64\n", "i1");
  };
  for (const char *how : {"oeq", "ogt", "oge", "olt", "ole", "one", "ord", "false"})
    EXPECT_EQ(compare(how), "i1 false") << how;
  for (const char *how : {"ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"})
    EXPECT_EQ(compare(how), "i1 true") << how;
  EXPECT_EQ(valueOf("%a = arith.constant -2.5 : f64\n%r = math.roundeven %a : f64\n", "f64"),
            "double -2.000000e+00");
}

TEST(LlvmModule, Lanes) {
  std::string x = "%x = arith.constant dense<[1, 2, 3, 4]> : vector<4xi32>\n"
                  "%y = arith.constant dense<[8, 9]> : vector<2xi32>\n";
  EXPECT_EQ(valueOf(x + "%r = vector.shuffle %x, %y [5, 0, 4, 3] : vector<4xi32>, vector<2xi32>\n",
                    "vector<4xi32>"),
            "<4 x i32> <i32 9, i32 1, i32 8, i32 4>");
  EXPECT_EQ(valueOf(x + "%r = vector.insert_strided_slice %y, %x {offsets = [1], strides = [1]} : "
                        "vector<2xi32> into vector<4xi32>\n",
                    "vector<4xi32>"),
            "<4 x i32> <i32 1, i32 8, i32 9, i32 4>");
  EXPECT_EQ(valueOf(x + "%r = vector.extract_strided_slice %x {offsets = [2], sizes = [2], strides "
                        "= [1]} : vector<4xi32> to vector<2xi32>\n",
                    "vector<2xi32>"),
            "<2 x i32> <i32 3, i32 4>");
  EXPECT_EQ(valueOf(x + "%r = vector.extract %x[2] : i32 from vector<4xi32>\n", "i32"), "i32 3");
  EXPECT_EQ(
      valueOf(x + index("i", 1) + "%r = vector.extract %x[%i] : i32 from vector<4xi32>\n", "i32"),
      "i32 2");
  EXPECT_EQ(valueOf(x + "%r = vector.reduction <maxsi>, %x : vector<4xi32> into i32\n", "i32"),
            "i32 4");
  EXPECT_EQ(valueOf(index("n", 3) + "%r = vector.create_mask %n : vector<4xi1>\n", "vector<4xi1>"),
            "<4 x i1> <i1 true, i1 true, i1 true, i1 false>");
  EXPECT_EQ(valueOf("%a = arith.constant 5 : i16\n%b = arith.constant 6 : i16\n"
                    "%r = vector.from_elements %a, %b : vector<2xi16>\n",
                    "vector<2xi16>"),
            "<2 x i16> <i16 5, i16 6>");
}

TEST(LlvmModule, RefusesWhatItHasNoWordsFor) {
  Made made = make("func.func @f(%x: f64) -> f64 {\n%r = math.tan %x : f64\nreturn %r : f64\n}\n");
  EXPECT_FALSE(made.module);
  EXPECT_NE(made.said.find("'math.tan' op has no form in LLVM's code for the cpu"),
            std::string::npos)
      << made.said;
}

} // namespace
