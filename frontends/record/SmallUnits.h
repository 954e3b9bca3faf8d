//===- SmallUnits.h - Programs of one operation on vectors ------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_SMALLUNITS_H
#define GRAPHC_FRONTENDS_RECORD_SMALLUNITS_H

#include "dialects/opset/GraphDesc.h"
#include "frontends/record/Array.h"
#include "runtime/device/Device.h"

#include <functional>
#include <optional>

namespace graphc::small {

/// The graphs of all programs of one operation that small arrays may need.
Status forEachUnit(rt::Device &device, const std::function<Status(const op::GraphDesc &)> &visit);

/// The elements of a computed vector of float32 or float64 combined from the first to the last by
/// an operation that is such a program; nothing where that has to be recorded.
Result<std::optional<KnownValue>> foldByUnit(op::OpKind kind, const Array &x);

} // namespace graphc::small

#endif // GRAPHC_FRONTENDS_RECORD_SMALLUNITS_H
