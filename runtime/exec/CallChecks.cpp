#include "runtime/exec/CallChecks.h"

namespace graphc::rt {

using namespace program;

std::string inputText(const Program &p, size_t i) {
  std::string_view name = p.text(p.inputs()[i].name);
  return name.empty() ? strings::format("input {}", i) : strings::format("input '{}'", name);
}

std::string allShapes(const Program &p, std::span<const Tensor> inputs) {
  std::string text;
  for (size_t i = 0; i < inputs.size(); ++i)
    text += strings::format("{}{} {}", i ? ", " : "", inputText(p, i), shapeText(inputs[i].shape));
  return text;
}

std::optional<int64_t> evaluate(const SizeRecord &s, const std::vector<int64_t> &sizes,
                                std::span<const Tensor> inputs,
                                std::span<const int64_t> arguments) {
  switch (static_cast<SizeKind>(s.kind)) {
  case SizeKind::Constant:
    return s.value;
  case SizeKind::InputDim:
    return inputs[s.a].shape[s.b];
  case SizeKind::Argument:
    return arguments[s.a];
  case SizeKind::Add:
    return checkedAdd(sizes[s.a], sizes[s.b]);
  case SizeKind::Sub:
    return checkedSub(sizes[s.a], sizes[s.b]);
  case SizeKind::Mul:
    return checkedMul(sizes[s.a], sizes[s.b]);
  case SizeKind::FloorDiv:
    return checkedFloorDiv(sizes[s.a], sizes[s.b]);
  case SizeKind::CeilDiv:
    return checkedCeilDiv(sizes[s.a], sizes[s.b]);
  case SizeKind::Min:
    return std::min(sizes[s.a], sizes[s.b]);
  case SizeKind::Max:
    return std::max(sizes[s.a], sizes[s.b]);
  }
  return std::nullopt;
}

Status checkInputs(const Program &p, const Device &device, std::span<const Tensor> inputs,
                   std::span<const int64_t> arguments) {
  if (inputs.size() != p.inputs().size())
    return runError(ErrorCode::InvalidArgument, "{} inputs given, {} wanted", inputs.size(),
                    p.inputs().size());
  if (arguments.size() != p.meta().sizeArguments)
    return runError(ErrorCode::InvalidArgument, "{} size arguments given, {} wanted",
                    arguments.size(), p.meta().sizeArguments);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor &t = inputs[i];
    const TensorRecord &record = p.inputs()[i];
    if (!t.buffer || &t.buffer->device() != &device)
      return runError(
          ErrorCode::InvalidArgument, "{} is {}, the program runs on {}", inputText(p, i),
          t.buffer ? "on " + t.buffer->device().info().name : "missing", device.info().name);
    if (static_cast<uint32_t>(t.dtype) != record.dtype)
      return runError(ErrorCode::DType, "{} has dtype {}, the program wants {}", inputText(p, i),
                      dtypeName(t.dtype), dtypeName(static_cast<DType>(record.dtype)));
    if (t.shape.rank() != record.rank)
      return runError(ErrorCode::Shape, "{} has shape {}, the program wants rank {}",
                      inputText(p, i), shapeText(t.shape), record.rank);
  }
  return Status::ok();
}

Status checkShapes(const Program &p, std::span<const Tensor> inputs,
                   const std::vector<int64_t> &sizes) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor &t = inputs[i];
    const TensorRecord &record = p.inputs()[i];
    std::span<const uint32_t> dims = p.dims(record);
    for (size_t d = 0; d < dims.size(); ++d)
      if (t.shape[d] != sizes[dims[d]])
        return runError(ErrorCode::Shape, "{} has shape {}, but its axis {} must be {}{}",
                        inputText(p, i), shapeText(t.shape), d, sizes[dims[d]],
                        inputs.size() > 1 ? " (inputs: " + allShapes(p, inputs) + ")" : "");
    auto bytes = byteCount(t.shape, t.dtype);
    int64_t planned = sizes[p.buffers()[record.buffer].elements];
    if (!bytes || *bytes > t.buffer->bytes() || planned > *bytes / itemSize(t.dtype))
      return runError(ErrorCode::InvalidArgument, "{} has shape {} but a buffer of {} bytes",
                      inputText(p, i), shapeText(t.shape), t.buffer->bytes());
  }
  for (const CheckRecord &c : p.checks())
    if (sizes[c.a] != sizes[c.b])
      return runError(ErrorCode::Shape, "sizes differ: {}: {} and {} ({})", p.text(c.what),
                      sizes[c.a], sizes[c.b], allShapes(p, inputs));
  return Status::ok();
}

} // namespace graphc::rt
