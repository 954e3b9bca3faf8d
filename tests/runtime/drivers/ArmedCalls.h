//===- ArmedCalls.h - Calls that fail on demand -----------------------------------------------===//
//
// What a library that stands between a driver and its device knows of faults, and what the test
// that it is linked to tells it and asks: one library, one state.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_TESTS_RUNTIME_DRIVERS_ARMEDCALLS_H
#define GRAPHC_TESTS_RUNTIME_DRIVERS_ARMEDCALLS_H

#include <atomic>

namespace graphc::test {

/// The nth call from now of `function` fails with `code`: a function that makes an object makes
/// none, one that releases an object releases it all the same. n = 0: none fails; n < 0: all do.
__attribute__((visibility("default"))) void armFault(const char *function, int n, int code);
/// Whether the armed call has come.
__attribute__((visibility("default"))) bool faultHit();
/// Objects made and not yet released.
__attribute__((visibility("default"))) int liveObjects();

// For the library itself.

extern std::atomic<int> failCode, live;
/// Whether this call of `function` is the armed one.
bool failsNow(const char *function);

} // namespace graphc::test

#endif // GRAPHC_TESTS_RUNTIME_DRIVERS_ARMEDCALLS_H
