//===- FakeCuda.h - A libcuda.so.1 without a GPU ----------------------------------------------===//
#ifndef GRAPHC_TESTS_RUNTIME_DRIVERS_FAKECUDA_H
#define GRAPHC_TESTS_RUNTIME_DRIVERS_FAKECUDA_H

#include <string>
#include <vector>

namespace graphc::test {

/// Calls so far, of all entry points.
__attribute__((visibility("default"))) int fakeCalls();
/// What was loaded as libraries so far.
__attribute__((visibility("default"))) std::vector<std::string> libraryTexts();
/// The calling thread's.
__attribute__((visibility("default"))) void *currentContext();

} // namespace graphc::test

#endif // GRAPHC_TESTS_RUNTIME_DRIVERS_FAKECUDA_H
