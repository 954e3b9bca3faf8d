//===- Choice.h - The device "auto": the cpu and one other, chosen by program -----------------===//
//
// A value of this device is in the memory of one of the two, or of both: what a program on the
// other one reads is copied there once and stays. Programs are loaded on one of the two, never on
// this.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_CHOICE_H
#define GRAPHC_RUNTIME_DRIVERS_CHOICE_H

#include "runtime/device/Device.h"

namespace graphc::rt {

/// The devices that "auto" chooses from.
struct Choices {
  Device *cpu;
  Device *other; ///< the first GPU, else the first OpenCL device; null when there is none
};

/// The device itself, made at the first use; it never fails.
Device &choiceDevice();
/// Null for every other device.
const Choices *choicesOf(const Device &device);

/// A value of "auto" that is in `memory`, of one of the two devices.
BufferRef chosenBuffer(BufferRef memory);
/// Where a value is: `memory` itself on other devices.
bool isOn(const Buffer &value, const Device &device);
/// Its memory on a device, copied there when needed. OutOfMemory and errors of queues.
Result<BufferRef> memoryOn(const BufferRef &value, Device &device);
/// Whether it has memory on one device only.
bool isOnOne(const Buffer &value);
/// Adds to the nanoseconds that programs lost because the value was not on the other device, and
/// gives their sum. A value of "auto".
int64_t lostAt(const Buffer &value, int64_t more);
/// Address on the host, or null, as Buffer::host(); of a value of "auto" that of its memory there.
void *hostAddress(const Buffer &value);
/// The device of that memory: work on the other one is no matter.
Device &hostDevice(const Buffer &value);

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_DRIVERS_CHOICE_H
