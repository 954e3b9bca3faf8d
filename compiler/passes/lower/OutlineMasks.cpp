#include "compiler/passes/Passes.h"
#include "compiler/passes/lower/IndexMath.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"

namespace graphc::pass {
#define GEN_PASS_DEF_OUTLINEMASKS
#include "compiler/passes/Passes.h.inc"
} // namespace graphc::pass

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

/// Elements of this width and wider have masks in every instruction set that has vectors.
constexpr unsigned kMaskedBits = 32;

/// The first lanes of a vector in memory, which are read, or written where there is a value.
struct FirstLanes {
  VectorType type;
  MemRefType memory;
  Value buffer, first, count, stored;
};

std::optional<FirstLanes> firstLanes(Value buffer, ValueRange place, Value mask, Value stored,
                                     VectorType type) {
  auto memory = dyn_cast<MemRefType>(buffer.getType());
  auto created = mask.getDefiningOp<vector::CreateMaskOp>();
  if (!memory || !created || place.size() != 1 || created.getNumOperands() != 1 ||
      type.getElementTypeBitWidth() >= kMaskedBits || type.getElementTypeBitWidth() < 8)
    return std::nullopt;
  return FirstLanes{type, memory, buffer, place.front(), created.getOperand(0), stored};
}

std::optional<FirstLanes> firstLanes(Operation *op) {
  if (auto load = dyn_cast<vector::MaskedLoadOp>(op);
      load && matchPattern(load.getPassThru(), m_Zero()))
    return firstLanes(load.getBase(), load.getIndices(), load.getMask(), {}, load.getVectorType());
  if (auto store = dyn_cast<vector::MaskedStoreOp>(op))
    return firstLanes(store.getBase(), store.getIndices(), store.getMask(), store.getValueToStore(),
                      store.getVectorType());
  return std::nullopt;
}

/// The first `count` elements of memory as the bits of an integer, by steps of half the bits: what
/// is between half of them and all are two halves that overlap. No element takes a branch.
class Piece {
public:
  Piece(Location loc, Value memory) : loc(loc), memory(memory) {}

  /// Elements behind the first `count` are 0.
  Value read(OpBuilder &b, unsigned bits, Value first, Value count) const {
    Type type = b.getIntegerType(bits);
    auto all = scf::IfOp::create(b, loc, type, IndexMath{b, loc}.atLeast(count, elements(b, bits)),
                                 /*withElseRegion=*/true);
    OpBuilder yes = all.getThenBodyBuilder(), no = all.getElseBodyBuilder();
    scf::YieldOp::create(yes, loc, whole(yes, bits, first));
    scf::YieldOp::create(no, loc, readPart(no, bits, first, count));
    return all.getResult(0);
  }

  void write(OpBuilder &b, unsigned bits, Value value, Value first, Value count) const {
    auto all = scf::IfOp::create(b, loc, IndexMath{b, loc}.atLeast(count, elements(b, bits)),
                                 /*withElseRegion=*/true);
    OpBuilder yes = all.getThenBodyBuilder(), no = all.getElseBodyBuilder();
    store(yes, bits, value, first);
    if (bits == elementBits())
      return;
    unsigned half = bits / 2;
    IndexMath m{no, loc};
    auto most = scf::IfOp::create(no, loc, m.atLeast(count, elements(no, half)),
                                  /*withElseRegion=*/true);
    OpBuilder two = most.getThenBodyBuilder(), one = most.getElseBodyBuilder();
    IndexMath n{two, loc};
    Value past = n.sub(count, elements(two, half));
    store(two, half, narrow(two, half, value), first);
    Value rest = arith::ShRUIOp::create(two, loc, value, distance(two, bits, past));
    store(two, half, narrow(two, half, rest), n.add(first, past));
    write(one, half, narrow(one, half, value), first, count);
  }

private:
  Value readPart(OpBuilder &b, unsigned bits, Value first, Value count) const {
    Type type = b.getIntegerType(bits);
    if (bits == elementBits())
      return arith::ConstantIntOp::create(b, loc, 0, bits);
    unsigned half = bits / 2;
    auto most = scf::IfOp::create(b, loc, type, IndexMath{b, loc}.atLeast(count, elements(b, half)),
                                  /*withElseRegion=*/true);
    OpBuilder two = most.getThenBodyBuilder(), one = most.getElseBodyBuilder();
    IndexMath n{two, loc};
    Value past = n.sub(count, elements(two, half));
    Value low = widen(two, bits, whole(two, half, first));
    Value high = widen(two, bits, whole(two, half, n.add(first, past)));
    high = arith::ShLIOp::create(two, loc, high, distance(two, bits, past));
    scf::YieldOp::create(two, loc, arith::OrIOp::create(two, loc, low, high).getResult());
    Value few = half == elementBits() ? arith::ConstantIntOp::create(one, loc, 0, bits).getResult()
                                      : widen(one, bits, readPart(one, half, first, count));
    scf::YieldOp::create(one, loc, few);
    return most.getResult(0);
  }

  Type element() const { return cast<MemRefType>(memory.getType()).getElementType(); }
  unsigned elementBits() const { return element().getIntOrFloatBitWidth(); }
  Value elements(OpBuilder &b, unsigned bits) const {
    return IndexMath{b, loc}(bits / elementBits());
  }
  VectorType lanes(unsigned bits) const {
    return VectorType::get({bits / elementBits()}, element());
  }
  Value distance(OpBuilder &b, unsigned bits, Value past) const {
    Value wide = IndexMath{b, loc}.mul(past, static_cast<int64_t>(elementBits()));
    return arith::IndexCastOp::create(b, loc, b.getIntegerType(bits), wide);
  }
  Value widen(OpBuilder &b, unsigned bits, Value value) const {
    return arith::ExtUIOp::create(b, loc, b.getIntegerType(bits), value);
  }
  Value narrow(OpBuilder &b, unsigned bits, Value value) const {
    return arith::TruncIOp::create(b, loc, b.getIntegerType(bits), value);
  }
  Value whole(OpBuilder &b, unsigned bits, Value first) const {
    Value some = vector::LoadOp::create(b, loc, lanes(bits), memory, first);
    auto one = VectorType::get({1}, b.getIntegerType(bits));
    return vector::ExtractOp::create(b, loc, vector::BitCastOp::create(b, loc, one, some), 0);
  }
  void store(OpBuilder &b, unsigned bits, Value value, Value first) const {
    Value one = vector::BroadcastOp::create(b, loc, VectorType::get({1}, value.getType()), value);
    Value some = vector::BitCastOp::create(b, loc, lanes(bits), one);
    vector::StoreOp::create(b, loc, some, memory, first);
  }

  Location loc;
  Value memory;
};

/// The bodies of the two functions, for memory from `first` on of which `count` elements are there.
class Body {
public:
  Body(OpBuilder &b, Location loc, VectorType type, ValueRange arguments)
      : b(b), loc(loc), type(type), memory(arguments[0]), first(arguments[1]), count(arguments[2]),
        value(arguments.size() > 3 ? arguments[3] : Value()),
        bits(type.getNumElements() * type.getElementTypeBitWidth()),
        each(kPieceBits / type.getElementTypeBitWidth()) {}

  void load() {
    Value most = IndexMath{b, loc}(type.getNumElements());
    auto all = scf::IfOp::create(b, loc, type, IndexMath{b, loc}.atLeast(count, most),
                                 /*withElseRegion=*/true);
    OpBuilder yes = all.getThenBodyBuilder(), no = all.getElseBodyBuilder();
    Value whole = vector::LoadOp::create(yes, loc, type, memory, first);
    scf::YieldOp::create(yes, loc, whole);
    scf::YieldOp::create(no, loc, bits <= 2 * kPieceBits ? inRegisters(no) : byStack(no));
    func::ReturnOp::create(b, loc, all.getResults());
  }

  void store() {
    Value most = IndexMath{b, loc}(type.getNumElements());
    auto all = scf::IfOp::create(b, loc, IndexMath{b, loc}.atLeast(count, most),
                                 /*withElseRegion=*/true);
    OpBuilder yes = all.getThenBodyBuilder(), no = all.getElseBodyBuilder();
    vector::StoreOp::create(yes, loc, value, memory, first);
    if (bits <= 2 * kPieceBits)
      storeRegisters(no);
    else
      storeStack(no);
    func::ReturnOp::create(b, loc);
  }

private:
  static constexpr unsigned kPieceBits = 64;

  /// One integer, or two.
  Value inRegisters(OpBuilder &c) {
    Piece piece(loc, memory);
    IndexMath m{c, loc};
    unsigned one = std::min(bits, kPieceBits);
    SmallVector<Value> pieces = {piece.read(c, one, first, count)};
    if (bits > one)
      pieces.push_back(piece.read(c, one, m.add(first, each), m.sub(count, m(each))));
    auto integers = VectorType::get({static_cast<int64_t>(pieces.size())}, c.getIntegerType(one));
    Value both = vector::FromElementsOp::create(c, loc, integers, pieces);
    return vector::BitCastOp::create(c, loc, type, both);
  }

  void storeRegisters(OpBuilder &c) {
    Piece piece(loc, memory);
    IndexMath m{c, loc};
    unsigned one = std::min(bits, kPieceBits);
    auto integers = VectorType::get({bits / one}, c.getIntegerType(one));
    Value both = vector::BitCastOp::create(c, loc, integers, value);
    piece.write(c, one, vector::ExtractOp::create(c, loc, both, 0), first, count);
    if (bits > one)
      piece.write(c, one, vector::ExtractOp::create(c, loc, both, 1), m.add(first, each),
                  m.sub(count, m(each)));
  }

  Value kept() {
    OpBuilder entry = OpBuilder::atBlockBegin(b.getInsertionBlock());
    return memref::AllocaOp::create(entry, loc,
                                    MemRefType::get(type.getShape(), type.getElementType()),
                                    entry.getI64IntegerAttr(bits / 8));
  }

  /// Whole pieces of the first elements, then what is left of one.
  void copy(OpBuilder &c, Value from, Value fromFirst, Value to, Value toFirst) {
    IndexMath m{c, loc};
    Value some = m.max(count, 0), whole = m.mul(m.div(some, each), each);
    auto pieces = scf::ForOp::create(c, loc, m(0), whole, m(each));
    OpBuilder d = OpBuilder::atBlockBegin(pieces.getBody());
    IndexMath n{d, loc};
    Value i = pieces.getInductionVar();
    Value piece = vector::LoadOp::create(d, loc, VectorType::get({each}, type.getElementType()),
                                         from, n.add(fromFirst, i));
    vector::StoreOp::create(d, loc, piece, to, n.add(toFirst, i));
    Value left = m.sub(some, whole);
    Value rest = Piece(loc, from).read(c, kPieceBits, m.add(fromFirst, whole), left);
    Piece(loc, to).write(c, kPieceBits, rest, m.add(toFirst, whole), left);
  }

  Value byStack(OpBuilder &c) {
    IndexMath m{c, loc};
    Value memoryHere = kept();
    Value zero = arith::ConstantOp::create(c, loc, c.getZeroAttr(type));
    vector::StoreOp::create(c, loc, zero, memoryHere, m(0));
    copy(c, memory, first, memoryHere, m(0));
    return vector::LoadOp::create(c, loc, type, memoryHere, m(0));
  }

  void storeStack(OpBuilder &c) {
    IndexMath m{c, loc};
    Value memoryHere = kept();
    vector::StoreOp::create(c, loc, value, memoryHere, m(0));
    copy(c, memoryHere, m(0), memory, first);
  }

  OpBuilder &b;
  Location loc;
  VectorType type;
  Value memory, first, count, value;
  unsigned bits;
  int64_t each; ///< elements of a piece
};

struct OutlineMasks : pass::impl::OutlineMasksBase<OutlineMasks> {
  using OutlineMasksBase::OutlineMasksBase;

  void runOnOperation() override {
    loads.clear();
    stores.clear();
    made = 0;
    SmallVector<Operation *> found;
    getOperation().walk([&](Operation *op) {
      if (isa<vector::MaskedLoadOp, vector::MaskedStoreOp>(op))
        found.push_back(op);
    });
    for (Operation *op : found)
      if (std::optional<FirstLanes> lanes = firstLanes(op))
        call(op, *lanes);
  }

  void call(Operation *op, const FirstLanes &lanes) {
    OpBuilder b(op);
    SmallVector<Value> operands = {lanes.buffer, lanes.first, lanes.count};
    if (lanes.stored)
      operands.push_back(lanes.stored);
    auto made = func::CallOp::create(b, op->getLoc(), functionOf(op, lanes), operands);
    op->replaceAllUsesWith(made.getResults());
    op->erase();
  }

  func::FuncOp functionOf(Operation *op, const FirstLanes &lanes) {
    func::FuncOp &function = (lanes.stored ? stores : loads)[{lanes.type, lanes.memory}];
    if (function)
      return function;
    OpBuilder b = OpBuilder::atBlockEnd(getOperation().getBody());
    std::string name;
    do {
      name = ((lanes.stored ? "store_first_" : "load_first_") + Twine(made++)).str();
    } while (getOperation().lookupSymbol(name)); // kernels are called after the user's function
    SmallVector<Type> inputs = {lanes.memory, b.getIndexType(), b.getIndexType()}, results;
    (lanes.stored ? inputs : results).push_back(lanes.type);
    function = func::FuncOp::create(b, op->getLoc(), name, b.getFunctionType(inputs, results));
    function.setPrivate();
    Block *body = function.addEntryBlock();
    b.setInsertionPointToStart(body);
    Body own(b, op->getLoc(), lanes.type, body->getArguments());
    lanes.stored ? own.store() : own.load();
    return function;
  }

  llvm::DenseMap<std::pair<Type, Type>, func::FuncOp> loads, stores;
  unsigned made = 0;
};

} // namespace
