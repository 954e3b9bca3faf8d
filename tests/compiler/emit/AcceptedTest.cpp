// What a device language has no words for is refused with the user's line before LLVM sees it: its
// code generators end the process.
#include "compiler/emit/device/Accepted.h"
#include "tests/compiler/emit/TestContext.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

using namespace graphc;
using namespace graphc::emit;

namespace {

std::string refusal(const std::string &body, const std::string &arguments, Language language) {
  std::string text = "func.func @f(" + arguments + ") {\n" + body + "\nreturn\n}";
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(testContext()), "user.mlir");
  EXPECT_TRUE(module) << text;
  auto functions = module->getOps<mlir::func::FuncOp>();
  return checkAccepted(*functions.begin(), language).message();
}

TEST(Accepted, OpsAndTypes) {
  EXPECT_EQ(refusal("%0 = arith.addf %a, %a : f32", "%a: f32", Language::SpirV), "");
  EXPECT_EQ(refusal("%0 = math.exp %a : f32", "%a: f32", Language::SpirV),
            "[spirv] math.exp (user.mlir:2) has no form for this target; run it on device='cpu'");
  EXPECT_EQ(refusal("%0 = arith.addf %a, %a : f16", "%a: f16", Language::Ptx).substr(0, 23),
            "[ptx] arith.addf of f16");
  // fmax would drop a NaN.
  EXPECT_NE(refusal("%0 = arith.maximumf %a, %a : f32", "%a: f32", Language::SpirV), "");
  EXPECT_NE(refusal("%0 = arith.addi %a, %a : i128", "%a: i128", Language::OpenCLC), "");
  EXPECT_NE(refusal("%0 = memref.load %a[%i, %i] : memref<?x?xf32>",
                    "%a: memref<?x?xf32>, %i: index", Language::SpirV),
            "");
  EXPECT_EQ(refusal("%0 = memref.load %a[%i] : memref<?xf32>", "%a: memref<?xf32>, %i: index",
                    Language::SpirV),
            "");
}

std::string llvmRefusal(const char *text, Language language) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(text, error, context);
  EXPECT_TRUE(module) << error.getMessage().str();
  return checkAccepted(*module, language).message();
}

TEST(Accepted, WhatLlvmMadeOfThem) {
  constexpr const char *kArray =
      "define void @f(i64 %n) {\n %a = alloca float, i64 4\n ret void\n}";
  EXPECT_NE(llvmRefusal(kArray, Language::SpirV).find("alloca float"), std::string::npos);
  EXPECT_EQ(llvmRefusal(kArray, Language::Ptx), "");
  constexpr const char *kMaximum = "declare float @llvm.maximum.f32(float, float)\n"
                                   "define float @f(float %a) {\n"
                                   " %m = call float @llvm.maximum.f32(float %a, float %a)\n"
                                   " ret float %m\n}";
  EXPECT_NE(llvmRefusal(kMaximum, Language::SpirV), "");
  EXPECT_EQ(llvmRefusal(kMaximum, Language::Ptx), ""); // keeps NaN and the order of zeros
  EXPECT_NE(
      llvmRefusal("define i33 @f(i33 %a) {\n %b = add i33 %a, %a\n ret i33 %b\n}", Language::SpirV),
      "");
}

} // namespace
