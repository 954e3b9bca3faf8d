//===- SmallUnits.h - Programs of one operation on vectors ------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_SMALLUNITS_H
#define GRAPHC_FRONTENDS_RECORD_SMALLUNITS_H

#include "dialects/opset/GraphDesc.h"
#include "runtime/device/Device.h"

#include <functional>

namespace graphc::small {

/// The graphs of all programs of one operation that small arrays may need.
Status forEachUnit(rt::Device &device, const std::function<Status(const op::GraphDesc &)> &visit);

} // namespace graphc::small

#endif // GRAPHC_FRONTENDS_RECORD_SMALLUNITS_H
