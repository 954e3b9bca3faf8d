#include "compiler/emit/Emitter.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/plan/Plan.h"
#include "runtime/base/DType.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

using namespace mlir;
using namespace graphc;
using namespace graphc::emit;
namespace prog = graphc::program;

emit::EmittedKernel emit::describeKernel(Operation *op) {
  auto func = cast<func::FuncOp>(op);
  EmittedKernel kernel;
  kernel.name = func.getSymName().str();
  if (auto family =
          kernel::symbolizeFamily(func->getAttrOfType<StringAttr>("graphc.family").getValue()))
    kernel.family = static_cast<uint32_t>(*family);
  // Schedules count picoseconds.
  kernel.cost = func->getAttrOfType<IntegerAttr>("graphc.cost").getInt() / 1000.0;
  int64_t buffers = func->getAttrOfType<IntegerAttr>("graphc.buffers").getInt();
  int64_t inputs = func->getAttrOfType<IntegerAttr>("graphc.inputs").getInt();
  for (int64_t i = 0; i < buffers; ++i)
    kernel.writes.push_back(i >= inputs);
  if (func->hasAttr("graphc.tickets"))
    kernel.writes.back() = 0;
  kernel.reports = func->hasAttr("graphc.faults");
  if (auto checks = func->getAttrOfType<IntegerAttr>("graphc.checks"))
    kernel.checks = static_cast<uint32_t>(checks.getInt());
  if (auto reads = func->getAttrOfType<DenseI32ArrayAttr>("graphc.check_reads")) {
    kernel.checkReads.resize(buffers);
    for (int32_t i : reads.asArrayRef())
      kernel.checkReads[i] = 1;
  }
  if (auto scratch = func->getAttrOfType<IntegerAttr>("graphc.scratch"))
    kernel.scratch = scratch.getInt();
  if (auto group = func->getAttrOfType<IntegerAttr>("graphc.group")) {
    kernel.group = group.getInt();
    kernel.itemsPerThread = 0;
  }
  if (auto piece = func->getAttrOfType<IntegerAttr>("graphc.piece"))
    kernel.itemsPerThread = piece.getInt();
  kernel.sizeCount = func.getNumArguments() - buffers - 2 - (kernel.scratch > 0);
  if (auto memory = func->getAttrOfType<IntegerAttr>("graphc.group_memory"))
    kernel.scratch = memory.getInt();
  return kernel;
}

namespace {

uint32_t dtypeOf(Type type) {
  if (type.isF32())
    return static_cast<uint32_t>(DType::Float32);
  if (type.isF64())
    return static_cast<uint32_t>(DType::Float64);
  if (type.isF16())
    return static_cast<uint32_t>(DType::Float16);
  if (type.isBF16())
    return static_cast<uint32_t>(DType::BFloat16);
  if (type.isInteger(1))
    return static_cast<uint32_t>(DType::Bool);
  if (auto complex = dyn_cast<ComplexType>(type))
    return static_cast<uint32_t>(complex.getElementType().isF64() ? DType::Complex128
                                                                  : DType::Complex64);
  uint32_t log = llvm::Log2_32(type.getIntOrFloatBitWidth() / 8);
  return static_cast<uint32_t>(type.isUnsignedInteger() ? DType::UInt8 : DType::Int8) + log;
}

/// Collects the records of one program and lays them out.
class Writer {
public:
  Writer(const EmittedCode &code) : code(code) {}
  Status collect(plan::ProgramOp program);
  std::vector<uint8_t> layout(prog::Target target, StringRef name, std::string_view explain,
                              std::string_view buildId);

private:
  prog::String text(StringRef s) {
    prog::String result{static_cast<uint32_t>(strings.size()), static_cast<uint32_t>(s.size())};
    strings.insert(strings.end(), s.begin(), s.end());
    return result;
  }
  uint32_t pool(ArrayRef<uint32_t> values) {
    uint32_t first = words.size();
    words.insert(words.end(), values.begin(), values.end());
    return first;
  }
  uint32_t size(Value v) { return sizeNumber.lookup(v); }
  uint32_t constantSize(int64_t value);
  Status addSize(Operation *op);
  Status addStep(Operation *op);
  void addFaults(plan::FaultsOp op);
  void addCall(plan::CallOp call);
  void addTensor(std::vector<prog::TensorRecord> &to, RankedTensorType type, uint32_t buffer,
                 ArrayRef<uint32_t> dynamic);
  Status addReturn(plan::ReturnOp ret, plan::ProgramOp program);

  const EmittedCode &code;
  std::vector<char> strings;
  std::vector<uint32_t> words;
  std::vector<prog::SizeRecord> sizes;
  std::vector<prog::CheckRecord> checks;
  std::vector<uint8_t> zeros; ///< of constants
  std::vector<prog::TensorRecord> inputs, outputs;
  std::vector<prog::BufferRecord> buffers;
  std::vector<prog::StepRecord> steps;
  std::vector<prog::FaultRecord> faults;
  std::vector<prog::CallRecord> calls;
  llvm::DenseMap<Value, uint32_t> sizeNumber, bufferNumber;
  llvm::DenseMap<int64_t, uint32_t> constants;
  uint32_t sizeArguments = 0;
};

uint32_t Writer::constantSize(int64_t value) {
  auto [it, inserted] = constants.try_emplace(value, sizes.size());
  if (inserted)
    sizes.push_back({static_cast<uint32_t>(prog::SizeKind::Constant), 0, 0, 0, value});
  return it->second;
}

Status Writer::addSize(Operation *op) {
  prog::SizeRecord record{};
  auto set = [&](prog::SizeKind kind, uint32_t a = 0, uint32_t b = 0) {
    record.kind = static_cast<uint32_t>(kind);
    record.a = a;
    record.b = b;
  };
  auto binary = [&](prog::SizeKind kind) {
    set(kind, size(op->getOperand(0)), size(op->getOperand(1)));
  };
  if (auto constant = dyn_cast<arith::ConstantIndexOp>(op)) {
    sizeNumber[op->getResult(0)] = constantSize(constant.value());
    return Status::ok();
  }
  if (auto dim = dyn_cast<plan::DimOp>(op)) {
    set(prog::SizeKind::InputDim, dim.getInput(), dim.getAxis());
  } else if (auto argument = dyn_cast<plan::SizeOp>(op)) {
    set(prog::SizeKind::Argument, argument.getNumber());
    sizeArguments = std::max<uint32_t>(sizeArguments, argument.getNumber() + 1);
  } else if (isa<arith::AddIOp>(op)) {
    binary(prog::SizeKind::Add);
  } else if (isa<arith::SubIOp>(op)) {
    binary(prog::SizeKind::Sub);
  } else if (isa<arith::MulIOp>(op)) {
    binary(prog::SizeKind::Mul);
  } else if (isa<arith::FloorDivSIOp, arith::DivUIOp, arith::DivSIOp>(op)) {
    binary(prog::SizeKind::FloorDiv);
  } else if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op)) {
    binary(prog::SizeKind::CeilDiv);
  } else if (isa<arith::MinSIOp>(op)) {
    binary(prog::SizeKind::Min);
  } else if (isa<arith::MaxSIOp>(op)) {
    binary(prog::SizeKind::Max);
  } else {
    return Status(ErrorCode::Compile,
                  "[plan] sizes cannot be computed with " + op->getName().getStringRef().str());
  }
  sizeNumber[op->getResult(0)] = sizes.size();
  sizes.push_back(record);
  return Status::ok();
}

Status Writer::addStep(Operation *op) {
  prog::StepRecord step{};
  step.kernel = prog::kNone;
  SmallVector<uint32_t> args, sizeArgs;
  if (auto copy = dyn_cast<plan::CopyOp>(op)) {
    step.kind = static_cast<uint32_t>(prog::StepKind::Copy);
    args = {bufferNumber.lookup(copy.getTarget()), bufferNumber.lookup(copy.getSource())};
    step.range = step.work = constantSize(1);
  } else {
    auto launch = cast<plan::LaunchOp>(op);
    auto found = llvm::find_if(
        code.kernels, [&](const EmittedKernel &k) { return k.name == launch.getKernel(); });
    if (found == code.kernels.end())
      return Status(ErrorCode::Internal,
                    "[plan] launches unknown kernel " + launch.getKernel().str());
    step.kind = static_cast<uint32_t>(prog::StepKind::Launch);
    step.kernel = found - code.kernels.begin();
    for (Value buffer : launch.getBuffers())
      args.push_back(bufferNumber.lookup(buffer));
    for (Value s : launch.getSizes())
      sizeArgs.push_back(size(s));
    step.range = size(launch.getRange());
    step.work = size(launch.getWork());
    if (Value rows = launch.getRows()) {
      step.tile = static_cast<uint32_t>(*launch.getTile());
      step.rows = size(rows);
      if (Value skew = launch.getSkew())
        step.skew = size(skew);
    }
  }
  step.buffers = pool(args);
  step.bufferCount = args.size();
  step.sizes = pool(sizeArgs);
  step.sizeCount = sizeArgs.size();
  steps.push_back(step);
  return Status::ok();
}

void Writer::addCall(plan::CallOp call) {
  SmallVector<uint32_t> args, sizeArgs, ranks, params;
  for (Value buffer : call.getInputs())
    args.push_back(bufferNumber.lookup(buffer));
  args.push_back(bufferNumber.lookup(call.getOutput()));
  for (Value s : call.getSizes())
    sizeArgs.push_back(size(s));
  llvm::append_range(ranks, call.getRanks());
  for (int64_t param : call.getParams()) {
    params.push_back(static_cast<uint32_t>(param));
    params.push_back(static_cast<uint32_t>(static_cast<uint64_t>(param) >> 32));
  }
  prog::StepRecord step{};
  step.kind = static_cast<uint32_t>(prog::StepKind::Call);
  step.kernel = calls.size();
  step.range = step.work = constantSize(1);
  step.buffers = pool(args);
  step.bufferCount = args.size();
  step.sizes = pool(sizeArgs);
  step.sizeCount = sizeArgs.size();
  steps.push_back(step);
  int64_t node = call.getNode();
  calls.push_back({text(call.getRoutine()), pool(ranks), pool(params),
                   static_cast<uint32_t>(call.getParams().size()),
                   node < 0 ? prog::kNone : static_cast<uint32_t>(node), text(call.getLines())});
}

void Writer::addTensor(std::vector<prog::TensorRecord> &to, RankedTensorType type, uint32_t buffer,
                       ArrayRef<uint32_t> dynamic) {
  SmallVector<uint32_t> dims;
  unsigned next = 0;
  for (int64_t extent : type.getShape())
    dims.push_back(ShapedType::isDynamic(extent) ? dynamic[next++] : constantSize(extent));
  to.push_back({dtypeOf(type.getElementType()), static_cast<uint32_t>(type.getRank()), pool(dims),
                buffer, text("")});
}

Status Writer::addReturn(plan::ReturnOp ret, plan::ProgramOp program) {
  unsigned next = 0;
  for (auto [i, buffer, attr] : llvm::enumerate(ret.getBuffers(), program.getOutputs())) {
    auto type = cast<RankedTensorType>(cast<TypeAttr>(attr).getValue());
    SmallVector<uint32_t> dynamic;
    for (size_t d = 0, e = type.getNumDynamicDims(); d < e; ++d)
      dynamic.push_back(size(ret.getSizes()[next++]));
    uint32_t number = bufferNumber.lookup(buffer);
    buffers[number].kind = static_cast<uint32_t>(prog::BufferKind::Output);
    buffers[number].a = i;
    addTensor(outputs, type, number, dynamic);
  }
  return Status::ok();
}

void Writer::addFaults(plan::FaultsOp op) {
  bufferNumber[op.getBuffer()] = buffers.size();
  buffers.push_back({static_cast<uint32_t>(prog::BufferKind::Faults),
                     static_cast<uint32_t>(DType::Int64), constantSize(prog::kFaultWords), 0,
                     prog::kNone});
  for (Attribute site : op.getSites()) {
    auto fields = cast<DictionaryAttr>(site);
    faults.push_back({static_cast<uint32_t>(fields.getAs<IntegerAttr>("axis").getInt()),
                      static_cast<uint32_t>(fields.getAs<IntegerAttr>("place").getInt()),
                      text(fields.getAs<StringAttr>("line").getValue())});
  }
}

Status Writer::collect(plan::ProgramOp program) {
  Block &body = program.getBody().front();
  for (auto [i, argument, attr] : llvm::enumerate(body.getArguments(), program.getInputs())) {
    auto type = cast<RankedTensorType>(cast<TypeAttr>(attr).getValue());
    // Sizes of the input itself: every axis is a size, and its product the element count.
    SmallVector<uint32_t> dynamic;
    uint32_t count = constantSize(1);
    for (auto [axis, extent] : llvm::enumerate(type.getShape())) {
      uint32_t number = ShapedType::isDynamic(extent) ? sizes.size() : constantSize(extent);
      if (ShapedType::isDynamic(extent)) {
        sizes.push_back({static_cast<uint32_t>(prog::SizeKind::InputDim), static_cast<uint32_t>(i),
                         static_cast<uint32_t>(axis), 0, 0});
        dynamic.push_back(number);
      }
      sizes.push_back({static_cast<uint32_t>(prog::SizeKind::Mul), count, number, 0, 0});
      count = sizes.size() - 1;
    }
    uint32_t buffer = buffers.size();
    bufferNumber[argument] = buffer;
    buffers.push_back({static_cast<uint32_t>(prog::BufferKind::Input),
                       dtypeOf(type.getElementType()), count, static_cast<uint32_t>(i),
                       prog::kNone});
    addTensor(inputs, type, buffer, dynamic);
  }
  for (Operation &op : body) {
    if (auto alloc = dyn_cast<plan::AllocOp>(op)) {
      bufferNumber[alloc.getBuffer()] = buffers.size();
      // Kernels leave tickets as they were.
      auto tickets = alloc->getAttrOfType<IntegerAttr>("graphc.tickets");
      auto kind = tickets ? prog::BufferKind::Constant : prog::BufferKind::Temp;
      if (tickets)
        zeros.resize(tickets.getInt());
      buffers.push_back({static_cast<uint32_t>(kind),
                         dtypeOf(alloc.getBuffer().getType().getElement()),
                         size(alloc.getElements()), 0,
                         static_cast<uint32_t>(alloc.getDonor().value_or(prog::kNone))});
    } else if (auto report = dyn_cast<plan::FaultsOp>(op)) {
      addFaults(report);
    } else if (auto check = dyn_cast<plan::CheckOp>(op)) {
      checks.push_back({size(check.getLhs()), size(check.getRhs()), text(check.getWhat())});
    } else if (auto ret = dyn_cast<plan::ReturnOp>(op)) {
      GRAPHC_TRY(addReturn(ret, program));
    } else if (isa<plan::LaunchOp, plan::CopyOp>(op)) {
      GRAPHC_TRY(addStep(&op));
    } else if (auto call = dyn_cast<plan::CallOp>(op)) {
      addCall(call);
    } else {
      GRAPHC_TRY(addSize(&op));
    }
  }
  return Status::ok();
}

std::vector<uint8_t> Writer::layout(prog::Target target, StringRef name, std::string_view explain,
                                    std::string_view buildId) {
  std::vector<prog::KernelRecord> kernels;
  for (const EmittedKernel &kernel : code.kernels) {
    prog::KernelRecord record{};
    record.name = text(kernel.name);
    record.entry = kernel.entry;
    record.family = kernel.family;
    record.bufferCount = kernel.writes.size();
    record.sizeCount = kernel.sizeCount;
    record.writes = pool(kernel.writes);
    record.grain = kernel.grain;
    record.scratch = kernel.scratch > 0 ? constantSize(kernel.scratch) : prog::kNone;
    record.itemsPerThread = kernel.itemsPerThread;
    record.group = kernel.group;
    record.costPerItem = kernel.cost;
    record.lines = text("");
    record.checks = kernel.checks;
    record.checkReads = kernel.checkReads.empty() ? prog::kNone : pool(kernel.checkReads);
    kernels.push_back(record);
  }
  prog::MetaRecord meta{};
  meta.name = text(name);
  meta.isa = text(code.isa);
  meta.compiler = text(buildId);
  meta.explain = text(explain);
  meta.sizeArguments = sizeArguments;

  std::vector<uint8_t> blob(sizeof(prog::Header));
  std::vector<prog::SectionRecord> table;
  constexpr uint32_t kSections = 16;
  blob.resize(sizeof(prog::Header) + kSections * sizeof(prog::SectionRecord));
  auto add = [&](prog::Section section, const void *data, size_t bytes, size_t count) {
    blob.resize(llvm::alignTo(blob.size(), prog::alignmentOf(section)));
    table.push_back(
        {static_cast<uint32_t>(section), static_cast<uint32_t>(count), blob.size(), bytes});
    const auto *first = static_cast<const uint8_t *>(data);
    if (bytes)
      blob.insert(blob.end(), first, first + bytes);
  };
  auto records = [&](prog::Section section, const auto &vector) {
    add(section, vector.data(), vector.size() * sizeof(vector[0]), vector.size());
  };
  records(prog::Section::Strings, strings);
  records(prog::Section::Words, words);
  records(prog::Section::Sizes, sizes);
  records(prog::Section::Checks, checks);
  records(prog::Section::Inputs, inputs);
  records(prog::Section::Outputs, outputs);
  records(prog::Section::Buffers, buffers);
  records(prog::Section::Kernels, kernels);
  records(prog::Section::Steps, steps);
  records(prog::Section::Faults, faults);
  records(prog::Section::Code, code.code);
  records(prog::Section::Data, zeros);
  add(prog::Section::Meta, &meta, sizeof(meta), 1);
  records(prog::Section::Calls, calls);
  records(prog::Section::Il, code.il);
  records(prog::Section::Binary, code.binary);
  std::memcpy(blob.data() + sizeof(prog::Header), table.data(),
              table.size() * sizeof(prog::SectionRecord));

  prog::Header header{};
  std::memcpy(header.magic, prog::kMagic, sizeof(header.magic));
  header.version = prog::kVersion;
  header.target = static_cast<uint32_t>(target);
  header.totalBytes = blob.size();
  header.sectionCount = table.size();
  XXH128_hash_t hash =
      XXH3_128bits(blob.data() + sizeof(prog::Header), blob.size() - sizeof(prog::Header));
  header.checksum[0] = hash.low64;
  header.checksum[1] = hash.high64;
  std::memcpy(blob.data(), &header, sizeof(header));
  return blob;
}

} // namespace

Result<std::vector<uint8_t>> emit::writeProgram(ModuleOp module, const EmittedCode &code,
                                                prog::Target target, std::string_view explain,
                                                std::string_view buildId) {
  auto programs = module.getOps<plan::ProgramOp>();
  if (programs.empty())
    return Status(ErrorCode::Compile, "[plan] the module has no function");
  plan::ProgramOp program = *programs.begin();
  Writer writer(code);
  GRAPHC_TRY(writer.collect(program));
  return writer.layout(target, program.getSymName(), explain, buildId);
}
