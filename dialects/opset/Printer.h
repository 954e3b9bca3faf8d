//===- Printer.h - A GraphDesc as text --------------------------------------------------------===//
#ifndef GRAPHC_DIALECTS_OPSET_PRINTER_H
#define GRAPHC_DIALECTS_OPSET_PRINTER_H

#include "dialects/opset/GraphDesc.h"

#include <string>

namespace graphc::op {

/// "s0" for a symbol, the number for a literal.
std::string extentText(Extent e);
/// "f32[s0, 256]": NumPy's dtype name and the sizes.
std::string typeText(DType dtype, std::span<const Extent> shape);
/// " axes=[0, 1] kind=sum": attributes of a node, decoded; starts with a blank unless empty.
std::string attrsText(OpKind kind, DType dtype, std::span<const int64_t> attrs);
/// One line a value, in order; linear in the number of nodes.
std::string printGraph(const GraphDesc &graph);

} // namespace graphc::op

#endif // GRAPHC_DIALECTS_OPSET_PRINTER_H
