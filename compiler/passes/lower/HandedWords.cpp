#include "compiler/passes/lower/HandedWords.h"

#include "compiler/passes/lower/IndexMath.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

HandedWords::HandedWords(kernel::ScanOp op, Value state, Value items)
    : loc(op.getLoc()), wanted(op.getType()), type(memoryType(op.getType())), state(state),
      items(items), words(handedWords(type)) {}

Value HandedWords::number(OpBuilder &b, int64_t value, unsigned bits) {
  return arith::ConstantIntOp::create(b, loc, value, bits);
}

Value HandedWords::place(OpBuilder &b, Part part, Value item, int64_t word) {
  IndexMath m{b, loc};
  if (!items)
    return m.add(m.mul(item, 2 * words), part * words + word);
  return m.add(item, m.mul(items, part * words + word));
}

void HandedWords::tell(OpBuilder &b, Part part, Value item, Value value) {
  if (value.getType() != type)
    value = graph::CastOp::create(b, loc, type, value);
  unsigned bits = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type))
    value = arith::BitcastOp::create(b, loc, b.getIntegerType(bits), value);
  if (bits < 64)
    value = arith::ExtUIOp::create(b, loc, b.getI64Type(), value);
  for (int64_t word = 0; word < words; ++word) {
    Value some = word ? arith::ShRUIOp::create(b, loc, value, number(b, 32)).getResult() : value;
    if (bits == 64 && !word)
      some = arith::AndIOp::create(b, loc, some, number(b, kBits));
    some = arith::OrIOp::create(b, loc, some, number(b, kMark));
    auto store = memref::StoreOp::create(b, loc, some, state, place(b, part, item, word));
    store->setAttr(kVolatileAttr, b.getUnitAttr());
  }
}

SmallVector<Value> HandedWords::look(OpBuilder &b, Part part, Value item) {
  SmallVector<Value> seen;
  for (int64_t word = 0; word < words; ++word) {
    auto load = memref::LoadOp::create(b, loc, state, place(b, part, item, word));
    load->setAttr(kVolatileAttr, b.getUnitAttr());
    seen.push_back(load);
  }
  return seen;
}

Value HandedWords::isTold(OpBuilder &b, ValueRange seen) {
  Value all = seen[0];
  for (Value word : seen.drop_front())
    all = arith::AndIOp::create(b, loc, all, word);
  return IndexMath{b, loc}.atLeast(all, number(b, kMark));
}

Value HandedWords::valueOf(OpBuilder &b, ValueRange seen) {
  unsigned bits = type.getIntOrFloatBitWidth();
  Value value = seen[0];
  if (words > 1) {
    Value high = arith::ShLIOp::create(b, loc, seen[1], number(b, 32));
    value = arith::AndIOp::create(b, loc, value, number(b, kBits));
    value = arith::OrIOp::create(b, loc, value, high);
  }
  if (bits < 64)
    value = arith::TruncIOp::create(b, loc, b.getIntegerType(bits), value);
  if (isa<FloatType>(type))
    value = arith::BitcastOp::create(b, loc, type, value);
  return value.getType() == wanted ? value
                                   : graph::CastOp::create(b, loc, wanted, value).getResult();
}

Value HandedWords::await(OpBuilder &b, Part part, Value item,
                         llvm::function_ref<void(OpBuilder &)> rest) {
  SmallVector<Type> types(words, b.getI64Type());
  auto wait = scf::WhileOp::create(
      b, loc, types, ValueRange(),
      [&](OpBuilder &c, Location, ValueRange) {
        SmallVector<Value> seen = look(c, part, item);
        Value told = isTold(c, seen);
        Value yes = arith::ConstantOp::create(c, loc, c.getBoolAttr(true));
        scf::ConditionOp::create(c, loc, arith::XOrIOp::create(c, loc, told, yes), seen);
      },
      [&](OpBuilder &c, Location, ValueRange) {
        if (rest)
          rest(c);
        scf::YieldOp::create(c, loc, ValueRange());
      });
  return valueOf(b, wait.getResults());
}
