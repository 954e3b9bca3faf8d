//===- SelfTest.h - Known answers before a device is used -------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_SELFTEST_H
#define GRAPHC_FRONTENDS_RECORD_SELFTEST_H

#include "runtime/device/Device.h"

namespace graphc {

/// Before the first program of a device with codeForm(): computes a few with known answers, unless
/// that was remembered for this device, driver, form of code and compiler. A form that gives wrong
/// answers is not used any more; Unsupported when none is left. `fast`: the program has fast
/// products, whose form is tested as well, before the first such program. GRAPHC_SELF_TEST=off
/// leaves the test out.
Status selfTest(rt::Device &device, bool fast);

/// rt::findDevice; "gpu", and what "auto" has besides the cpu, is a device that has passed its
/// test: one that fails is passed over with a warning for the next one there is.
Result<rt::Device *> findTested(std::string_view name);

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_SELFTEST_H
