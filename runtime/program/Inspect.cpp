//===- Inspect.cpp - Programs as text ---------------------------------------------------------===//
#include "runtime/program/Inspect.h"

#include "runtime/base/Strings.h"

namespace graphc::program {
namespace {

using strings::format;
using strings::jsonQuote;

std::string inputName(const Program &p, uint32_t input) {
  std::string_view name = p.text(p.inputs()[input].name);
  return name.empty() ? format("in{}", input) : std::string(name);
}

std::string outputName(const Program &p, uint32_t output) {
  std::string_view name = p.text(p.outputs()[output].name);
  return name.empty() ? format("out{}", output) : std::string(name);
}

std::string tensorText(const Program &p, const TensorRecord &t) {
  std::string text(dtypeName(static_cast<graphc::DType>(t.dtype)));
  text += '[';
  for (uint32_t d = 0; d < t.rank; ++d)
    text += (d ? ", " : "") + sizeText(p, p.dims(t)[d]);
  return text + ']';
}

std::string bufferText(const Program &p, uint32_t buffer) {
  const BufferRecord &b = p.buffers()[buffer];
  switch (static_cast<BufferKind>(b.kind)) {
  case BufferKind::Input:
    return "%" + inputName(p, b.a);
  case BufferKind::Output:
    return "%" + outputName(p, b.a);
  case BufferKind::Temp:
    return format("%t{}", buffer);
  case BufferKind::Constant:
    return format("%c{}", buffer);
  case BufferKind::Faults:
    return "%faults";
  }
  return "?";
}

std::string callText(const Program &p, const StepRecord &s) {
  const CallRecord &c = p.calls()[s.kernel];
  std::string text = format("library {}(", p.text(c.routine));
  uint32_t size = 0;
  auto tensor = [&](uint32_t i) {
    std::string dims;
    for (uint32_t d = 0; d < p.callRanks(s)[i]; ++d)
      dims += (d ? ", " : "") + sizeText(p, p.stepSizes(s)[size++]);
    return format("{}[{}]", bufferText(p, p.stepBuffers(s)[i]), dims);
  };
  for (uint32_t i = 0; i + 1 < s.bufferCount; ++i)
    text += (i ? ", " : "") + tensor(i);
  text += format(") to {}", tensor(s.bufferCount - 1));
  for (uint32_t i = 0; i < c.paramCount; ++i)
    text += format("{}{}", i ? ", " : " params ", p.callParam(c, i));
  if (c.lines.bytes)
    text += format("  # {}", p.text(c.lines));
  return text;
}

std::string stepText(const Program &p, const StepRecord &s) {
  if (static_cast<StepKind>(s.kind) == StepKind::Copy)
    return format("copy {} <- {}", bufferText(p, p.stepBuffers(s)[0]),
                  bufferText(p, p.stepBuffers(s)[1]));
  if (static_cast<StepKind>(s.kind) == StepKind::Call)
    return callText(p, s);
  std::string text = format("launch @{}(", p.text(p.kernels()[s.kernel].name));
  for (uint32_t i = 0; i < s.bufferCount; ++i)
    text += (i ? ", " : "") + bufferText(p, p.stepBuffers(s)[i]);
  text += ')';
  if (s.sizeCount) {
    text += " sizes(";
    for (uint32_t i = 0; i < s.sizeCount; ++i)
      text += (i ? ", " : "") + sizeText(p, p.stepSizes(s)[i]);
    text += ')';
  }
  text += format(" over ({})", sizeText(p, s.range));
  if (s.tile != kNone)
    text += format(" tile {} of {} rows", s.tile, sizeText(p, s.rows));
  if (s.tile != kNone && s.skew != kNone)
    text += format(" skew {}", sizeText(p, s.skew));
  return text;
}

std::string kernelText(const Program &p, const KernelRecord &k) {
  std::string text =
      format("@{} {}: {} buffers, {} sizes", p.text(k.name),
             familyName(static_cast<KernelFamily>(k.family)), k.bufferCount, k.sizeCount);
  if (p.target() == Target::Cpu)
    text += format(", entry {}, grain {}", k.entry, k.grain);
  else
    text += format(", {} items a thread, group {}", k.itemsPerThread,
                   k.group ? format("{}", k.group) : std::string("chosen by the driver"));
  if (k.scratch != kNone)
    text += format(", scratch {} bytes", sizeText(p, k.scratch));
  text += format(", {:.3g} ns an item", k.costPerItem);
  if (k.lines.bytes)
    text += format("  # {}", p.text(k.lines));
  return text;
}

// Sizes are a DAG in which shared operands could make an expression exponentially long: past a
// depth they are named.
std::string sizeExpression(const Program &p, uint32_t number, int depth) {
  const SizeRecord &s = p.sizes()[number];
  auto kind = static_cast<SizeKind>(s.kind);
  if (kind == SizeKind::Constant)
    return format("{}", s.value);
  if (kind == SizeKind::InputDim)
    return format("{}.{}", inputName(p, s.a), s.b);
  if (kind == SizeKind::Argument)
    return format("n{}", s.a);
  if (depth == 0)
    return format("#{}", number);
  std::string a = sizeExpression(p, s.a, depth - 1);
  std::string b = sizeExpression(p, s.b, depth - 1);
  switch (kind) {
  case SizeKind::Add:
    return format("({} + {})", a, b);
  case SizeKind::Sub:
    return format("({} - {})", a, b);
  case SizeKind::Mul:
    return format("{}*{}", a, b);
  case SizeKind::FloorDiv:
    return format("({} floordiv {})", a, b);
  case SizeKind::CeilDiv:
    return format("({} ceildiv {})", a, b);
  case SizeKind::Min:
    return format("min({}, {})", a, b);
  default:
    return format("max({}, {})", a, b);
  }
}

std::string tensorJson(const Program &p, const TensorRecord &t, const std::string &name) {
  std::string dims;
  for (uint32_t d = 0; d < t.rank; ++d)
    dims += (d ? "," : "") + jsonQuote(sizeText(p, p.dims(t)[d]));
  return format("{{\"name\":{},\"dtype\":\"{}\",\"shape\":[{}]}}", jsonQuote(name),
                dtypeName(static_cast<graphc::DType>(t.dtype)), dims);
}

} // namespace

std::string sizeText(const Program &program, uint32_t size) {
  return sizeExpression(program, size, 6);
}

// Of an OpenCL program: the forms of code that it carries.
static std::string formsText(const Program &p) {
  std::string text;
  auto add = [&](std::span<const uint8_t> code, const char *form) {
    if (!code.empty())
      text += (text.empty() ? "" : ", ") + std::string(form);
  };
  if (p.target() == Target::OpenCL) {
    add(p.code(), "OpenCL C");
    add(p.il(), "SPIR-V");
    add(p.binary(), "PTX");
  }
  return text;
}

std::string inspectText(const Program &p) {
  const MetaRecord &m = p.meta();
  std::string text = format("program @{} for {}", p.text(m.name), targetName(p.target()));
  if (std::string forms = formsText(p); !forms.empty())
    text += format(" in {}", forms);
  if (m.isa.bytes)
    text += format(" ({})", p.text(m.isa));
  text += format(", format {}, {}, compiler {}\n", kVersion,
                 strings::bytesText(static_cast<int64_t>(p.bytes().size())), p.text(m.compiler));
  for (uint32_t i = 0; i < p.inputs().size(); ++i)
    text += format("  input  {}: {}\n", inputName(p, i), tensorText(p, p.inputs()[i]));
  if (m.sizeArguments)
    text += format("  size arguments: {}\n", m.sizeArguments);
  for (uint32_t i = 0; i < p.outputs().size(); ++i)
    text += format("  output {}: {}\n", outputName(p, i), tensorText(p, p.outputs()[i]));
  for (const CheckRecord &c : p.checks())
    text += format("  check  {} = {}  # {}\n", sizeText(p, c.a), sizeText(p, c.b), p.text(c.what));
  for (uint32_t i = 0; i < p.buffers().size(); ++i) {
    const BufferRecord &b = p.buffers()[i];
    auto kind = static_cast<BufferKind>(b.kind);
    if (kind == BufferKind::Temp || kind == BufferKind::Constant)
      text += format("  {} {}: {}[{}]\n", kind == BufferKind::Temp ? "temp  " : "const ",
                     bufferText(p, i), dtypeName(static_cast<graphc::DType>(b.dtype)),
                     sizeText(p, b.elements));
  }
  for (const KernelRecord &k : p.kernels())
    text += format("  kernel {}\n", kernelText(p, k));
  for (size_t i = 0; i < p.steps().size(); ++i)
    text += format("  step {}: {}\n", i, stepText(p, p.steps()[i]));
  if (m.explain.bytes)
    text += format("{}\n", p.text(m.explain));
  return text;
}

std::string inspectJson(const Program &p) {
  const MetaRecord &m = p.meta();
  std::string inputs, outputs, kernels, steps;
  for (uint32_t i = 0; i < p.inputs().size(); ++i)
    inputs += (i ? "," : "") + tensorJson(p, p.inputs()[i], inputName(p, i));
  for (uint32_t i = 0; i < p.outputs().size(); ++i)
    outputs += (i ? "," : "") + tensorJson(p, p.outputs()[i], outputName(p, i));
  for (size_t i = 0; i < p.kernels().size(); ++i) {
    const KernelRecord &k = p.kernels()[i];
    kernels += format("{}{{\"name\":{},\"family\":\"{}\",\"buffers\":{},\"sizes\":{},"
                      "\"cost_ns\":{},\"lines\":{}}}",
                      i ? "," : "", jsonQuote(p.text(k.name)),
                      familyName(static_cast<KernelFamily>(k.family)), k.bufferCount, k.sizeCount,
                      k.costPerItem, jsonQuote(p.text(k.lines)));
  }
  for (size_t i = 0; i < p.steps().size(); ++i)
    steps += (i ? "," : "") + jsonQuote(stepText(p, p.steps()[i]));
  return format(
      "{{\"name\":{},\"target\":\"{}\",\"forms\":{},\"isa\":{},\"format\":{},\"bytes\":{},"
      "\"code_bytes\":{},\"data_bytes\":{},\"compiler\":{},\"size_arguments\":{},"
      "\"inputs\":[{}],\"outputs\":[{}],\"kernels\":[{}],\"steps\":[{}],\"explain\":{}}}",
      jsonQuote(p.text(m.name)), targetName(p.target()), jsonQuote(formsText(p)),
      jsonQuote(p.text(m.isa)), kVersion, p.bytes().size(),
      p.code().size() + p.il().size() + p.binary().size(), p.data().size(),
      jsonQuote(p.text(m.compiler)), m.sizeArguments, inputs, outputs, kernels, steps,
      jsonQuote(p.text(m.explain)));
}

} // namespace graphc::program
