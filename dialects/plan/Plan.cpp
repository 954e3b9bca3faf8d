#include "dialects/plan/Plan.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace graphc::plan;

#include "dialects/plan/PlanDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/plan/PlanTypes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/plan/PlanOps.cpp.inc"

LogicalResult CallOp::verify() {
  size_t wanted = 0;
  for (int64_t rank : getRanks()) {
    if (rank < 0)
      return emitOpError("rank ") << rank << " is negative";
    wanted += rank;
  }
  if (getRanks().size() != getInputs().size() + 1 || getSizes().size() != wanted)
    return emitOpError("needs one rank for each operand and the result, and their sizes");
  return success();
}

void PlanDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/plan/PlanTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/plan/PlanOps.cpp.inc"
      >();
}
