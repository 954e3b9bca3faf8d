//===- HostScratch.h - Memory that the calling thread will work in on the cpu device ----------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_HOSTSCRATCH_H
#define GRAPHC_RUNTIME_DRIVERS_HOSTSCRATCH_H

#include <cstdint>

namespace graphc::rt {

/// Whether launches of the calling thread on the cpu device that want so many bytes of scratch
/// memory each can have them from now on.
bool holdScratch(int64_t bytes);

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_DRIVERS_HOSTSCRATCH_H
