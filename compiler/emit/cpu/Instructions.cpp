#include "compiler/emit/cpu/Instructions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/IR/Intrinsics.h"

#include <bit>
#include <numeric>

using namespace mlir;
using namespace graphc;
using namespace graphc::emit;
using llvm::CmpInst;
using Opcode = llvm::Instruction;

namespace {

using Build = llvm::Value *(*)(Instruction &);

llvm::Constant *scalarConstant(Attribute attribute, llvm::Type *type) {
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return llvm::ConstantInt::get(type, number.getValue().sextOrTrunc(type->getIntegerBitWidth()));
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return llvm::ConstantFP::get(type, number.getValue());
  return nullptr;
}

llvm::Value *constant(Instruction &i) {
  Attribute value = cast<arith::ConstantOp>(i.op).getValue();
  auto elements = dyn_cast<DenseElementsAttr>(value);
  if (!elements)
    return scalarConstant(value, i.type);
  auto type = cast<llvm::FixedVectorType>(i.type);
  auto lane = [&](Attribute element) { return scalarConstant(element, type->getElementType()); };
  if (elements.isSplat())
    return llvm::ConstantVector::getSplat(type->getElementCount(),
                                          lane(elements.getSplatValue<Attribute>()));
  SmallVector<llvm::Constant *> lanes;
  for (Attribute element : elements.getValues<Attribute>())
    lanes.push_back(lane(element));
  return llvm::ConstantVector::get(lanes);
}

template <Opcode::BinaryOps code>
llvm::Value *binary(Instruction &i) {
  return i.b.CreateBinOp(code, i.x[0], i.x[1]);
}

template <Opcode::CastOps code>
llvm::Value *convert(Instruction &i) {
  return i.b.CreateCast(code, i.x[0], i.type);
}

/// Of an index, which has 64 bits, or to one.
template <bool isSigned>
llvm::Value *indexCast(Instruction &i) {
  return i.b.CreateIntCast(i.x[0], i.type, isSigned);
}

template <llvm::Intrinsic::ID id>
llvm::Value *intrinsic(Instruction &i) {
  return i.b.CreateIntrinsic(i.type, id, i.x);
}

/// Zeros counted in 0 are its bits.
template <llvm::Intrinsic::ID id>
llvm::Value *countZeros(Instruction &i) {
  return i.b.CreateIntrinsic(i.type, id, {i.x[0], i.b.getFalse()});
}

llvm::Value *ceilDivideUnsigned(Instruction &i) {
  llvm::Value *one = llvm::ConstantInt::get(i.type, 1);
  llvm::Value *zero = llvm::ConstantInt::get(i.type, 0);
  llvm::Value *isZero = i.b.CreateICmpEQ(i.x[0], zero);
  llvm::Value *above = i.b.CreateAdd(i.b.CreateUDiv(i.b.CreateSub(i.x[0], one), i.x[1]), one);
  return i.b.CreateSelect(isZero, zero, above);
}

llvm::Value *compareIntegers(Instruction &i) {
  auto predicate = [&] {
    switch (cast<arith::CmpIOp>(i.op).getPredicate()) {
    case arith::CmpIPredicate::eq:
      return CmpInst::ICMP_EQ;
    case arith::CmpIPredicate::ne:
      return CmpInst::ICMP_NE;
    case arith::CmpIPredicate::slt:
      return CmpInst::ICMP_SLT;
    case arith::CmpIPredicate::sle:
      return CmpInst::ICMP_SLE;
    case arith::CmpIPredicate::sgt:
      return CmpInst::ICMP_SGT;
    case arith::CmpIPredicate::sge:
      return CmpInst::ICMP_SGE;
    case arith::CmpIPredicate::ult:
      return CmpInst::ICMP_ULT;
    case arith::CmpIPredicate::ule:
      return CmpInst::ICMP_ULE;
    case arith::CmpIPredicate::ugt:
      return CmpInst::ICMP_UGT;
    case arith::CmpIPredicate::uge:
      return CmpInst::ICMP_UGE;
    }
    llvm_unreachable("every predicate is above");
  };
  return i.b.CreateICmp(predicate(), i.x[0], i.x[1]);
}

llvm::Value *compareFloats(Instruction &i) {
  auto predicate = [&] {
    switch (cast<arith::CmpFOp>(i.op).getPredicate()) {
    case arith::CmpFPredicate::AlwaysFalse:
      return CmpInst::FCMP_FALSE;
    case arith::CmpFPredicate::OEQ:
      return CmpInst::FCMP_OEQ;
    case arith::CmpFPredicate::OGT:
      return CmpInst::FCMP_OGT;
    case arith::CmpFPredicate::OGE:
      return CmpInst::FCMP_OGE;
    case arith::CmpFPredicate::OLT:
      return CmpInst::FCMP_OLT;
    case arith::CmpFPredicate::OLE:
      return CmpInst::FCMP_OLE;
    case arith::CmpFPredicate::ONE:
      return CmpInst::FCMP_ONE;
    case arith::CmpFPredicate::ORD:
      return CmpInst::FCMP_ORD;
    case arith::CmpFPredicate::UEQ:
      return CmpInst::FCMP_UEQ;
    case arith::CmpFPredicate::UGT:
      return CmpInst::FCMP_UGT;
    case arith::CmpFPredicate::UGE:
      return CmpInst::FCMP_UGE;
    case arith::CmpFPredicate::ULT:
      return CmpInst::FCMP_ULT;
    case arith::CmpFPredicate::ULE:
      return CmpInst::FCMP_ULE;
    case arith::CmpFPredicate::UNE:
      return CmpInst::FCMP_UNE;
    case arith::CmpFPredicate::UNO:
      return CmpInst::FCMP_UNO;
    case arith::CmpFPredicate::AlwaysTrue:
      return CmpInst::FCMP_TRUE;
    }
    llvm_unreachable("every predicate is above");
  };
  return i.b.CreateFCmp(predicate(), i.x[0], i.x[1]);
}

unsigned lanesOf(llvm::Type *type) { return cast<llvm::FixedVectorType>(type)->getNumElements(); }

/// `x` in the lanes of a vector, the first ones; the others are poison.
llvm::Value *widen(llvm::IRBuilderBase &b, llvm::Value *x, unsigned lanes) {
  if (lanesOf(x->getType()) == lanes)
    return x;
  SmallVector<int> order(lanes, -1);
  std::iota(order.begin(), order.begin() + lanesOf(x->getType()), 0);
  return b.CreateShuffleVector(x, order);
}

llvm::Value *broadcast(Instruction &i) {
  unsigned lanes = lanesOf(i.type);
  if (!i.x[0]->getType()->isVectorTy())
    return i.b.CreateVectorSplat(lanes, i.x[0]);
  if (lanesOf(i.x[0]->getType()) == lanes)
    return i.x[0];
  return i.b.CreateShuffleVector(i.x[0], SmallVector<int>(lanes, 0));
}

/// The lanes whose numbers, which are 32 bits wide, are below a bound.
llvm::Value *createMask(Instruction &i) {
  unsigned lanes = lanesOf(i.type);
  SmallVector<uint32_t> numbers(lanes);
  std::iota(numbers.begin(), numbers.end(), 0);
  llvm::Value *bound = i.b.CreateVectorSplat(lanes, i.b.CreateTrunc(i.x[0], i.b.getInt32Ty()));
  return i.b.CreateICmpSLT(llvm::ConstantDataVector::get(i.b.getContext(), numbers), bound);
}

llvm::Value *constantMask(Instruction &i) {
  int64_t set = cast<vector::ConstantMaskOp>(i.op).getMaskDimSizes().front();
  SmallVector<llvm::Constant *> lanes;
  for (int64_t lane = 0; lane < lanesOf(i.type); ++lane)
    lanes.push_back(i.b.getInt1(lane < set));
  return llvm::ConstantVector::get(lanes);
}

/// The only index of a lane; null for other positions.
llvm::Value *lane(Instruction &i, ArrayRef<OpFoldResult> position, llvm::Value *dynamic) {
  if (position.size() != 1)
    return nullptr;
  if (auto number = dyn_cast<Attribute>(position.front()))
    return i.b.getInt64(cast<IntegerAttr>(number).getInt());
  return dynamic;
}

llvm::Value *extract(Instruction &i) {
  llvm::Value *at = lane(i, cast<vector::ExtractOp>(i.op).getMixedPosition(), i.x.back());
  return at ? i.b.CreateExtractElement(i.x[0], at) : nullptr;
}

llvm::Value *insert(Instruction &i) {
  llvm::Value *at = lane(i, cast<vector::InsertOp>(i.op).getMixedPosition(), i.x.back());
  return at ? i.b.CreateInsertElement(i.x[1], i.x[0], at) : nullptr;
}

llvm::Value *extractSlice(Instruction &i) {
  auto offsets = cast<vector::ExtractStridedSliceOp>(i.op).getOffsets();
  SmallVector<int> order(lanesOf(i.type));
  std::iota(order.begin(), order.end(), cast<IntegerAttr>(offsets[0]).getInt());
  return i.b.CreateShuffleVector(i.x[0], order);
}

llvm::Value *insertSlice(Instruction &i) {
  auto offsets = cast<vector::InsertStridedSliceOp>(i.op).getOffsets();
  int from = cast<IntegerAttr>(offsets[0]).getInt(), lanes = lanesOf(i.type);
  int count = lanesOf(i.x[0]->getType());
  SmallVector<int> order(lanes);
  for (int lane = 0; lane < lanes; ++lane)
    order[lane] = lane >= from && lane < from + count ? lanes + lane - from : lane;
  return i.b.CreateShuffleVector(i.x[1], widen(i.b, i.x[0], lanes), order);
}

llvm::Value *shuffle(Instruction &i) {
  int first = lanesOf(i.x[0]->getType()), second = lanesOf(i.x[1]->getType());
  int lanes = std::max(first, second);
  SmallVector<int> order;
  for (int64_t lane : cast<vector::ShuffleOp>(i.op).getMask())
    order.push_back(lane < first ? lane : lane + lanes - first);
  return i.b.CreateShuffleVector(widen(i.b, i.x[0], lanes), widen(i.b, i.x[1], lanes), order);
}

llvm::Value *fromElements(Instruction &i) {
  llvm::Value *all = llvm::PoisonValue::get(i.type);
  for (auto [lane, element] : llvm::enumerate(i.x))
    all = i.b.CreateInsertElement(all, element, lane);
  return all;
}

/// Of integers, whose order does not matter.
llvm::Value *reduce(Instruction &i) {
  auto op = cast<vector::ReductionOp>(i.op);
  if (op.getAcc())
    return nullptr;
  switch (op.getKind()) {
  case vector::CombiningKind::ADD:
    return i.type->isIntegerTy() ? i.b.CreateAddReduce(i.x[0]) : nullptr;
  case vector::CombiningKind::MUL:
    return i.type->isIntegerTy() ? i.b.CreateMulReduce(i.x[0]) : nullptr;
  case vector::CombiningKind::AND:
    return i.b.CreateAndReduce(i.x[0]);
  case vector::CombiningKind::OR:
    return i.b.CreateOrReduce(i.x[0]);
  case vector::CombiningKind::XOR:
    return i.b.CreateXorReduce(i.x[0]);
  case vector::CombiningKind::MINSI:
  case vector::CombiningKind::MINUI:
    return i.b.CreateIntMinReduce(i.x[0], op.getKind() == vector::CombiningKind::MINSI);
  case vector::CombiningKind::MAXSI:
  case vector::CombiningKind::MAXUI:
    return i.b.CreateIntMaxReduce(i.x[0], op.getKind() == vector::CombiningKind::MAXSI);
  default:
    return nullptr;
  }
}

/// What may lie outside of its buffer in part, or in lanes that are not read, promises nothing.
llvm::Value *address(Instruction &i, llvm::Type *element, llvm::Value *buffer, llvm::Value *at) {
  bool within = isa<memref::LoadOp, memref::StoreOp>(i.op);
  return i.b.CreateGEP(element, buffer, at, "",
                       within ? llvm::GEPNoWrapFlags::inBounds() |
                                    llvm::GEPNoWrapFlags::noUnsignedWrap()
                              : llvm::GEPNoWrapFlags::none());
}

/// What the operation promises, else an element's own.
template <class Op>
llvm::Align alignment(Op op, llvm::Type *element) {
  if (auto promised =
          op->template getAttrOfType<IntegerAttr>(Op::getAlignmentAttrName(op->getName())))
    return llvm::Align(promised.getInt());
  return llvm::Align(std::bit_ceil(element->getPrimitiveSizeInBits().getFixedValue() / 8));
}

/// Past the caches, or as it stands where several threads tell each other.
template <class Op>
void mark(Op op, llvm::Instruction *access, llvm::IRBuilderBase &b) {
  if (op.getNontemporal())
    access->setMetadata(
        llvm::LLVMContext::MD_nontemporal,
        llvm::MDNode::get(b.getContext(), llvm::ConstantAsMetadata::get(b.getInt32(1))));
  if (!op->hasAttr("graphc.volatile"))
    return;
  if (auto load = dyn_cast<llvm::LoadInst>(access))
    load->setVolatile(true);
  else
    cast<llvm::StoreInst>(access)->setVolatile(true);
}

template <class Op>
llvm::Value *load(Instruction &i) {
  auto op = cast<Op>(i.op);
  llvm::Type *element = i.type->getScalarType();
  auto made =
      i.b.CreateAlignedLoad(i.type, address(i, element, i.x[0], i.x[1]), alignment(op, element));
  mark(op, made, i.b);
  return made;
}

template <class Op>
llvm::Value *store(Instruction &i) {
  auto op = cast<Op>(i.op);
  llvm::Type *element = i.x[0]->getType()->getScalarType();
  auto made =
      i.b.CreateAlignedStore(i.x[0], address(i, element, i.x[1], i.x[2]), alignment(op, element));
  mark(op, made, i.b);
  return made;
}

llvm::Value *maskedLoad(Instruction &i) {
  llvm::Type *element = i.type->getScalarType();
  llvm::Value *from = address(i, element, i.x[0], i.x[1]);
  return i.b.CreateMaskedLoad(i.type, from, alignment(cast<vector::MaskedLoadOp>(i.op), element),
                              i.x[2], i.x[3]);
}

llvm::Value *maskedStore(Instruction &i) {
  llvm::Type *element = i.x[3]->getType()->getScalarType();
  llvm::Value *to = address(i, element, i.x[0], i.x[1]);
  return i.b.CreateMaskedStore(i.x[3], to, alignment(cast<vector::MaskedStoreOp>(i.op), element),
                               i.x[2]);
}

llvm::Value *gather(Instruction &i) {
  llvm::Type *element = i.type->getScalarType();
  llvm::Value *from = address(i, element, address(i, element, i.x[0], i.x[1]), i.x[2]);
  return i.b.CreateMaskedGather(i.type, from, alignment(cast<vector::GatherOp>(i.op), element),
                                i.x[3], i.x[4]);
}

llvm::Value *prefetch(Instruction &i) {
  auto op = cast<memref::PrefetchOp>(i.op);
  llvm::Type *element = llvmType(op.getMemRefType().getElementType(), i.b.getContext());
  return i.b.CreateIntrinsic(llvm::Intrinsic::prefetch, {i.x[0]->getType()},
                             {address(i, element, i.x[0], i.x[1]), i.b.getInt32(op.getIsWrite()),
                              i.b.getInt32(op.getLocalityHint()),
                              i.b.getInt32(op.getIsDataCache())});
}

/// One of LLVM's by its full name.
llvm::Value *named(Instruction &i) {
  auto op = cast<LLVM::CallIntrinsicOp>(i.op);
  llvm::Intrinsic::ID id = llvm::Intrinsic::lookupIntrinsicID(op.getIntrin());
  SmallVector<llvm::Type *> types, overloads;
  for (llvm::Value *operand : i.x)
    types.push_back(operand->getType());
  auto *type = llvm::FunctionType::get(i.type ? i.type : i.b.getVoidTy(), types, false);
  if (id == llvm::Intrinsic::not_intrinsic ||
      !llvm::Intrinsic::getIntrinsicSignature(id, type, overloads))
    return nullptr;
  llvm::Module *module = i.b.GetInsertBlock()->getModule();
  return i.b.CreateCall(llvm::Intrinsic::getOrInsertDeclaration(module, id, overloads), i.x);
}

/// A function of no arguments at an address.
llvm::Value *callAddress(Instruction &i) {
  if (i.x.size() != 1 || cast<LLVM::CallOp>(i.op).getCallee())
    return nullptr;
  return i.b.CreateCall(llvm::FunctionType::get(i.b.getVoidTy(), false), i.x[0]);
}

/// By the operation's class.
class Table {
public:
  static const Table &get() {
    static const Table *table = new Table; // never destroyed: exit may come while a thread compiles
    return *table;
  }
  Build find(Operation *op) const { return builds.lookup(op->getName().getTypeID()); }

private:
  Table() {
    addIntegers();
    addFloats();
    addVectors();
    addMemory();
  }
  template <class Op>
  void on(Build build) {
    builds[TypeID::get<Op>()] = build;
  }

  void addIntegers() {
    on<arith::ConstantOp>(constant);
    on<arith::AddIOp>(binary<Opcode::Add>);
    on<arith::SubIOp>(binary<Opcode::Sub>);
    on<arith::MulIOp>(binary<Opcode::Mul>);
    on<arith::DivSIOp>(binary<Opcode::SDiv>);
    on<arith::DivUIOp>(binary<Opcode::UDiv>);
    on<arith::RemSIOp>(binary<Opcode::SRem>);
    on<arith::RemUIOp>(binary<Opcode::URem>);
    on<arith::CeilDivUIOp>(ceilDivideUnsigned);
    on<arith::AndIOp>(binary<Opcode::And>);
    on<arith::OrIOp>(binary<Opcode::Or>);
    on<arith::XOrIOp>(binary<Opcode::Xor>);
    on<arith::ShLIOp>(binary<Opcode::Shl>);
    on<arith::ShRSIOp>(binary<Opcode::AShr>);
    on<arith::ShRUIOp>(binary<Opcode::LShr>);
    on<arith::MinSIOp>(intrinsic<llvm::Intrinsic::smin>);
    on<arith::MaxSIOp>(intrinsic<llvm::Intrinsic::smax>);
    on<arith::MinUIOp>(intrinsic<llvm::Intrinsic::umin>);
    on<arith::MaxUIOp>(intrinsic<llvm::Intrinsic::umax>);
    on<arith::ExtSIOp>(convert<Opcode::SExt>);
    on<arith::ExtUIOp>(convert<Opcode::ZExt>);
    on<arith::TruncIOp>(convert<Opcode::Trunc>);
    on<arith::IndexCastOp>(indexCast<true>);
    on<arith::IndexCastUIOp>(indexCast<false>);
    on<arith::CmpIOp>(compareIntegers);
    on<arith::SelectOp>([](Instruction &i) { return i.b.CreateSelect(i.x[0], i.x[1], i.x[2]); });
    on<math::CountLeadingZerosOp>(countZeros<llvm::Intrinsic::ctlz>);
    on<math::CountTrailingZerosOp>(countZeros<llvm::Intrinsic::cttz>);
    on<math::CtPopOp>(intrinsic<llvm::Intrinsic::ctpop>);
    on<LLVM::BitReverseOp>(intrinsic<llvm::Intrinsic::bitreverse>);
    on<LLVM::CallIntrinsicOp>(named);
    on<LLVM::CallOp>(callAddress);
    on<LLVM::IntToPtrOp>(convert<Opcode::IntToPtr>);
    on<ub::PoisonOp>(
        [](Instruction &i) -> llvm::Value * { return llvm::PoisonValue::get(i.type); });
  }

  void addFloats() {
    on<arith::AddFOp>(binary<Opcode::FAdd>);
    on<arith::SubFOp>(binary<Opcode::FSub>);
    on<arith::MulFOp>(binary<Opcode::FMul>);
    on<arith::DivFOp>(binary<Opcode::FDiv>);
    on<arith::RemFOp>(binary<Opcode::FRem>);
    on<arith::NegFOp>([](Instruction &i) { return i.b.CreateFNeg(i.x[0]); });
    on<arith::CmpFOp>(compareFloats);
    on<arith::MinimumFOp>(intrinsic<llvm::Intrinsic::minimum>);
    on<arith::MaximumFOp>(intrinsic<llvm::Intrinsic::maximum>);
    on<arith::MinNumFOp>(intrinsic<llvm::Intrinsic::minnum>);
    on<arith::MaxNumFOp>(intrinsic<llvm::Intrinsic::maxnum>);
    on<arith::ExtFOp>(convert<Opcode::FPExt>);
    on<arith::TruncFOp>(convert<Opcode::FPTrunc>);
    on<arith::SIToFPOp>(convert<Opcode::SIToFP>);
    on<arith::UIToFPOp>(convert<Opcode::UIToFP>);
    on<arith::FPToSIOp>(convert<Opcode::FPToSI>);
    on<arith::FPToUIOp>(convert<Opcode::FPToUI>);
    on<arith::BitcastOp>(convert<Opcode::BitCast>);
    on<math::AbsFOp>(intrinsic<llvm::Intrinsic::fabs>);
    on<math::CopySignOp>(intrinsic<llvm::Intrinsic::copysign>);
    on<math::FmaOp>(intrinsic<llvm::Intrinsic::fma>);
    on<math::SqrtOp>(intrinsic<llvm::Intrinsic::sqrt>);
    on<math::CeilOp>(intrinsic<llvm::Intrinsic::ceil>);
    on<math::FloorOp>(intrinsic<llvm::Intrinsic::floor>);
    on<math::TruncOp>(intrinsic<llvm::Intrinsic::trunc>);
    on<math::RoundEvenOp>(intrinsic<llvm::Intrinsic::roundeven>);
  }

  void addVectors() {
    on<vector::BitCastOp>(convert<Opcode::BitCast>);
    on<vector::BroadcastOp>(broadcast);
    on<vector::CreateMaskOp>(createMask);
    on<vector::ConstantMaskOp>(constantMask);
    on<vector::ExtractOp>(extract);
    on<vector::InsertOp>(insert);
    on<vector::ExtractStridedSliceOp>(extractSlice);
    on<vector::InsertStridedSliceOp>(insertSlice);
    on<vector::ShuffleOp>(shuffle);
    on<vector::FromElementsOp>(fromElements);
    on<vector::ReductionOp>(reduce);
  }

  void addMemory() {
    on<memref::LoadOp>(load<memref::LoadOp>);
    on<memref::StoreOp>(store<memref::StoreOp>);
    on<vector::LoadOp>(load<vector::LoadOp>);
    on<vector::StoreOp>(store<vector::StoreOp>);
    on<vector::MaskedLoadOp>(maskedLoad);
    on<vector::MaskedStoreOp>(maskedStore);
    on<vector::GatherOp>(gather);
    on<memref::PrefetchOp>(prefetch);
    on<memref::ExtractAlignedPointerAsIndexOp>(convert<Opcode::PtrToInt>);
    on<memref::ViewOp>(
        [](Instruction &i) { return i.b.CreateGEP(i.b.getInt8Ty(), i.x[0], i.x[1]); });
  }

  llvm::DenseMap<TypeID, Build> builds;
};

/// Operations that give nothing may be known and yet have no value.
bool isComplete(llvm::Value *made, llvm::Type *type) { return made || !type; }

} // namespace

llvm::Type *emit::llvmType(Type type, llvm::LLVMContext &context) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    llvm::Type *element = llvmType(vector.getElementType(), context);
    return element && vector.getRank() == 1 && !vector.isScalable()
               ? llvm::FixedVectorType::get(element, vector.getDimSize(0))
               : nullptr;
  }
  if (type.isIndex())
    return llvm::Type::getInt64Ty(context);
  if (auto integer = dyn_cast<IntegerType>(type))
    return llvm::Type::getIntNTy(context, integer.getWidth());
  if (type.isF32())
    return llvm::Type::getFloatTy(context);
  if (type.isF64())
    return llvm::Type::getDoubleTy(context);
  if (type.isF16())
    return llvm::Type::getHalfTy(context);
  if (type.isBF16())
    return llvm::Type::getBFloatTy(context);
  if (isa<MemRefType, LLVM::LLVMPointerType>(type))
    return llvm::PointerType::get(context, 0);
  return nullptr;
}

bool Instruction::build(llvm::Value *&result) {
  Build known = Table::get().find(op);
  if (!known)
    return false;
  result = known(*this);
  return isComplete(result, type);
}
