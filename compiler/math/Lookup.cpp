#include "compiler/math/Lookup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace graphc::math;

namespace {

/// Rows of a table that one load reads.
constexpr int64_t kTogether = 2;

class Finder {
public:
  Finder(OpBuilder &ops, Location loc, ArrayRef<float> rows) : ops(ops), loc(loc), rows(rows) {}

  /// A register of indices at a time; the last may be filled up with any.
  SmallVector<Value> permuted(Value index, bool sixteen);
  SmallVector<Value> loaded(Value index);

private:
  size_t count() const { return rows.size() / kLookupEntries; }
  Value integers(int64_t lanes, int32_t value) {
    auto type = VectorType::get({lanes}, ops.getI32Type());
    return arith::ConstantOp::create(ops, loc, DenseElementsAttr::get(type, value));
  }
  Value floats(ArrayRef<float> values) {
    auto type = VectorType::get({static_cast<int64_t>(values.size())}, ops.getF32Type());
    return arith::ConstantOp::create(ops, loc, DenseElementsAttr::get(type, values));
  }
  Value intrinsic(StringRef name, Type type, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(ops, loc, type, ops.getStringAttr(name), operands)
        .getResult(0);
  }
  Value permute16(size_t row, Value index);
  Value permute8(size_t row, Value index, Value upper);
  Value slice(Value vector, int64_t from, int64_t lanes);
  SmallVector<Value> ofLane(Value table, Value index);

  OpBuilder &ops;
  Location loc;
  ArrayRef<float> rows;
};

Value Finder::permute16(size_t row, Value index) {
  Value table = floats(rows.slice(row * kLookupEntries, kLookupEntries));
  return intrinsic("llvm.x86.avx512.permvar.sf.512", table.getType(), {table, index});
}

Value Finder::permute8(size_t row, Value index, Value upper) {
  constexpr int64_t kHalf = kLookupEntries / 2;
  auto half = [&](int64_t from) {
    Value table = floats(rows.slice(row * kLookupEntries + from, kHalf));
    return intrinsic("llvm.x86.avx2.permps", table.getType(), {table, index});
  };
  Value low = half(0), high = half(kHalf);
  return arith::SelectOp::create(ops, loc, upper, high, low);
}

/// Lanes from `from` on, the first one again for what is beyond the end.
Value Finder::slice(Value vector, int64_t from, int64_t lanes) {
  int64_t all = cast<VectorType>(vector.getType()).getNumElements();
  if (all == lanes)
    return vector;
  SmallVector<int64_t> chosen;
  for (int64_t lane = from; lane < from + lanes; ++lane)
    chosen.push_back(lane < all ? lane : from);
  return vector::ShuffleOp::create(ops, loc, vector, vector, chosen);
}

SmallVector<Value> Finder::permuted(Value index, bool sixteen) {
  int64_t each = sixteen ? kLookupEntries : kLookupEntries / 2;
  auto type = dyn_cast<VectorType>(index.getType());
  Value indices =
      type ? index
           : vector::BroadcastOp::create(ops, loc, VectorType::get({1}, ops.getI32Type()), index);
  int64_t lanes = type ? type.getNumElements() : 1;
  auto whole = VectorType::get({lanes}, ops.getF32Type());
  SmallVector<Value> found(count());
  for (int64_t from = 0; from < lanes; from += each) {
    Value part = slice(indices, from, each), upper;
    if (!sixteen) // the sign decides, by which lanes are blended
      upper = arith::CmpIOp::create(ops, loc, arith::CmpIPredicate::slt,
                                    arith::ShLIOp::create(ops, loc, part, integers(each, 28)),
                                    integers(each, 0));
    int64_t here = std::min(each, lanes - from);
    for (auto [row, value] : llvm::enumerate(found)) {
      Value made = sixteen ? permute16(row, part) : permute8(row, part, upper);
      made = slice(made, 0, here);
      if (here < lanes && !value)
        value = arith::ConstantOp::create(ops, loc, ops.getZeroAttr(whole));
      value = here == lanes
                  ? made
                  : Value(vector::InsertStridedSliceOp::create(ops, loc, made, value, from, 1));
    }
  }
  if (!type)
    for (Value &value : found)
      value = vector::ExtractOp::create(ops, loc, value, 0);
  return found;
}

SmallVector<Value> Finder::ofLane(Value table, Value index) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(ops, loc, ops.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  Value entry = arith::AndIOp::create(ops, loc, index, number(kLookupEntries - 1));
  SmallVector<Value> found;
  while (found.size() < count()) {
    size_t row = found.size();
    auto first = static_cast<int64_t>(row / kTogether * kLookupEntries);
    Value at = first ? Value(arith::OrIOp::create(ops, loc, entry, number(first))) : entry;
    at = arith::IndexCastOp::create(ops, loc, ops.getIndexType(), at);
    Value both = vector::ExtractOp::create(ops, loc, table, OpFoldResult(at));
    for (int64_t i = 0; i < kTogether && found.size() < count(); ++i)
      found.push_back(vector::ExtractOp::create(ops, loc, both, i));
  }
  return found;
}

/// Floats of two rows stand together: half of NVIDIA's warp reads sixteen pairs of 8 bytes without
/// a conflict of banks, of four floats it would not.
SmallVector<Value> Finder::loaded(Value index) {
  auto groups = static_cast<int64_t>(llvm::divideCeil(count(), kTogether));
  SmallVector<float> turned(static_cast<size_t>(groups * kLookupEntries * kTogether));
  for (size_t row = 0; row < count(); ++row)
    for (int64_t entry = 0; entry < kLookupEntries; ++entry)
      turned[((row / kTogether) * kLookupEntries + entry) * kTogether + row % kTogether] =
          rows[row * kLookupEntries + entry];
  auto shape = VectorType::get({groups * kLookupEntries, kTogether}, ops.getF32Type());
  Value table =
      arith::ConstantOp::create(ops, loc, DenseElementsAttr::get(shape, ArrayRef<float>(turned)));
  auto type = dyn_cast<VectorType>(index.getType());
  if (!type)
    return ofLane(table, index);
  SmallVector<SmallVector<Value>> lanes(count());
  for (int64_t lane = 0; lane < type.getNumElements(); ++lane) {
    Value one = vector::ExtractOp::create(ops, loc, index, lane);
    for (auto [all, value] : llvm::zip_equal(lanes, ofLane(table, one)))
      all.push_back(value);
  }
  SmallVector<Value> found;
  for (ArrayRef<Value> all : lanes)
    found.push_back(vector::FromElementsOp::create(ops, loc, type.clone(ops.getF32Type()), all));
  return found;
}

} // namespace

SmallVector<Value> graphc::math::lookUp(OpBuilder &ops, Location loc, Lookup how,
                                        ArrayRef<float> rows, Value index) {
  Finder finder(ops, loc, rows);
  return how == Lookup::kMemory ? finder.loaded(index)
                                : finder.permuted(index, how == Lookup::kPermute16);
}

bool graphc::math::isTableRead(Operation *op) {
  auto extract = dyn_cast<vector::ExtractOp>(op);
  return extract && extract.hasDynamicPosition() &&
         extract.getSource().getDefiningOp<arith::ConstantOp>();
}

bool graphc::math::isTable(Operation *op) {
  return isa<arith::ConstantOp>(op) && llvm::any_of(op->getUsers(), isTableRead);
}
