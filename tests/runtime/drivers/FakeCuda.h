//===- FakeCuda.h - A libcuda.so.1 without a GPU ----------------------------------------------===//
#ifndef GRAPHC_TESTS_RUNTIME_DRIVERS_FAKECUDA_H
#define GRAPHC_TESTS_RUNTIME_DRIVERS_FAKECUDA_H

namespace graphc::test {

/// Calls so far, of all entry points.
__attribute__((visibility("default"))) int fakeCalls();
/// The calling thread's.
__attribute__((visibility("default"))) void *currentContext();

} // namespace graphc::test

#endif // GRAPHC_TESTS_RUNTIME_DRIVERS_FAKECUDA_H
