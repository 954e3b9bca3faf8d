//===- Watch.h - Whether any of many runs met an infinity or a NaN ----------------------------===//
//
// Runs that do not wait share the watch word of their device: it is set by any of them and stays
// so. Whoever reads it must know which runs were queued before.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_EXEC_WATCH_H
#define GRAPHC_RUNTIME_EXEC_WATCH_H

#include "runtime/device/Device.h"

#include <span>

namespace graphc::rt {

/// The words of a device that does not see host memory; made at the first use, for good.
Result<BufferRef> watchWords(Device &device);
/// Reads the word, and `others` in the same wait. A word that was set is cleared before the return:
/// whoever queues a run meanwhile cannot know which it was.
Result<bool> readWatched(Device &device, std::span<const Readback> others);

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_EXEC_WATCH_H
