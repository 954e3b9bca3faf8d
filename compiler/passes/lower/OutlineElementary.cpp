#include "compiler/math/Apart.h"
#include "compiler/math/Trig.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/lower/LoopSpace.h"
#include "dialects/graph/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace graphc::pass {
#define GEN_PASS_DEF_OUTLINEELEMENTARY
#include "compiler/passes/Passes.h.inc"
} // namespace graphc::pass

using namespace mlir;
using namespace graphc;

namespace {

/// Elementary functions that a program may have written out. A call keeps no vector register, which
/// costs a long body a tenth of its speed; writing one out costs 10 to 25 ms.
constexpr size_t kMostWrittenOut = 24;
/// Uses of one of them that are worth a function.
constexpr size_t kFewestCalls = 3;

bool isElementary(Operation *op) {
  if (!op->hasTrait<graph::Expensive>() || op->getNumResults() != 1 ||
      isa<graph::DivOp, graph::FloorDivideOp, graph::RemainderOp>(op))
    return false;
  // Floats of 16 bits change their type when they are expanded.
  auto vector = dyn_cast<VectorType>(op->getResult(0).getType());
  return vector && (vector.getElementType().isF32() || vector.getElementType().isF64()) &&
         llvm::all_of(op->getOperandTypes(), [&](Type type) { return type == vector; });
}

struct OutlineElementary : pass::impl::OutlineElementaryBase<OutlineElementary> {
  using OutlineElementaryBase::OutlineElementaryBase;

  void runOnOperation() override {
    if (registerBytes)
      declareApart();
    using Key = std::pair<OperationName, Type>;
    llvm::MapVector<Key, SmallVector<Operation *>> uses;
    size_t count = 0;
    getOperation().walk([&](Operation *op) {
      if (!isElementary(op))
        return;
      uses[{op->getName(), op->getResult(0).getType()}].push_back(op);
      ++count;
    });
    if (count <= kMostWrittenOut)
      return;
    for (auto &[key, ops] : uses)
      if (ops.size() >= kFewestCalls)
        outline(ops);
  }

  /// Functions for what sin, cos and tan of large arguments need (compiler/math/Apart.h).
  void declareApart() {
    llvm::MapVector<Type, Location> elements;
    getOperation().walk([&](Operation *op) {
      if (isa<graph::SinOp, graph::CosOp, graph::TanOp>(op) &&
          isa<VectorType>(op->getOperand(0).getType())) {
        Type own = graph::elementType(op->getOperand(0).getType());
        elements.insert({own.isF64() ? own : Float32Type::get(own.getContext()), op->getLoc()});
      }
    });
    OpBuilder b = OpBuilder::atBlockEnd(getOperation().getBody());
    for (auto [element, loc] : elements) {
      int64_t bits = element.getIntOrFloatBitWidth();
      auto type = VectorType::get({8 * registerBytes / bits}, element);
      Type integers = type.clone(b.getIntegerType(bits));
      auto function =
          func::FuncOp::create(b, loc, graphc::math::nameApart(graphc::math::kLargeTurns, type),
                               b.getFunctionType(type, {type, type, integers}));
      function.setPrivate();
      function->setAttr(graphc::math::kApartAttr, b.getUnitAttr());
      function->setAttr(pass::kSeldomAttr, b.getUnitAttr());
    }
  }

  void outline(ArrayRef<Operation *> ops) {
    Operation *first = ops.front();
    OpBuilder b = OpBuilder::atBlockEnd(getOperation().getBody());
    std::string name;
    do {
      name = ("elementary_" + Twine(made++)).str();
    } while (getOperation().lookupSymbol(name)); // kernels are called after the user's function
    auto type = b.getFunctionType(first->getOperandTypes(), first->getResultTypes());
    auto function = func::FuncOp::create(b, first->getLoc(), name, type);
    function.setPrivate();
    function->setAttr("graphc.counted", b.getUnitAttr());
    Block *body = function.addEntryBlock();
    b.setInsertionPointToStart(body);
    Operation *own = b.clone(*first);
    own->setOperands(body->getArguments()); // one by one: an operand may be there twice
    func::ReturnOp::create(b, first->getLoc(), own->getResults());
    for (Operation *op : ops) {
      b.setInsertionPoint(op);
      auto call = func::CallOp::create(b, op->getLoc(), function, op->getOperands());
      op->replaceAllUsesWith(call.getResults());
      op->erase();
    }
  }

  unsigned made = 0;
};

} // namespace
