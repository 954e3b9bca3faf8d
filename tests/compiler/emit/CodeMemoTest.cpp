// Functions that compute the same have one name, whatever program they are met in.
#include "compiler/emit/cpu/CodeMemo.h"
#include "tests/compiler/emit/TestContext.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace graphc;
using namespace graphc::emit;

namespace {

mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(testContext()));
  EXPECT_TRUE(module) << text;
  return module;
}

/// A function that adds `number` in a loop and calls `callee`.
std::string user(const std::string &name, const std::string &callee, const std::string &number,
                 const std::string &attributes = "") {
  return "func.func @" + name + "(%n: index, %x: f64) -> f64 " + attributes + "{\n" +
         "%zero = arith.constant 0 : index\n%one = arith.constant 1 : index\n" +
         "%c = arith.constant " + number + " : f64\n" +
         "%r = scf.for %i = %zero to %n step %one iter_args(%s = %x) -> f64 {\n" +
         "%t = arith.addf %s, %c : f64\nscf.yield %t : f64\n}\n" + "%y = func.call @" + callee +
         "(%r) : (f64) -> f64\nreturn %y : f64\n}\n";
}
std::string callee(const std::string &name, const std::string &operation) {
  return "func.func private @" + name + "(%x: f64) -> f64 {\n%y = arith." + operation +
         " %x, %x : f64\nreturn %y : f64\n}\n";
}

TEST(CodeMemo, NamesSayWhatFunctionsCompute) {
  auto one = parse(user("main_0", "fold", "2.0") + callee("fold", "addf"));
  auto names = nameByContent(*one);
  // Called otherwise, elsewhere in the module and on other lines.
  auto other = parse("\n\n" + callee("sum", "addf") + callee("product", "mulf") +
                     user("main_3", "sum", "2.0") + user("main_4", "sum", "3.0") +
                     user("main_5", "product", "2.0") +
                     user("main_6", "sum", "2.0", "attributes {graphc.counted} "));
  auto others = nameByContent(*other);
  EXPECT_EQ(others["main_3"], names["main_0"]);
  EXPECT_EQ(others["sum"], names["fold"]);
  EXPECT_NE(others["main_4"], names["main_0"]);
  EXPECT_NE(others["main_5"], names["main_0"]);
  EXPECT_NE(others["main_6"], names["main_0"]);
  EXPECT_NE(others["product"], names["fold"]);
  auto renamed = other->lookupSymbol<mlir::func::FuncOp>(others["main_5"]);
  ASSERT_TRUE(renamed);
  renamed.walk([&](mlir::func::CallOp call) { EXPECT_EQ(call.getCallee(), others["product"]); });
}

TEST(CodeMemo, OperandsCount) {
  auto function = [](const std::string &name, const std::string &operands) {
    return "func.func @" + name + "(%a: f64, %b: f64) -> f64 {\n%c = arith.subf " + operands +
           " : f64\nreturn %c : f64\n}\n";
  };
  auto module = parse(function("main_0", "%a, %b") + function("main_1", "%b, %a") +
                      function("main_2", "%a, %b"));
  auto names = nameByContent(*module);
  EXPECT_NE(names["main_0"], names["main_1"]);
  EXPECT_EQ(names["main_0"], names["main_2"]);
  // The second of two equal functions is the first.
  EXPECT_EQ(std::distance(module->getOps<mlir::func::FuncOp>().begin(),
                          module->getOps<mlir::func::FuncOp>().end()),
            2);
}

TEST(CodeMemo, KeysTellDefinitionsFromDeclarations) {
  auto whole = parse(user("main_0", "fold", "2.0") + callee("fold", "addf"));
  nameByContent(*whole);
  Digest together = CodeMemo::key(*whole, "avx2");
  EXPECT_NE(CodeMemo::key(*whole, "avx2,fma"), together);
  for (auto func : whole->getOps<mlir::func::FuncOp>())
    if (func.isPrivate())
      func.eraseBody();
  EXPECT_NE(CodeMemo::key(*whole, "avx2"), together);

  CodeMemo memo;
  EXPECT_EQ(memo.find(together), nullptr);
  memo.add(together, {'a', 'b'});
  ASSERT_NE(memo.find(together), nullptr);
  EXPECT_EQ(*memo.find(together), (CodeMemo::Object{'a', 'b'}));
}

} // namespace
