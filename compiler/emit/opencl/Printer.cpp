#include "compiler/emit/opencl/Printer.h"

#include "compiler/emit/device/ChainTile.h"
#include "compiler/emit/device/TensorTile.h"
#include "compiler/math/Lookup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace graphc::emit;

namespace {

const char *typeName(Type type, bool isUnsigned = false) {
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  if (type.isIndex() || type.isInteger(64))
    return isUnsigned ? "ulong" : "long";
  if (type.isInteger(32))
    return isUnsigned ? "uint" : "int";
  if (type.isInteger(16))
    return isUnsigned ? "ushort" : "short";
  if (type.isInteger(8))
    return isUnsigned ? "uchar" : "char";
  return isUnsigned ? "uint" : "int"; // i1
}

std::string cast(const char *type, const std::string &text) {
  return std::string("(") + type + ")(" + text + ")";
}

bool isMask(Type type) { return type.isInteger(1); }

/// Local memory that vectors of any type are loaded from.
constexpr const char *kWholeVectors = " __attribute__((aligned(128)))";

const char *space(MemRefType type, const char *otherwise = "") {
  return type.getMemorySpace() ? "__local " : otherwise;
}

VectorType vectorAt(Operation *op) {
  Type type = op->getNumResults() ? op->getResult(0).getType() : op->getOperand(0).getType();
  return llvm::cast<VectorType>(type);
}

std::string typeOf(VectorType type) {
  return typeName(type.getElementType()) + std::to_string(type.getNumElements());
}

/// Of kNvidiaSource.
std::string nvidiaFunction(StringRef intrinsic) {
  return llvm::StringSwitch<std::string>(intrinsic)
      .Case("llvm.nvvm.fmax.nan.f", "gc_maximum")
      .Case("llvm.nvvm.fmin.nan.f", "gc_minimum")
      .Default("");
}

} // namespace

llvm::raw_ostream &OpenCLPrinter::line() { return os.indent(depth * 2); }

std::string OpenCLPrinter::name(Value value) {
  std::string &known = names[value];
  if (known.empty())
    known = "v" + std::to_string(next++);
  return known;
}

void OpenCLPrinter::declare(Value value, StringRef initial) {
  line() << typeName(value.getType()) << " " << name(value) << " = " << initial << ";\n";
}

LogicalResult OpenCLPrinter::printKernel(func::FuncOp func, const EmittedKernel &kernel) {
  names.clear();
  next = 0;
  tellsGroups = false;
  func.walk([&](LLVM::FenceOp) { tellsGroups = true; });
  printTables(func);
  bool groups = kernel.itemsPerThread == 0;
  // A map may write what it reads; the others have buffers of their own (BuildPlan).
  bool map = kernel.family == static_cast<uint32_t>(program::KernelFamily::Map);
  os << "__kernel ";
  if (groups)
    os << "__attribute__((reqd_work_group_size(" << kernel.group << ", 1, 1))) ";
  os << "void " << func.getSymName() << "(";
  Block &body = func.getBody().front();
  unsigned count = body.getNumArguments();
  for (unsigned i = 0; i < count - 2; ++i) {
    BlockArgument argument = body.getArgument(i);
    if (i < kernel.writes.size())
      os << "__global " << typeName(llvm::cast<MemRefType>(argument.getType()).getElementType())
         << (groups && !map ? " *restrict " : " *") << name(argument);
    else
      os << "const long " << name(argument);
    os << ", ";
  }
  os << "const long range) {\n";
  std::string begin = name(body.getArgument(count - 2)), end = name(body.getArgument(count - 1));
  if (groups) {
    line() << "const long " << begin << " = (long)get_group_id(0);\n";
  } else {
    line() << "const long " << begin << " = (long)get_global_id(0) * " << kernel.itemsPerThread
           << ";\n";
    line() << "if (" << begin << " >= range) return;\n";
    line() << "const long " << end << " = min(" << begin << " + " << kernel.itemsPerThread
           << ", range);\n";
  }
  if (failed(block(body)))
    return failure();
  os << "}\n";
  return success();
}

/// Tables of math/Lookup.h, each once for all kernels.
void OpenCLPrinter::printTables(func::FuncOp func) {
  func.walk([&](arith::ConstantOp op) {
    if (!graphc::math::isTable(op))
      return;
    std::string &table = tables[op.getValue()];
    if (table.empty()) {
      table = "gc_table" + std::to_string(tables.size());
      auto type = llvm::cast<VectorType>(op.getType());
      shared << "__constant " << typeName(type.getElementType()) << " " << table << "["
             << type.getNumElements() << "]" << kWholeVectors << " = {";
      auto values = llvm::cast<DenseElementsAttr>(op.getValue()).getValues<float>();
      for (auto [i, value] : llvm::enumerate(values))
        shared << (i ? ", " : "") << llvm::format("%af", value);
      shared << "};\n";
    }
    names[op.getResult()] = table;
  });
}

LogicalResult OpenCLPrinter::block(Block &b) {
  for (Operation &op : b.without_terminator())
    if (failed(statement(&op)))
      return failure();
  return success();
}

/// Results first go to temporaries when there are several: a later one may read what an earlier one
/// overwrites.
void OpenCLPrinter::assignYield(Operation *terminator, ValueRange targets) {
  OperandRange values = terminator->getOperands();
  if (targets.size() == 1) {
    line() << name(targets[0]) << " = " << name(values[0]) << ";\n";
    return;
  }
  SmallVector<std::string> temporaries;
  for (Value value : values) {
    temporaries.push_back("t" + std::to_string(next++));
    line() << typeName(value.getType()) << " " << temporaries.back() << " = " << name(value)
           << ";\n";
  }
  for (auto [target, temporary] : llvm::zip_equal(targets, temporaries))
    line() << name(target) << " = " << temporary << ";\n";
}

LogicalResult OpenCLPrinter::loop(Operation *op) {
  auto forOp = llvm::cast<scf::ForOp>(op);
  for (auto [result, argument, init] :
       llvm::zip_equal(forOp.getResults(), forOp.getRegionIterArgs(), forOp.getInitArgs())) {
    declare(result, name(init));
    names[argument] = name(result);
  }
  std::string i = name(forOp.getInductionVar());
  if (auto times = forOp->getAttrOfType<IntegerAttr>("graphc.unroll"))
    line() << "#pragma unroll " << times.getInt() << "\n";
  line() << "for (long " << i << " = " << name(forOp.getLowerBound()) << "; " << i << " < "
         << name(forOp.getUpperBound()) << "; " << i << " += " << name(forOp.getStep()) << ") {\n";
  ++depth;
  if (failed(block(*forOp.getBody())))
    return failure();
  if (forOp.getNumResults())
    assignYield(forOp.getBody()->getTerminator(), forOp.getResults());
  --depth;
  line() << "}\n";
  return success();
}

LogicalResult OpenCLPrinter::whileLoop(Operation *op) {
  auto loopOp = llvm::cast<scf::WhileOp>(op);
  for (auto [argument, init] : llvm::zip_equal(loopOp.getBeforeArguments(), loopOp.getInits()))
    declare(argument, name(init));
  auto condition = loopOp.getConditionOp();
  for (Value result : loopOp.getResults())
    line() << typeName(result.getType()) << " " << name(result) << ";\n";
  line() << "while (1) {\n";
  ++depth;
  if (failed(block(*loopOp.getBeforeBody())))
    return failure();
  for (auto [result, value] : llvm::zip_equal(loopOp.getResults(), condition.getArgs()))
    line() << name(result) << " = " << name(value) << ";\n";
  line() << "if (!" << name(condition.getCondition()) << ") break;\n";
  for (auto [argument, result] : llvm::zip_equal(loopOp.getAfterArguments(), loopOp.getResults()))
    names[argument] = name(result);
  if (failed(block(*loopOp.getAfterBody())))
    return failure();
  assignYield(loopOp.getAfterBody()->getTerminator(), loopOp.getBeforeArguments());
  --depth;
  line() << "}\n";
  return success();
}

LogicalResult OpenCLPrinter::branch(Operation *op) {
  auto ifOp = llvm::cast<scf::IfOp>(op);
  for (Value result : ifOp.getResults())
    line() << typeName(result.getType()) << " " << name(result) << ";\n";
  line() << "if (" << name(ifOp.getCondition()) << ") {\n";
  auto side = [&](Block *b) {
    ++depth;
    LogicalResult printed = block(*b);
    if (succeeded(printed) && ifOp.getNumResults())
      assignYield(b->getTerminator(), ifOp.getResults());
    --depth;
    return printed;
  };
  if (failed(side(ifOp.thenBlock())))
    return failure();
  if (ifOp.elseBlock()) {
    line() << "} else {\n";
    if (failed(side(ifOp.elseBlock())))
      return failure();
  }
  line() << "}\n";
  return success();
}

/// A tile of device/TensorTile.h or ChainTile.h, as inline PTX. A step's further operands are the
/// sums so far; others have a buffer, an offset and a pitch of each side, and counts.
void OpenCLPrinter::call(func::CallOp op) {
  std::string text;
  bool isStep = false;
  if (auto tile = TensorTile::named(op.getCallee())) {
    text = tensorTile(*tile, /*wgmma=*/false);
    isStep = tile->isStep;
  } else {
    text = chainTile(*ChainTile::named(op.getCallee()));
  }
  std::string sums = "t" + std::to_string(next++);
  auto sum = [&](size_t i) { return sums + "[" + std::to_string(i) + "]"; };
  auto element = [](Type type) { return type.getIntOrFloatBitWidth() / 8; };
  Type type = op.getResult(0).getType();
  line() << typeName(type) << " " << sums << "[" << op.getNumResults() << "];\n";
  for (unsigned i = 0; isStep && i < op.getNumResults(); ++i)
    line() << sum(i) << " = " << name(op.getOperand(1 + i)) << ";\n";
  std::replace(text.begin(), text.end(), '$', '%');
  line() << "asm volatile(\n";
  for (StringRef left = text; !left.empty();) {
    auto [one, rest] = left.split('\n');
    line() << "    \"" << one << "\\n\"\n";
    left = rest;
  }
  line() << "    : ";
  std::string constraint = (isStep ? "\"+" : "\"=&") + std::string(type.isF64() ? "d" : "f");
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    os << (i ? ", " : "") << constraint << "\"(" << sum(i) << ")";
  os << "\n";
  line() << "    : \"r\"((uint)(ulong)" << name(op.getOperand(0))
         << "), \"r\"((uint)get_local_id(0))";
  for (unsigned i = isStep ? op.getNumOperands() : 1; i < op.getNumOperands(); ++i) {
    Value operand = op.getOperand(i);
    if (auto buffer = dyn_cast<MemRefType>(operand.getType())) {
      os << ", \"l\"(" << name(operand) << " + " << name(op.getOperand(i + 1)) << "), \"l\"("
         << name(op.getOperand(i + 2)) << " * " << element(buffer.getElementType()) << ")";
      i += 2;
    } else {
      os << ", \"r\"((int)" << name(operand) << ")";
    }
  }
  os << " : \"memory\");\n";
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    names[result] = sum(i);
}

/// Integers in memory are signed or not by what an operation makes of them.
LogicalResult OpenCLPrinter::atomic(memref::AtomicRMWOp op) {
  using Step = arith::AtomicRMWKind;
  Step step = op.getKind();
  StringRef function = llvm::StringSwitch<StringRef>(arith::stringifyAtomicRMWKind(step))
                           .Case("addi", "atomic_add")
                           .Cases({"maxs", "maxu"}, "atomic_max")
                           .Cases({"mins", "minu"}, "atomic_min")
                           .Case("andi", "atomic_and")
                           .Case("ori", "atomic_or")
                           .Case("xori", "atomic_xor")
                           .Default("");
  if (function.empty() || !op.getType().isInteger(32))
    return op.emitError("has no OpenCL C spelling");
  bool isSigned = step == Step::maxs || step == Step::mins;
  StringRef type = isSigned ? "int" : "uint";
  auto memory = llvm::cast<MemRefType>(op.getMemref().getType());
  declare(op.getResult(), function.str() + "((volatile " + std::string(space(memory, "__global ")) +
                              type.str() + " *)&" + name(op.getMemref()) + "[" +
                              name(op.getIndices()[0]) + "], (" + type.str() + ")" +
                              name(op.getValue()) + ")");
  return success();
}

LogicalResult OpenCLPrinter::memory(Operation *op) {
  auto element = [&](Value memory, Value index) {
    std::string text = name(memory) + "[" + name(index) + "]";
    if (!op->hasAttr("graphc.volatile"))
      return text;
    auto type = llvm::cast<MemRefType>(memory.getType());
    return "*(volatile " + std::string(space(type, "__global ")) + typeName(type.getElementType()) +
           " *)&" + text;
  };
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    declare(load.getResult(), element(load.getMemRef(), load.getIndices()[0]));
    return success();
  }
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    line() << element(store.getMemRef(), store.getIndices()[0]) << " = " << name(store.getValue())
           << ";\n";
    return success();
  }
  if (auto step = dyn_cast<memref::AtomicRMWOp>(op))
    return atomic(step);
  auto alloca = llvm::cast<memref::AllocaOp>(op);
  line() << space(alloca.getType()) << typeName(alloca.getType().getElementType()) << " "
         << name(alloca.getResult()) << "[" << alloca.getType().getNumElements() << "]"
         << (alloca.getType().getMemorySpace() ? kWholeVectors : "") << ";\n";
  return success();
}

bool OpenCLPrinter::vectors(Operation *op) {
  if (graphc::math::isTable(op)) // printed before the kernel
    return true;
  auto place = [&](Value memory, Value index) {
    return "*(" + std::string(space(llvm::cast<MemRefType>(memory.getType()), "__global ")) +
           typeOf(vectorAt(op)) + " *)(" + name(memory) + " + " + name(index) + ")";
  };
  return TypeSwitch<Operation *, bool>(op)
      .Case([&](vector::LoadOp load) {
        line() << typeOf(vectorAt(op)) << " " << name(load.getResult()) << " = "
               << place(load.getBase(), load.getIndices()[0]) << ";\n";
        return true;
      })
      .Case([&](vector::StoreOp store) {
        line() << place(store.getBase(), store.getIndices()[0]) << " = "
               << name(store.getValueToStore()) << ";\n";
        return true;
      })
      .Case([&](vector::ExtractOp extract) {
        if (graphc::math::isTableRead(op)) {
          std::string type = typeOf(vectorAt(op));
          line() << type << " " << name(extract.getResult()) << " = ((__constant " << type << " *)"
                 << name(extract.getSource()) << ")[" << name(extract.getDynamicPosition()[0])
                 << "];\n";
          return true;
        }
        declare(extract.getResult(), name(extract.getSource()) + ".s" +
                                         llvm::utohexstr(extract.getStaticPosition()[0],
                                                         /*LowerCase=*/true));
        return true;
      })
      .Case([&](vector::FromElementsOp from) {
        std::string type = typeOf(vectorAt(op)), text = "(" + type + ")(";
        for (auto [i, element] : llvm::enumerate(from.getElements()))
          text += (i ? ", " : "") + name(element);
        line() << type << " " << name(from.getResult()) << " = " << text << ");\n";
        return true;
      })
      .Default(false);
}

LogicalResult OpenCLPrinter::statement(Operation *op) {
  if (isa<scf::ForOp>(op))
    return loop(op);
  if (isa<scf::WhileOp>(op))
    return whileLoop(op);
  if (isa<scf::IfOp>(op))
    return branch(op);
  if (isa<memref::LoadOp, memref::StoreOp, memref::AtomicRMWOp, memref::AllocaOp>(op))
    return memory(op);
  if (isa<LLVM::FenceOp>(op)) {
    line() << "GC_FENCE();\n";
    return success();
  }
  if (auto tile = dyn_cast<func::CallOp>(op)) {
    call(tile);
    return success();
  }
  if (isa<gpu::BarrierOp>(op)) {
    line() << (tellsGroups ? "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
                           : "barrier(CLK_LOCAL_MEM_FENCE);\n");
    return success();
  }
  if (auto id = dyn_cast<gpu::ThreadIdOp>(op)) {
    declare(id.getResult(),
            "(long)get_local_id(" + std::to_string(static_cast<unsigned>(id.getDimension())) + ")");
    return success();
  }
  if (vectors(op))
    return success();
  std::string text = expression(op);
  if (text.empty())
    return op->emitError("has no OpenCL C spelling");
  declare(op->getResult(0), text);
  return success();
}

std::string OpenCLPrinter::constant(Operation *op) {
  Attribute value = llvm::cast<arith::ConstantOp>(op).getValue();
  if (auto f = dyn_cast<FloatAttr>(value)) {
    uint64_t bits = f.getValue().bitcastToAPInt().getZExtValue();
    if (f.getType().isF32())
      return "as_float(0x" + llvm::utohexstr(bits) + "u)";
    return "as_double(0x" + llvm::utohexstr(bits) + "ul)";
  }
  auto integer = llvm::cast<IntegerAttr>(value);
  if (isMask(integer.getType()))
    return integer.getValue().isZero() ? "0" : "1";
  // The most negative number has no literal; a cast bit pattern has.
  unsigned width = integer.getType().isIndex() ? 64 : integer.getType().getIntOrFloatBitWidth();
  uint64_t bits = integer.getValue().zextOrTrunc(width).getZExtValue();
  return cast(typeName(integer.getType()),
              "0x" + llvm::utohexstr(bits) + (width == 64 ? "ul" : "u"));
}

/// Wrapping arithmetic: computed unsigned, read back signed.
std::string OpenCLPrinter::wrapped(const char *symbol, Operation *op) {
  Type type = op->getResult(0).getType();
  std::string a = name(op->getOperand(0)), b = name(op->getOperand(1));
  if (isMask(type))
    return a + " " + symbol + " " + b;
  return cast(typeName(type),
              cast(typeName(type, true), a) + " " + symbol + " " + cast(typeName(type, true), b));
}

std::string OpenCLPrinter::integer(Operation *op) {
  Type type = op->getResult(0).getType();
  auto a = [&] { return name(op->getOperand(0)); };
  auto b = [&] { return name(op->getOperand(1)); };
  auto ua = [&] { return cast(typeName(type, true), a()); };
  auto ub = [&] { return cast(typeName(type, true), b()); };
  auto back = [&](const std::string &text) { return cast(typeName(type), text); };
  return TypeSwitch<Operation *, std::string>(op)
      .Case([&](arith::AddIOp) { return wrapped("+", op); })
      .Case([&](arith::SubIOp) { return wrapped("-", op); })
      // Two ushorts would multiply as signed ints, whose overflow is undefined.
      .Case([&](arith::MulIOp) {
        bool narrow = type.isInteger(16) || type.isInteger(8);
        return narrow ? back("(uint)" + a() + " * (uint)" + b()) : wrapped("*", op);
      })
      .Case([&](arith::AndIOp) { return wrapped("&", op); })
      .Case([&](arith::OrIOp) { return wrapped("|", op); })
      .Case([&](arith::XOrIOp) { return wrapped("^", op); })
      .Case([&](arith::ShLIOp) { return back(ua() + " << " + ub()); })
      .Case([&](arith::ShRUIOp) { return back(ua() + " >> " + ub()); })
      .Case([&](arith::ShRSIOp) { return back(a() + " >> " + b()); })
      .Case([&](arith::DivSIOp) { return back(a() + " / " + b()); })
      .Case([&](arith::RemSIOp) { return back(a() + " % " + b()); })
      .Case([&](arith::DivUIOp) { return back(ua() + " / " + ub()); })
      .Case([&](arith::RemUIOp) { return back(ua() + " % " + ub()); })
      // Sizes and counts: never negative, divisors positive.
      .Case([&](arith::CeilDivUIOp) { return back("(" + ua() + " + " + ub() + " - 1) / " + ub()); })
      .Case([&](arith::CeilDivSIOp) { return back("(" + ua() + " + " + ub() + " - 1) / " + ub()); })
      .Case([&](arith::MinSIOp) { return a() + " < " + b() + " ? " + a() + " : " + b(); })
      .Case([&](arith::MaxSIOp) { return a() + " > " + b() + " ? " + a() + " : " + b(); })
      .Case([&](arith::MinUIOp) { return ua() + " < " + ub() + " ? " + a() + " : " + b(); })
      .Case([&](arith::MaxUIOp) { return ua() + " > " + ub() + " ? " + a() + " : " + b(); })
      .Default(std::string());
}

std::string OpenCLPrinter::floating(Operation *op) {
  auto a = [&] { return name(op->getOperand(0)); };
  auto b = [&] { return name(op->getOperand(1)); };
  auto call = [&](const char *function) {
    std::string text = std::string(function) + "(";
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      text += (i ? ", " : "") + name(operand);
    return text + ")";
  };
  return TypeSwitch<Operation *, std::string>(op)
      .Case([&](arith::AddFOp) { return a() + " + " + b(); })
      .Case([&](arith::SubFOp) { return a() + " - " + b(); })
      .Case([&](arith::MulFOp) { return a() + " * " + b(); })
      .Case([&](arith::DivFOp) { return a() + " / " + b(); })
      .Case([&](arith::NegFOp) { return "-" + a(); })
      .Case([&](mlir::math::FmaOp) { return call("fma"); })
      .Case([&](mlir::math::SqrtOp) { return call("sqrt"); })
      .Case([&](mlir::math::RoundEvenOp) { return call("rint"); })
      .Case([&](mlir::math::FloorOp) { return call("floor"); })
      .Case([&](mlir::math::CeilOp) { return call("ceil"); })
      .Case([&](mlir::math::TruncOp) { return call("trunc"); })
      .Case([&](mlir::math::AbsFOp) { return call("fabs"); })
      .Case([&](mlir::math::CopySignOp) { return call("copysign"); })
      .Case([&](LLVM::CallIntrinsicOp intrinsic) {
        std::string function = nvidiaFunction(intrinsic.getIntrin());
        return function.empty() ? function : call(function.c_str());
      })
      .Default(std::string());
}

std::string OpenCLPrinter::conversion(Operation *op) {
  Type to = op->getResult(0).getType();
  Type from = op->getOperand(0).getType();
  std::string a = name(op->getOperand(0));
  return TypeSwitch<Operation *, std::string>(op)
      .Case<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::FPToSIOp, arith::IndexCastOp>(
          [&](auto) { return cast(typeName(to), a); })
      .Case([&](arith::UIToFPOp) { return cast(typeName(to), cast(typeName(from, true), a)); })
      .Case([&](arith::FPToUIOp) { return cast(typeName(to), cast(typeName(to, true), a)); })
      .Case([&](arith::ExtSIOp) {
        return isMask(from) ? cast(typeName(to), "-" + a) : cast(typeName(to), a);
      })
      .Case([&](arith::ExtUIOp) { return cast(typeName(to), cast(typeName(from, true), a)); })
      .Case([&](arith::TruncIOp) {
        return isMask(to) ? "(int)(" + a + " & 1)" : cast(typeName(to), a);
      })
      .Case([&](arith::BitcastOp) { return std::string("as_") + typeName(to) + "(" + a + ")"; })
      .Default(std::string());
}

std::string OpenCLPrinter::compare(Operation *op) {
  std::string a = name(op->getOperand(0)), b = name(op->getOperand(1));
  if (auto cmp = dyn_cast<arith::CmpIOp>(op)) {
    static constexpr const char *kSymbols[] = {"==", "!=", "<",  "<=", ">",
                                               ">=", "<",  "<=", ">",  ">="};
    auto predicate = static_cast<unsigned>(cmp.getPredicate());
    if (predicate >= static_cast<unsigned>(arith::CmpIPredicate::ult)) {
      const char *type = typeName(op->getOperand(0).getType(), true);
      a = cast(type, a);
      b = cast(type, b);
    }
    return a + " " + kSymbols[predicate] + " " + b;
  }
  using P = arith::CmpFPredicate;
  std::string unordered = "isunordered(" + a + ", " + b + ")";
  switch (llvm::cast<arith::CmpFOp>(op).getPredicate()) {
  case P::OEQ:
    return a + " == " + b;
  case P::OGT:
    return a + " > " + b;
  case P::OGE:
    return a + " >= " + b;
  case P::OLT:
    return a + " < " + b;
  case P::OLE:
    return a + " <= " + b;
  case P::ONE:
    return a + " < " + b + " || " + a + " > " + b;
  case P::ORD:
    return "!" + unordered;
  case P::UEQ:
    return "!(" + a + " < " + b + " || " + a + " > " + b + ")";
  case P::UGT:
    return "!(" + a + " <= " + b + ")";
  case P::UGE:
    return "!(" + a + " < " + b + ")";
  case P::ULT:
    return "!(" + a + " >= " + b + ")";
  case P::ULE:
    return "!(" + a + " > " + b + ")";
  case P::UNE:
    return a + " != " + b;
  case P::UNO:
    return unordered;
  case P::AlwaysFalse:
    return "0";
  case P::AlwaysTrue:
    return "1";
  }
  return "";
}

std::string OpenCLPrinter::expression(Operation *op) {
  if (isa<arith::ConstantOp>(op))
    return constant(op);
  if (isa<arith::CmpIOp, arith::CmpFOp>(op))
    return compare(op);
  if (isa<arith::SelectOp>(op))
    return name(op->getOperand(0)) + " ? " + name(op->getOperand(1)) + " : " +
           name(op->getOperand(2));
  for (auto print : {&OpenCLPrinter::integer, &OpenCLPrinter::floating, &OpenCLPrinter::conversion})
    if (std::string text = (this->*print)(op); !text.empty())
      return text;
  return "";
}
