//===- HostCopy.h - Copies from host memory to host memory ------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_HOSTCOPY_H
#define GRAPHC_RUNTIME_DRIVERS_HOSTCOPY_H

#include <cstdint>

namespace graphc::rt {

/// On the threads of the cpu device where there is much to copy: one core does not move memory as
/// fast as all together. The two do not overlap.
void copyOnHost(void *destination, const void *source, int64_t bytes);

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_DRIVERS_HOSTCOPY_H
