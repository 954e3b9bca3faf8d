#include "dialects/opset/Printer.h"

#include "dialects/opset/Promote.h"
#include "runtime/base/Strings.h"

namespace graphc::op {
namespace {

using strings::format;

std::string listText(std::span<const int64_t> values, bool extents) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i)
    text +=
        format("{}{}", i ? ", " : "", extents ? extentText(values[i]) : std::to_string(values[i]));
  return text + "]";
}

} // namespace

std::string extentText(Extent e) {
  return isSymbol(e) ? format("s{}", symbolOf(e)) : format("{}", e);
}

std::string typeText(DType dtype, std::span<const Extent> shape) {
  return format("{}{}", dtypeName(dtype), listText(shape, true));
}

std::string attrsText(OpKind kind, DType dtype, std::span<const int64_t> attrs) {
  std::vector<AttrSpan> spans;
  if (!splitAttrs(kind, attrs, spans))
    return " <malformed attributes>";
  std::string text;
  const OpInfo &info = opInfo(kind);
  for (size_t i = 0; i < spans.size(); ++i) {
    auto words = attrs.subspan(spans[i].offset, spans[i].count);
    std::string value;
    switch (spans[i].kind) {
    case AttrKind::Int:
      value = info.attrs[i].name == "kind" && words[0] >= 0 && words[0] < kReduceKindCount
                  ? std::string(reduceKindName(static_cast<ReduceKind>(words[0])))
                  : format("{}", words[0]);
      break;
    case AttrKind::Ints:
    case AttrKind::Extents:
      value = listText(words, spans[i].kind == AttrKind::Extents);
      break;
    case AttrKind::Literal:
      value = literalText(static_cast<uint64_t>(words[0]), dtype);
      break;
    }
    text += format(" {}={}", info.attrs[i].name, value);
  }
  return text;
}

std::string printGraph(const GraphDesc &graph) {
  std::string text = format("graph @{}(", graph.name);
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    text += format("{}%{}: {}", i ? ", " : "", i,
                   typeText(graph.inputs[i].dtype, graph.inputs[i].shape));
  text += ") {\n";
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeDesc &node = graph.nodes[i];
    text += format("  %{} = {}", graph.inputs.size() + i, opInfo(node.kind).name);
    for (size_t k = 0; k < node.operands.size(); ++k)
      text += format("{} %{}", k ? "," : "", node.operands[k]);
    text += format("{} : {}", attrsText(node.kind, node.dtype, node.attrs),
                   typeText(node.dtype, node.shape));
    if (node.line && node.line < graph.lines.size())
      text += format("  // {}", graph.lines[node.line]);
    text += '\n';
  }
  text += "  return";
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    text += format("{} %{}", i ? "," : "", graph.outputs[i]);
  return text + "\n}\n";
}

} // namespace graphc::op
