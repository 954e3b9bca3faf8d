//===- SelfTest.h - What is remembered of devices that were tested ----------------------------===//
#ifndef GRAPHC_RUNTIME_EXEC_SELFTEST_H
#define GRAPHC_RUNTIME_EXEC_SELFTEST_H

#include "runtime/device/Device.h"

#include <optional>
#include <string>
#include <string_view>

namespace graphc::rt {

/// A verdict on a device with its driver, a form of code ("c", "spirv", "ptx") and the compiler
/// that writes it: empty when known answers came out, else what did not; nothing when it was never
/// tested. Kept in the disk cache.
std::optional<std::string> selfTestVerdict(const Device &device, std::string_view form,
                                           std::string_view compilerId);
void rememberSelfTest(const Device &device, std::string_view form, std::string_view compilerId,
                      std::string_view verdict);

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_EXEC_SELFTEST_H
