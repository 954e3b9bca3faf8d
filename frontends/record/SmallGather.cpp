#include "frontends/record/SmallGather.h"

namespace graphc::small {

void joinAxes(std::span<const int64_t> shape, std::span<const int64_t> strides, Shape &sizes,
              Shape &steps) {
  sizes.resize(shape.size());
  steps.resize(shape.size());
  size_t kept = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1)
      continue;
    if (kept && steps[kept - 1] == strides[i] * shape[i]) {
      sizes[kept - 1] *= shape[i];
      steps[kept - 1] = strides[i];
      continue;
    }
    sizes[kept] = shape[i];
    steps[kept++] = strides[i];
  }
  sizes.shrink(kept);
  steps.shrink(kept);
}

} // namespace graphc::small
