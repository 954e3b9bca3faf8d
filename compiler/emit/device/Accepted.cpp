#include "compiler/emit/device/Accepted.h"

#include "compiler/emit/device/BulkTile.h"
#include "compiler/emit/device/ChainTile.h"
#include "compiler/emit/device/TensorTile.h"
#include "compiler/math/Lookup.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::emit;

namespace {

/// Kinds of scalars, as bits.
enum Kind : unsigned {
  kMask = 1, // i1
  kInt = 2,  // i8 to i64, index
  kF32 = 4,
  kF64 = 8,
  kNone = 16, // anything else
};
constexpr unsigned kInts = kMask | kInt, kFloats = kF32 | kF64, kAll = kInts | kFloats;

/// In which languages the operands and results may be vectors.
enum Vectors { Scalar, InLlvm, Everywhere };

struct Row {
  const char *op;
  unsigned kinds; ///< of operands and results, memory by its elements
  Vectors vectors = InLlvm;
};

constexpr Row kRows[] = {
    // Structure
    {"func.func", kAll, Scalar},
    {"func.call", kAll, Scalar}, // of tiles
    {"func.return", kAll, Scalar},
    {"scf.for", kAll, Everywhere},
    {"scf.while", kAll, Everywhere},
    {"scf.if", kAll, Everywhere},
    {"scf.condition", kAll, Everywhere},
    {"scf.yield", kAll, Everywhere},
    // Work-items
    {"gpu.barrier", 0, Scalar},
    {"gpu.block_dim", kInt, Scalar},
    {"gpu.block_id", kInt, Scalar},
    {"gpu.global_id", kInt, Scalar},
    {"gpu.grid_dim", kInt, Scalar},
    {"gpu.thread_id", kInt, Scalar},
    // Memory
    {"memref.alloca", kInt | kFloats, Scalar},
    {"llvm.fence", 0, Scalar},
    {"memref.atomic_rmw", kInt, Scalar},
    {"memref.load", kInt | kFloats, Scalar},
    {"memref.store", kInt | kFloats, Scalar},
    {"vector.load", kInt | kFloats, Everywhere},
    {"vector.store", kInt | kFloats, Everywhere},
    // Vectors
    {"vector.broadcast", kAll, Everywhere},
    {"vector.extract", kAll, Everywhere},
    {"vector.from_elements", kAll, Everywhere},
    {"vector.insert", kAll, Everywhere},
    {"vector.shuffle", kAll, Everywhere},
    // Values
    {"arith.constant", kAll, Everywhere},
    {"arith.select", kAll, Everywhere},
    {"arith.cmpi", kInts, Everywhere},
    {"arith.cmpf", kMask | kFloats, Everywhere},
    {"ub.poison", kAll},
    // Integers
    {"arith.addi", kInts, Everywhere},
    {"arith.subi", kInts, Everywhere},
    {"arith.muli", kInts, Everywhere},
    {"arith.andi", kInts, Everywhere},
    {"arith.ori", kInts, Everywhere},
    {"arith.xori", kInts, Everywhere},
    {"arith.shli", kInt, Everywhere},
    {"arith.shrui", kInt, Everywhere},
    {"arith.shrsi", kInt, Everywhere},
    {"arith.divsi", kInt, Everywhere},
    {"arith.remsi", kInt, Everywhere},
    {"arith.divui", kInt, Everywhere},
    {"arith.remui", kInt, Everywhere},
    {"arith.ceildivsi", kInt, Scalar},
    {"arith.ceildivui", kInt, Scalar},
    {"arith.floordivsi", kInt, Scalar},
    {"arith.minsi", kInt, Everywhere},
    {"arith.maxsi", kInt, Everywhere},
    {"arith.minui", kInt, Everywhere},
    {"arith.maxui", kInt, Everywhere},
    // Floats. Not arith.maximumf and minimumf: LLVM's SPIR-V makes fmax and fmin of them, which
    // drop
    // a NaN.
    {"arith.addf", kFloats, Everywhere},
    {"arith.subf", kFloats, Everywhere},
    {"arith.mulf", kFloats, Everywhere},
    {"arith.divf", kFloats, Everywhere},
    {"arith.negf", kFloats, Everywhere},
    {"math.absf", kFloats, Everywhere},
    {"math.ceil", kFloats, Everywhere},
    {"math.copysign", kFloats, Everywhere},
    {"math.floor", kFloats, Everywhere},
    {"math.fma", kFloats, Everywhere},
    {"math.roundeven", kFloats, Everywhere},
    {"math.sqrt", kFloats, Everywhere},
    {"math.trunc", kFloats, Everywhere},
    {"llvm.call_intrinsic", kF32, Scalar}, // NVIDIA's (MlirBuilder)
    // Conversions
    {"arith.bitcast", kInt | kFloats, Everywhere},
    {"arith.extf", kFloats, Everywhere},
    {"arith.extsi", kInts, Everywhere},
    {"arith.extui", kInts, Everywhere},
    {"arith.fptosi", kInt | kFloats, Everywhere},
    {"arith.fptoui", kInt | kFloats, Everywhere},
    {"arith.index_cast", kInt, Scalar},
    {"arith.index_castui", kInt, Scalar},
    {"arith.sitofp", kInt | kFloats, Everywhere},
    {"arith.truncf", kFloats, Everywhere},
    {"arith.trunci", kInts, Everywhere},
    {"arith.uitofp", kInts | kFloats, Everywhere},
};

unsigned kindOf(Type type) {
  if (type.isInteger(1))
    return kMask;
  if (type.isIndex() || type.isInteger(8) || type.isInteger(16) || type.isInteger(32) ||
      type.isInteger(64))
    return kInt;
  return type.isF32() ? kF32 : type.isF64() ? kF64 : kNone;
}

bool fits(Type type, const Row &row, Language language) {
  if (auto memory = dyn_cast<MemRefType>(type))
    return memory.getRank() == 1 && memory.getLayout().isIdentity() &&
           fits(memory.getElementType(), {row.op, kInt | kFloats, Scalar}, language);
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return (kindOf(type) & row.kinds) != 0;
  bool allowed =
      row.vectors == Everywhere || (row.vectors == InLlvm && language != Language::OpenCLC);
  return allowed && vector.getRank() == 1 && !vector.isScalable() &&
         llvm::is_contained({2, 4, 8, 16}, vector.getNumElements()) &&
         (kindOf(vector.getElementType()) & row.kinds) != 0;
}

const Row *rowOf(StringRef op) {
  static const auto *rows = [] {
    auto *table = new llvm::StringMap<const Row *>;
    for (const Row &row : kRows)
      (*table)[row.op] = &row;
    return table;
  }();
  return rows->lookup(op);
}

/// What LLVM may make of the ops above: the second list by combining, which SPIR-V does without.
bool intrinsicFits(llvm::Intrinsic::ID id, Language language) {
  using namespace llvm;
  switch (id) {
  case Intrinsic::abs:
  case Intrinsic::assume:
  case Intrinsic::ceil:
  case Intrinsic::copysign:
  case Intrinsic::fabs:
  case Intrinsic::floor:
  case Intrinsic::fma:
  case Intrinsic::roundeven:
  case Intrinsic::smax:
  case Intrinsic::smin:
  case Intrinsic::sqrt:
  case Intrinsic::trunc:
  case Intrinsic::umax:
  case Intrinsic::umin:
    return true;
  default:
    return language == Language::Ptx && Intrinsic::isTargetIntrinsic(id);
  case Intrinsic::bitreverse:
  case Intrinsic::bswap:
  case Intrinsic::ctlz:
  case Intrinsic::ctpop:
  case Intrinsic::cttz:
  case Intrinsic::fptosi_sat:
  case Intrinsic::fptoui_sat:
  case Intrinsic::fshl:
  case Intrinsic::fshr:
  case Intrinsic::is_fpclass:
  case Intrinsic::maximum:
  case Intrinsic::minimum:
  case Intrinsic::sadd_sat:
  case Intrinsic::sadd_with_overflow:
  case Intrinsic::scmp:
  case Intrinsic::smul_with_overflow:
  case Intrinsic::ssub_sat:
  case Intrinsic::ssub_with_overflow:
  case Intrinsic::uadd_sat:
  case Intrinsic::uadd_with_overflow:
  case Intrinsic::ucmp:
  case Intrinsic::umul_with_overflow:
  case Intrinsic::usub_sat:
  case Intrinsic::usub_with_overflow:
    return language == Language::Ptx;
  }
}

bool typeFits(llvm::Type *type) {
  if (auto *vector = dyn_cast<llvm::FixedVectorType>(type))
    return llvm::is_contained({2u, 3u, 4u, 8u, 16u}, vector->getNumElements()) &&
           typeFits(vector->getElementType());
  if (type->isIntegerTy())
    return llvm::is_contained({1u, 8u, 16u, 32u, 64u}, type->getIntegerBitWidth());
  return type->isVoidTy() || type->isFloatTy() || type->isDoubleTy() || type->isPointerTy() ||
         type->isArrayTy() || type->isLabelTy() || type->isMetadataTy() || type->isFunctionTy();
}

bool instructionFits(const llvm::Instruction &instruction, Language language) {
  if (auto *call = dyn_cast<llvm::IntrinsicInst>(&instruction);
      call && !intrinsicFits(call->getIntrinsicID(), language))
    return false;
  if (language == Language::Ptx)
    return true;
  switch (instruction.getOpcode()) {
  case llvm::Instruction::Alloca:
    if (llvm::cast<llvm::AllocaInst>(instruction).isArrayAllocation())
      return false;
    break;
  case llvm::Instruction::AddrSpaceCast:
  case llvm::Instruction::CallBr:
  case llvm::Instruction::ExtractValue:
  case llvm::Instruction::IndirectBr:
  case llvm::Instruction::InsertValue:
  case llvm::Instruction::Invoke:
  case llvm::Instruction::VAArg:
    return false;
  }
  return typeFits(instruction.getType()) &&
         llvm::all_of(instruction.operands(),
                      [](const llvm::Use &use) { return typeFits(use->getType()); });
}

} // namespace

StringRef emit::languageName(Language language) {
  return language == Language::SpirV ? "spirv" : language == Language::Ptx ? "ptx" : "opencl";
}

std::string emit::lineOf(Operation *op) {
  std::string text;
  if (auto file = op->getLoc()->findInstanceOf<FileLineColLoc>())
    llvm::raw_string_ostream(text)
        << " (" << file.getFilename().getValue() << ":" << file.getLine() << ")";
  return text;
}

/// Tiles are OpenCL C or PTX.
static bool knowsCall(Operation *op, Language language) {
  auto call = dyn_cast<func::CallOp>(op);
  return !call || language == Language::OpenCLC ||
         (language == Language::Ptx &&
          (TensorTile::named(call.getCallee()) || BulkTile::named(call.getCallee()) ||
           ChainTile::named(call.getCallee())));
}

Status emit::checkAccepted(func::FuncOp function, Language language) {
  Status status;
  function.walk([&](Operation *op) {
    if (graphc::math::isTable(op) || graphc::math::isTableRead(op))
      return WalkResult::advance();
    std::string text;
    llvm::raw_string_ostream what(text);
    bool foreign =
        !knowsCall(op, language) || (isa<LLVM::CallIntrinsicOp>(op) && language == Language::SpirV);
    const Row *row = foreign ? nullptr : rowOf(op->getName().getStringRef());
    auto refused = [&](Type type) { return row && !fits(type, *row, language); };
    Type bad;
    for (Type type : op->getOperandTypes())
      bad = !bad && refused(type) ? type : bad;
    for (Type type : op->getResultTypes())
      bad = !bad && refused(type) ? type : bad;
    if (op == function)
      for (Type type : function.getArgumentTypes())
        bad = !bad && refused(type) ? type : bad;
    if (row && !bad)
      return WalkResult::advance();
    what << "[" << languageName(language) << "] " << op->getName();
    if (bad)
      what << " of " << bad;
    what << lineOf(op) << " has no form for this target; run it on device='cpu'";
    status = Status(ErrorCode::Unsupported, text);
    return WalkResult::interrupt();
  });
  return status;
}

Status emit::checkAccepted(const llvm::Module &module, Language language) {
  for (const llvm::Function &function : module)
    for (const llvm::Instruction &instruction : llvm::instructions(function))
      if (!instructionFits(instruction, language)) {
        std::string text;
        llvm::raw_string_ostream(text)
            << "[" << languageName(language) << "] the instruction '" << instruction
            << "' of kernel " << function.getName() << " has no form for this target";
        return Status(ErrorCode::Unsupported, text);
      }
  return Status::ok();
}
