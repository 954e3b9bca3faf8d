//===- TestContext.h - One context with every dialect, for the tests of emitters --------------===//
#ifndef GRAPHC_TESTS_COMPILER_EMIT_TESTCONTEXT_H
#define GRAPHC_TESTS_COMPILER_EMIT_TESTCONTEXT_H

#include "compiler/pipeline/Pipeline.h"

#include "mlir/IR/MLIRContext.h"

namespace graphc::emit {

inline mlir::MLIRContext *testContext() {
  static mlir::MLIRContext *context = [] {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    auto *made = new mlir::MLIRContext(registry);
    made->loadAllAvailableDialects();
    return made;
  }();
  return context;
}

} // namespace graphc::emit

#endif // GRAPHC_TESTS_COMPILER_EMIT_TESTCONTEXT_H
