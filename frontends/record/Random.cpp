// Random numbers: functions of an element's index, a stream and a key.
#include "frontends/record/Ops.h"
#include "frontends/record/OpsDetail.h"
#include "frontends/record/Record.h"
#include "frontends/record/Session.h"
#include "runtime/base/Strings.h"

namespace graphc::ops {

using strings::format;

Result<Array> random(op::OpKind kind, std::span<const Array> operands) {
  RecordScope scope;
  const op::OpInfo &info = op::opInfo(kind);
  if (info.operandDTypes != op::DTypeClass::Random ||
      operands.size() != static_cast<size_t>(info.arity))
    return Status(ErrorCode::InvalidArgument,
                  format("[{}] takes {} operands, got {}", info.name, info.arity, operands.size()));
  std::vector<std::span<const int64_t>> shapes;
  rt::Device *device = &operands[0].device();
  for (const Array &a : operands) {
    shapes.push_back(a.shape());
    if (&a.device() != device)
      return Status(ErrorCode::Device,
                    format("[{}] operands are on different devices, {} and {}; use to_device",
                           info.name, device->info().name, a.device().info().name));
  }
  GRAPHC_ASSIGN(Shape shape, op::broadcastShapes(info.name, shapes));
  std::vector<NodeRef> nodes;
  for (const Array &a : operands) {
    GRAPHC_ASSIGN(NodeRef n, a.value());
    GRAPHC_ASSIGN(NodeRef wide, node::broadcast(n, shape));
    nodes.push_back(std::move(wide));
  }
  return detail::finish(node::make(kind, nodes, {}, {}, *device));
}

Result<Array> randomWord(uint64_t bits, rt::Device *device) {
  RecordScope scope;
  if (!device) {
    GRAPHC_ASSIGN(device, currentDevice());
  }
  // Not node::literal: a word that happens to equal another constant must not share its node, or
  // the structure would depend on the value.
  op::FullAttrs attrs{bits};
  return Array(Node::makeOp(op::OpKind::Full, {}, attrs.encode(), {DType::UInt64, {}}, *device,
                            RecordScope::location()));
}

} // namespace graphc::ops
