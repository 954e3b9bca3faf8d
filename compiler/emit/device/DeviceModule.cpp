// Lowered functions to LLVM IR of a device. In order: the kernel's frame (which items are this
// work-item's) and address spaces are written into the MLIR functions, work-item functions become
// calls, everything is converted to the LLVM dialect, descriptors of buffers become pointers, and
// what only LLVM IR can say (calling conventions, metadata) is said there.
#include "compiler/emit/device/DeviceModule.h"

#include "compiler/emit/device/BulkTile.h"
#include "compiler/emit/device/ChainTile.h"
#include "compiler/emit/device/TensorTile.h"
#include "compiler/emit/device/UnrollLoops.h"
#include "compiler/emit/llvm/Llvm.h"
#include "compiler/math/Lookup.h"
#include "runtime/base/Trace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::emit;

namespace {

/// Numbers that SPIR-V's and NVPTX's code generators share.
constexpr int kGlobalSpace = 1, kLocalSpace = 3;
constexpr int kConstantSpace = 2; ///< SPIR-V's alone
/// cl_mem objects begin at a multiple of this many bytes.
constexpr unsigned kBufferAlign = 16;
/// Local memory is read and written by whole vectors; the driver puts words of its own in front.
constexpr int64_t kLocalAlign = 128;
/// CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE
constexpr int kAllFences = 3;

/// The functions of one module on their way to the LLVM dialect.
class Lowering {
public:
  Lowering(ModuleOp code, Language language)
      : code(code), language(language), b(code.getContext()) {}

  /// Turns (buffers..., sizes..., begin, end) into (buffers..., sizes..., range).
  void addFrame(func::FuncOp function, const EmittedKernel &kernel);
  void placeMemory(func::FuncOp function);
  void placeTables(func::FuncOp function, const EmittedKernel &kernel);
  void callWorkItemFunctions(func::FuncOp function);
  void placeTiles(func::FuncOp function, bool wgmma);
  void placeTile(func::CallOp op, const std::string &text, int64_t elementBytes, bool isStep);
  /// After the conversion: the descriptors of buffers become pointers.
  void adoptAbi(const EmittedKernel &kernel);

private:
  Value tableInMemory(arith::ConstantOp op);
  Value tableOfGroup(Value table, int64_t group);
  Value workItem(Operation *op);
  Value call(Location loc, StringRef name, int32_t argument, Type result);
  Value register32(Location loc, const Twine &name);

  ModuleOp code;
  Language language;
  OpBuilder b;
  unsigned locals = 0;
  DenseMap<Attribute, std::string> tables; ///< their names
};

void Lowering::addFrame(func::FuncOp function, const EmittedKernel &kernel) {
  Block &body = function.getBody().front();
  Location loc = function.getLoc();
  unsigned count = body.getNumArguments();
  BlockArgument range = body.addArgument(b.getIndexType(), loc);
  b.setInsertionPointToStart(&body);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto finish = [&](Value begin, Value end) {
    body.getArgument(count - 2).replaceAllUsesWith(begin);
    body.getArgument(count - 1).replaceAllUsesWith(end);
    body.eraseArguments(count - 2, 2);
    function.setFunctionType(b.getFunctionType(body.getArgumentTypes(), {}));
  };
  // A group is an item: all of it meets at barriers, so there is no guard, and no group too many.
  if (kernel.itemsPerThread == 0) {
    Value group = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
    return finish(group, arith::AddIOp::create(b, loc, group, constant(1)));
  }
  Value id = gpu::GlobalIdOp::create(b, loc, gpu::Dimension::x);
  Value begin = arith::MulIOp::create(b, loc, id, constant(kernel.itemsPerThread));
  Value last = arith::AddIOp::create(b, loc, begin, constant(kernel.itemsPerThread));
  Value end = arith::MinSIOp::create(b, loc, last, range);
  Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, begin, range);
  auto inside = scf::IfOp::create(b, loc, some, /*withElseRegion=*/false);
  Block &then = *inside.thenBlock();
  then.getOperations().splice(then.begin(), body.getOperations(),
                              std::next(Block::iterator(inside)), std::prev(body.end()));
  finish(begin, end);
}

void Lowering::placeMemory(func::FuncOp function) {
  auto in = [&](MemRefType type, int space) {
    return MemRefType::get(type.getShape(), type.getElementType(), type.getLayout(),
                           b.getI64IntegerAttr(space));
  };
  for (BlockArgument argument : function.getArguments())
    if (auto type = dyn_cast<MemRefType>(argument.getType()))
      argument.setType(in(type, kGlobalSpace));
  function.setFunctionType(b.getFunctionType(function.getBody().front().getArgumentTypes(), {}));
  SmallVector<memref::AllocaOp> shared;
  function.walk([&](memref::AllocaOp op) {
    if (op.getType().getMemorySpace())
      shared.push_back(op);
  });
  for (memref::AllocaOp op : shared) {
    MemRefType type = in(op.getType(), kLocalSpace);
    std::string name = (function.getSymName() + "_local" + Twine(locals++)).str();
    IntegerAttr alignment = op.getAlignmentAttr();
    if (!alignment)
      alignment = b.getI64IntegerAttr(kLocalAlign);
    b.setInsertionPointToStart(code.getBody());
    memref::GlobalOp::create(b, op.getLoc(), name, b.getStringAttr("private"), type,
                             b.getUnitAttr(), /*constant=*/false, alignment);
    b.setInsertionPoint(op);
    op.replaceAllUsesWith(memref::GetGlobalOp::create(b, op.getLoc(), type, name).getResult());
    op.erase();
  }
}

/// A table in memory, once for all kernels.
Value Lowering::tableInMemory(arith::ConstantOp op) {
  auto vector = cast<VectorType>(op.getType());
  Type element = vector.getElementType();
  int space = language == Language::Ptx ? kGlobalSpace : kConstantSpace;
  auto type =
      MemRefType::get(vector.getNumElements(), element, AffineMap(), b.getI64IntegerAttr(space));
  std::string &name = tables[op.getValue()];
  if (name.empty()) {
    name = "gc_table" + std::to_string(tables.size());
    auto values = cast<DenseElementsAttr>(op.getValue())
                      .reshape(RankedTensorType::get(type.getShape(), element));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(code.getBody());
    memref::GlobalOp::create(b, op.getLoc(), name, b.getStringAttr("private"), type, values,
                             /*constant=*/true, b.getI64IntegerAttr(kLocalAlign));
  }
  return memref::GetGlobalOp::create(b, op.getLoc(), type, name);
}

/// The same in local memory, which the group's work-items fill: NVIDIA's processors read different
/// places of that no slower than of the first cache, in fewer registers.
Value Lowering::tableOfGroup(Value table, int64_t group) {
  Location loc = table.getLoc();
  auto type = cast<MemRefType>(table.getType());
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto shared = MemRefType::get(type.getShape(), type.getElementType(), AffineMap(),
                                b.getI64IntegerAttr(kLocalSpace));
  Value copy = memref::AllocaOp::create(b, loc, shared, b.getI64IntegerAttr(kLocalAlign));
  Value item = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  auto loop = scf::ForOp::create(b, loc, item, number(type.getNumElements()), number(group));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value word = memref::LoadOp::create(b, loc, table, loop.getInductionVar());
    memref::StoreOp::create(b, loc, word, copy, loop.getInductionVar());
  }
  gpu::BarrierOp::create(b, loc);
  return copy;
}

/// Tables of math/Lookup.h.
void Lowering::placeTables(func::FuncOp function, const EmittedKernel &kernel) {
  SmallVector<arith::ConstantOp> found;
  function.walk([&](arith::ConstantOp op) {
    if (graphc::math::isTable(op))
      found.push_back(op);
  });
  DenseMap<Attribute, Value> placed;
  bool groups = language == Language::Ptx && kernel.itemsPerThread == 0;
  for (arith::ConstantOp op : found) {
    Value &table = placed[op.getValue()];
    if (!table) {
      b.setInsertionPointToStart(&function.getBody().front());
      table = tableInMemory(op);
      if (groups)
        table = tableOfGroup(table, kernel.group);
    }
    auto vector = cast<VectorType>(op.getType());
    int64_t each = vector.getShape().back();
    auto bytes = static_cast<uint64_t>(each) * vector.getElementTypeBitWidth() / 8;
    for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
      auto read = cast<vector::ExtractOp>(user);
      Location loc = read.getLoc();
      b.setInsertionPoint(read);
      Value step = arith::ConstantIndexOp::create(b, loc, each);
      Value at = arith::MulIOp::create(b, loc, read.getDynamicPosition()[0], step);
      auto row = vector::LoadOp::create(b, loc, cast<VectorType>(read.getType()), table, at, false,
                                        llvm::Align(bytes));
      read.replaceAllUsesWith(row.getResult());
      read.erase();
    }
    op.erase();
  }
}

Value Lowering::call(Location loc, StringRef name, int32_t argument, Type result) {
  SmallVector<Type> results;
  if (result)
    results.push_back(result);
  auto type = b.getFunctionType({b.getI32Type()}, results);
  if (!code.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(code.getBody());
    func::FuncOp::create(b, loc, name, type).setPrivate();
  }
  Value number = arith::ConstantIntOp::create(b, loc, argument, 32);
  auto made = func::CallOp::create(b, loc, name, results, ValueRange(number));
  return result ? made.getResult(0) : Value();
}

Value Lowering::register32(Location loc, const Twine &name) {
  auto intrinsic = b.getStringAttr("llvm.nvvm.read.ptx.sreg." + name);
  Value narrow =
      LLVM::CallIntrinsicOp::create(b, loc, b.getI32Type(), intrinsic, ValueRange()).getResult(0);
  return arith::ExtUIOp::create(b, loc, b.getI64Type(), narrow);
}

/// A work-item function as i64.
Value Lowering::workItem(Operation *op) {
  Location loc = op->getLoc();
  auto dimension = [](auto id) { return static_cast<int32_t>(id.getDimension()); };
  auto letter = [&](auto id) { return Twine("xyz"[dimension(id)]); };
  if (language == Language::SpirV) {
    auto ask = [&](const char *name, auto id) {
      return call(loc, name, dimension(id), b.getI64Type());
    };
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case([&](gpu::ThreadIdOp id) { return ask("_Z12get_local_idj", id); })
        .Case([&](gpu::BlockIdOp id) { return ask("_Z12get_group_idj", id); })
        .Case([&](gpu::BlockDimOp id) { return ask("_Z14get_local_sizej", id); })
        .Case([&](gpu::GridDimOp id) { return ask("_Z14get_num_groupsj", id); })
        .Case([&](gpu::GlobalIdOp id) { return ask("_Z13get_global_idj", id); });
  }
  auto read = [&](const char *name, auto id) { return register32(loc, name + letter(id)); };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](gpu::ThreadIdOp id) { return read("tid.", id); })
      .Case([&](gpu::BlockIdOp id) { return read("ctaid.", id); })
      .Case([&](gpu::BlockDimOp id) { return read("ntid.", id); })
      .Case([&](gpu::GridDimOp id) { return read("nctaid.", id); })
      // Without a global offset, which graphc never gives.
      .Case([&](gpu::GlobalIdOp id) {
        Value first = arith::MulIOp::create(b, loc, read("ctaid.", id), read("ntid.", id));
        return arith::AddIOp::create(b, loc, first, read("tid.", id)).getResult();
      });
}

void Lowering::callWorkItemFunctions(func::FuncOp function) {
  function.walk([&](Operation *op) {
    if (!isa<gpu::GPUDialect>(op->getDialect()))
      return;
    b.setInsertionPoint(op);
    if (!isa<gpu::BarrierOp>(op)) {
      Value value = workItem(op);
      op->getResult(0).replaceAllUsesWith(
          arith::IndexCastOp::create(b, op->getLoc(), b.getIndexType(), value));
    } else if (language == Language::SpirV) {
      call(op->getLoc(), "_Z7barrierj", kAllFences, Type());
    } else {
      Value number = arith::ConstantIntOp::create(b, op->getLoc(), 0, 32);
      LLVM::CallIntrinsicOp::create(b, op->getLoc(),
                                    b.getStringAttr("llvm.nvvm.barrier.cta.sync.aligned.all"),
                                    ValueRange(number));
    }
    op->erase();
  });
}

/// Calls of tiles become inline assembly.
void Lowering::placeTiles(func::FuncOp function, bool wgmma) {
  SmallVector<func::CallOp> calls;
  function.walk([&](func::CallOp op) {
    if (TensorTile::named(op.getCallee()) || BulkTile::named(op.getCallee()) ||
        ChainTile::named(op.getCallee()))
      calls.push_back(op);
  });
  for (func::CallOp op : calls) {
    b.setInsertionPoint(op);
    if (auto tile = TensorTile::named(op.getCallee()))
      placeTile(op, tensorTile(*tile, wgmma), sizeof(int16_t), tile->isStep);
    else if (auto tile = BulkTile::named(op.getCallee()))
      placeTile(op, bulkTile(*tile), sizeof(int16_t), /*isStep=*/false);
    else if (auto tile = ChainTile::named(op.getCallee()))
      placeTile(op, chainTile(*tile), tile->elementBytes(), /*isStep=*/false);
  }
}

/// `isStep`: the call's further operands are the sums so far; otherwise a buffer, an offset and a
/// pitch of each side, and counts.
void Lowering::placeTile(func::CallOp op, const std::string &text, int64_t elementBytes,
                         bool isStep) {
  Location loc = op.getLoc();
  auto wide = [&](Value index) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  };
  auto narrow = [&](Value x) -> Value {
    return arith::TruncIOp::create(b, loc, b.getI32Type(), x);
  };
  auto address = [&](Value memory) {
    return wide(memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory));
  };
  auto bytes = [&](Value elements) -> Value {
    Value size = arith::ConstantIntOp::create(b, loc, elementBytes, 64);
    return arith::MulIOp::create(b, loc, wide(elements), size);
  };
  SmallVector<Value> operands = {narrow(address(op.getOperand(0))),
                                 narrow(register32(loc, "tid.x"))};
  Type element = op.getResult(0).getType();
  std::string constraints;
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    constraints += element.isF64() ? "=&d," : isStep ? "=f," : "=&f,";
  constraints += "r,r";
  if (isStep) {
    for (unsigned i = 0; i < op.getNumResults(); ++i) {
      operands.push_back(op.getOperand(1 + i));
      constraints += "," + std::to_string(i);
    }
  } else {
    for (unsigned i : {1, 4}) {
      Value first =
          arith::AddIOp::create(b, loc, address(op.getOperand(i)), bytes(op.getOperand(i + 1)));
      operands.append({first, bytes(op.getOperand(i + 2))});
    }
    constraints += ",l,l,l,l";
    for (unsigned i = 7; i < op.getNumOperands(); ++i) {
      Value operand = op.getOperand(i);
      if (isa<MemRefType>(operand.getType())) { // words from an index on
        Value words = arith::ConstantIntOp::create(b, loc, sizeof(int64_t), 64);
        Value start = arith::MulIOp::create(b, loc, wide(op.getOperand(++i)), words);
        operands.push_back(arith::AddIOp::create(b, loc, address(operand), start));
        constraints += ",l";
      } else {
        operands.push_back(narrow(wide(operand)));
        constraints += ",r";
      }
    }
  }
  constraints += ",~{memory}";
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                               SmallVector<Type>(op.getNumResults(), element));
  auto block = LLVM::InlineAsmOp::create(
      b, loc, type, operands, text, constraints, /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
      ArrayAttr());
  for (auto [i, sum] : llvm::enumerate(op.getResults()))
    sum.replaceAllUsesWith(
        LLVM::ExtractValueOp::create(b, loc, block.getRes(), static_cast<int64_t>(i)));
  op.erase();
}

void Lowering::adoptAbi(const EmittedKernel &kernel) {
  auto function = code.lookupSymbol<LLVM::LLVMFuncOp>(kernel.name);
  Location loc = function.getLoc();
  Block &body = function.getBody().front();
  unsigned old = body.getNumArguments();
  b.setInsertionPointToStart(&body);
  SmallVector<Type> types(kernel.writes.size(),
                          LLVM::LLVMPointerType::get(b.getContext(), kGlobalSpace));
  types.append(kernel.sizeCount + 1, b.getI64Type());
  SmallVector<Value> values;
  for (auto [i, type] : llvm::enumerate(types)) {
    Value argument = body.addArgument(type, loc);
    if (i < kernel.writes.size())
      values.append(flatDescriptor(b, loc, argument));
    else
      values.push_back(argument);
  }
  for (auto [argument, value] : llvm::zip_equal(body.getArguments().take_front(old), values))
    argument.replaceAllUsesWith(value);
  body.eraseArguments(0, old);
  function.setFunctionType(
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), types));
  function.removeArgAttrsAttr();
}

/// Private arrays as one object of their size each, at the top of their kernel: their storage class
/// wants both.
void hoistArrays(llvm::Function &function) {
  SmallVector<llvm::AllocaInst *> arrays;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (auto *array = dyn_cast<llvm::AllocaInst>(&instruction))
      arrays.push_back(array);
  llvm::IRBuilder<> top(&function.getEntryBlock(), function.getEntryBlock().getFirstInsertionPt());
  for (llvm::AllocaInst *array : arrays)
    if (auto *count = dyn_cast<llvm::ConstantInt>(array->getArraySize())) {
      llvm::Type *type = llvm::ArrayType::get(array->getAllocatedType(), count->getZExtValue());
      llvm::AllocaInst *whole = top.CreateAlloca(type, array->getAddressSpace());
      whole->setAlignment(array->getAlign());
      array->replaceAllUsesWith(whole);
      array->eraseFromParent();
    }
}

/// LLVM 22 makes one instruction of a shift and of the comparison that chooses 0 for counts from
/// the width on, and that one takes the low half of a count of 64 bits.
void guardShifts(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (instruction.isShift() && instruction.getType()->isIntegerTy(64) &&
          !llvm::isa<llvm::Constant>(instruction.getOperand(1))) {
        llvm::IRBuilder<> b(&instruction);
        instruction.setOperand(1, b.CreateAnd(instruction.getOperand(1), 63));
      }
}

/// Reductions of lanes, whose work-items have several loads under way: the groups at once that the
/// driver's compiler is to take registers for, or null. By itself it puts loads off to get more
/// groups, whose many streams memory serves worse (on an H200, with three groups, a sum of 2^28
/// float32 4.38 -> 4.46 TB/s, of sines 4.27 -> 4.47). Long bodies of 64 bits need registers of two
/// groups, and would spill with three (six reductions of float64 took 2.35 times as long; a sum of
/// cosines beside an extreme 2.7 -> 3.7 TB/s with two). Of 32 bits several results fit as well (two
/// sums and two extremes 4.16 -> 4.36).
const char *readingGroups(const llvm::Function &function, const EmittedKernel &kernel) {
  constexpr uint32_t kLanes = 256;
  constexpr double kMostReadingNs = 1;
  constexpr unsigned kLongBody = 2000;
  bool lanes = kernel.family == static_cast<uint32_t>(program::KernelFamily::Full) ||
               kernel.family == static_cast<uint32_t>(program::KernelFamily::Rows);
  if (!lanes || kernel.group != kLanes)
    return nullptr;
  auto written = llvm::count_if(kernel.writes, [](uint32_t w) { return w != 0; });
  bool isOne = written - kernel.reports <= 2; // the result, those of blocks; not faults
  bool isWide = llvm::any_of(llvm::instructions(function), [](const llvm::Instruction &made) {
    const llvm::Type *type = made.getType()->getScalarType();
    return type->isDoubleTy() || (llvm::isa<llvm::LoadInst>(made) && type->isIntegerTy(64));
  });
  if (!isWide || (isOne && kernel.cost < kMostReadingNs))
    return "3";
  return function.getInstructionCount() >= kLongBody ? "2" : nullptr;
}

/// How many groups a multiprocessor is to have at once: scans wait for each other, and more of them
/// hide it, as far as the local memory goes (running sums of 2^28 float32 2.5 -> 3.4 TB/s). Sorts
/// wait for local memory, and four leave a work-item 64 registers.
constexpr int64_t kMostGroups = 32, kSortGroups = 4;
int64_t localBytes(const llvm::Module &module, const EmittedKernel &kernel) {
  int64_t bytes = 0;
  for (const llvm::GlobalVariable &memory : module.globals())
    if (memory.getName().starts_with(kernel.name + "_local"))
      bytes += static_cast<int64_t>(module.getDataLayout().getTypeAllocSize(memory.getValueType()));
  return bytes;
}
int64_t groupsAtOnce(const llvm::Module &module, const EmittedKernel &kernel, int64_t most) {
  constexpr int64_t kItems = 2048, kLocalBytes = 227 << 10, kReserved = 1 << 10;
  return std::min(
      {most, kItems / kernel.group, kLocalBytes / (kReserved + localBytes(module, kernel))});
}
/// Whether a scan has its elements in local memory; one of columns has them in registers, which it
/// needs then, and in local memory what a work-item each adds up to, half as much at most.
bool scansMemory(const llvm::Module &module, const EmittedKernel &kernel) {
  constexpr int64_t kBlockBytes = 4096; // of elements of a byte each
  return kernel.family == static_cast<uint32_t>(program::KernelFamily::Scan) &&
         localBytes(module, kernel) >= kBlockBytes;
}

/// Local memory that a launch gives: more than code may declare.
void openGroupMemory(llvm::Module &module, const EmittedKernel &kernel) {
  for (llvm::GlobalVariable &memory : llvm::make_early_inc_range(module.globals())) {
    if (!memory.getName().starts_with(kernel.name + "_local"))
      continue;
    auto *type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), 0);
    auto *open = new llvm::GlobalVariable(module, type, /*isConstant=*/false,
                                          llvm::GlobalValue::ExternalLinkage, nullptr, "", &memory,
                                          llvm::GlobalValue::NotThreadLocal, kLocalSpace);
    open->takeName(&memory);
    open->setAlignment(memory.getAlign());
    memory.replaceAllUsesWith(open);
    memory.eraseFromParent();
  }
}

/// Maps of many elements a work-item that look up coefficients in local memory are served best by
/// as many groups as there can be (bias+gelu 3.75 -> 4.0 TB/s on an H200). Short ones are slower so
/// (the chain of the bench 4.25 -> 4.13), longer ones would spill more than a few bytes.
bool hasManyLookups(const llvm::Module &module, const EmittedKernel &kernel) {
  constexpr unsigned kLeastInstructions = 1400, kMostInstructions = 2000;
  auto isTable = [&](const llvm::GlobalVariable &memory) {
    return memory.getName().starts_with(kernel.name + "_local");
  };
  unsigned count = module.getFunction(kernel.name)->getInstructionCount();
  return kernel.family == static_cast<uint32_t>(program::KernelFamily::Map) &&
         count >= kLeastInstructions && count <= kMostInstructions &&
         llvm::any_of(module.globals(), isTable);
}

/// Calling conventions and group sizes.
void finishModule(llvm::Module &module, ArrayRef<EmittedKernel> kernels, Language language) {
  llvm::LLVMContext &context = module.getContext();
  for (llvm::Function &function : module) {
    function.setDoesNotThrow();
    if (!function.isDeclaration() || language != Language::SpirV || function.isIntrinsic())
      continue;
    function.setCallingConv(llvm::CallingConv::SPIR_FUNC);
    if (function.getName().contains("barrier"))
      function.addFnAttr(llvm::Attribute::Convergent);
    else
      function.setDoesNotAccessMemory();
    for (llvm::User *user : function.users())
      cast<llvm::CallInst>(user)->setCallingConv(llvm::CallingConv::SPIR_FUNC);
  }
  for (const EmittedKernel &kernel : kernels) {
    llvm::Function &function = *module.getFunction(kernel.name);
    function.setCallingConv(language == Language::SpirV ? llvm::CallingConv::SPIR_KERNEL
                                                        : llvm::CallingConv::PTX_Kernel);
    if (kernel.scratch > 0)
      openGroupMemory(module, kernel);
    if (language == Language::Ptx) {
      bool map = kernel.family == static_cast<uint32_t>(program::KernelFamily::Map);
      bool counts = llvm::any_of(llvm::instructions(function), [](llvm::Instruction &instruction) {
        return isa<llvm::AtomicRMWInst>(instruction);
      });
      // What is added to at places is read by later kernels alone, local memory after a barrier.
      for (llvm::Instruction &instruction : llvm::instructions(function))
        if (auto *added = dyn_cast<llvm::AtomicRMWInst>(&instruction);
            added && (map || added->getPointerAddressSpace() == kLocalSpace))
          added->setOrdering(llvm::AtomicOrdering::Monotonic);
      for (unsigned i = 0; i < kernel.writes.size(); ++i) {
        function.addParamAttr(
            i, llvm::Attribute::getWithAlignment(context, llvm::Align(kBufferAlign)));
        // Only maps may write the memory that they read.
        if (!map)
          function.addParamAttr(i, llvm::Attribute::NoAlias);
        bool isTickets = counts && i + 1 == kernel.writes.size();
        if (!map && !kernel.writes[i] && !isTickets)
          function.addParamAttr(i, llvm::Attribute::ReadOnly);
      }
      if (kernel.group)
        function.addFnAttr("nvvm.reqntid", std::to_string(kernel.group) + ",1,1");
      if (const char *groups = readingGroups(function, kernel))
        function.addFnAttr("nvvm.minctasm", groups);
      bool isSort = kernel.family == static_cast<uint32_t>(program::KernelFamily::Sort);
      if (kernel.group && (scansMemory(module, kernel) || isSort || hasManyLookups(module, kernel)))
        if (int64_t groups = groupsAtOnce(module, kernel, isSort ? kSortGroups : kMostGroups);
            groups > 1)
          function.addFnAttr("nvvm.minctasm", std::to_string(groups));
    } else if (kernel.group) {
      auto number = [&](uint32_t n) {
        return llvm::ConstantAsMetadata::get(
            llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), n));
      };
      function.setMetadata(
          "reqd_work_group_size",
          llvm::MDNode::get(context, {number(kernel.group), number(1), number(1)}));
    }
    hoistArrays(function);
    // Tiles wait for all work-items. Two groups with tensor cores hide each other's waits, so that
    // a work-item gets 128 registers: what edges need besides is kept in memory.
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = dyn_cast<llvm::CallInst>(&instruction); call && call->isInlineAsm()) {
        call->setConvergent();
        auto *sums = dyn_cast<llvm::StructType>(call->getType());
        if (sums && sums->getNumElements() == kTensorSums && sums->getElementType(0)->isFloatTy())
          function.addFnAttr("nvvm.minctasm", "2");
      }
  }
}

/// The kernels as functions of the LLVM dialect.
Result<OwningOpRef<ModuleOp>> lowerToLlvm(ModuleOp module, ArrayRef<EmittedKernel> kernels,
                                          Language language, llvm::TargetMachine &machine) {
  OwningOpRef<ModuleOp> code = ModuleOp::create(module.getLoc());
  for (const EmittedKernel &kernel : kernels) {
    auto func = module.lookupSymbol<func::FuncOp>(kernel.name);
    GRAPHC_TRY(checkAccepted(func, language));
    code->push_back(func.clone());
  }
  Lowering lowering(*code, language);
  for (const EmittedKernel &kernel : kernels) {
    auto function = code->lookupSymbol<func::FuncOp>(kernel.name);
    lowering.addFrame(function, kernel);
    if (language == Language::Ptx)
      unrollLoops(function);
    lowering.placeTables(function, kernel);
    lowering.placeMemory(function);
    placeVolatile(function, kGlobalSpace);
    lowering.callWorkItemFunctions(function);
    lowering.placeTiles(function, machine.getTargetCPU() == "sm_90a");
  }
  if (failed(ConversionToLlvm::of(module.getContext()).apply(*code)))
    return Status(ErrorCode::Compile, ""); // the diagnostics say why
  for (const EmittedKernel &kernel : kernels)
    lowering.adoptAbi(kernel);
  return code;
}

/// A kernel, which moves, with copies of what it names, in the order they had.
OwningOpRef<ModuleOp> moduleOfKernel(ModuleOp code, StringRef name) {
  Operation *kernel = code.lookupSymbol(name);
  llvm::SmallPtrSet<Operation *, 16> named;
  SmallVector<Operation *> left = {kernel};
  while (!left.empty())
    left.pop_back_val()->walk([&](Operation *op) {
      for (NamedAttribute attribute : op->getAttrs())
        attribute.getValue().walk([&](SymbolRefAttr symbol) {
          Operation *found = code.lookupSymbol(symbol.getRootReference());
          if (found && named.insert(found).second)
            left.push_back(found);
        });
    });
  OwningOpRef<ModuleOp> own = ModuleOp::create(code.getLoc());
  for (Operation &op : llvm::make_early_inc_range(*code.getBody()))
    if (&op == kernel) {
      op.remove();
      own->push_back(&op);
    } else if (named.contains(&op)) {
      own->push_back(op.clone());
    }
  return own;
}

Result<DeviceModule> translate(ModuleOp code, ArrayRef<EmittedKernel> kernels, Language language,
                               llvm::TargetMachine &machine) {
  // Before translation, which writes alignments down.
  llvm::DataLayout layout = machine.createDataLayout();
  code->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(),
                StringAttr::get(code.getContext(), layout.getStringRepresentation()));
  DeviceModule made;
  made.context = std::make_unique<llvm::LLVMContext>();
  made.module = translateModuleToLLVMIR(code, *made.context);
  if (!made.module)
    return Status(ErrorCode::Compile, "");
  made.module->setDataLayout(layout);
  made.module->setTargetTriple(machine.getTargetTriple());
  finishModule(*made.module, kernels, language);
  return made;
}

} // namespace

Result<std::vector<DeviceModule>> emit::makeDeviceModules(ModuleOp module,
                                                          ArrayRef<EmittedKernel> kernels,
                                                          Language language,
                                                          llvm::TargetMachine &machine) {
  TraceSpan span("compile", "translate to LLVM");
  GRAPHC_ASSIGN(OwningOpRef<ModuleOp> code, lowerToLlvm(module, kernels, language, machine));
  std::vector<DeviceModule> made;
  if (language != Language::Ptx) {
    GRAPHC_ASSIGN(made.emplace_back(), translate(*code, kernels, language, machine));
    return made;
  }
  for (const EmittedKernel &kernel : kernels) {
    OwningOpRef<ModuleOp> own = moduleOfKernel(*code, kernel.name);
    GRAPHC_ASSIGN(made.emplace_back(), translate(*own, kernel, language, machine));
  }
  return made;
}

Status emit::finish(llvm::Module &module, Language language, llvm::TargetMachine &machine) {
  // Combining makes operations that SPIR-V has none for; who compiles that for the device combines.
  optimize(module, machine, /*combine=*/language == Language::Ptx);
  if (language == Language::Ptx)
    guardShifts(module);
  return checkAccepted(module, language);
}
