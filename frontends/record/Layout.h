//===- Layout.h - Places of a layout's elements in the flat base ------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_LAYOUT_H
#define GRAPHC_FRONTENDS_RECORD_LAYOUT_H

#include "frontends/record/View.h"

namespace graphc {

/// int64 of the layout's shape: its offset, and its strides times how far along each axis an
/// element is.
Result<NodeRef> placesOf(const LayoutStep &layout, rt::Device &device);

/// Makes `first` what it shows and then `second` of that: one step. Not where that empties an axis
/// that is new, as no axis of the source has the count 0 then.
void compose(StridedStep &first, const StridedStep &second);
bool emptiesNewAxis(const StridedStep &first, const StridedStep &second);

/// Whether a step shows all of its source, of this shape, as it is.
bool isIdentity(const StridedStep &step, std::span<const int64_t> source);

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_LAYOUT_H
