//===- Kernel.h - The kernel dialect ----------------------------------------------------------===//
#ifndef GRAPHC_DIALECTS_KERNEL_KERNEL_H
#define GRAPHC_DIALECTS_KERNEL_KERNEL_H

#include "dialects/graph/Graph.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace graphc::kernel {

/// Schedule families (codes are those of program::KernelFamily).
enum class Family : uint32_t {
  Map = 0,
  Rows = 1,
  Columns = 2,
  Full = 3,
  Contract = 4,
  Scan = 6,
  Sort = 7
};
llvm::StringRef stringifyFamily(Family family);
std::optional<Family> symbolizeFamily(llvm::StringRef name);

} // namespace graphc::kernel

namespace mlir {
template <>
struct FieldParser<graphc::kernel::Family> {
  static FailureOr<graphc::kernel::Family> parse(AsmParser &parser) {
    StringRef name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&name))
      return failure();
    if (auto family = graphc::kernel::symbolizeFamily(name))
      return *family;
    return parser.emitError(loc, "unknown schedule family '") << name << "'";
  }
};
} // namespace mlir

namespace graphc::kernel {
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, Family family) {
  return os << stringifyFamily(family);
}
} // namespace graphc::kernel

#include "dialects/kernel/KernelDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/kernel/KernelAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/kernel/KernelOps.h.inc"

#endif // GRAPHC_DIALECTS_KERNEL_KERNEL_H
