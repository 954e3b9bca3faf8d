//===- FaultLayer.h - An OpenCL layer whose calls fail on demand ------------------------------===//
//
// A layer of the OpenCL loader (OPENCL_LAYERS): every entry point that the driver uses passes
// through it, is counted, and fails when it was told to.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_TESTS_RUNTIME_DRIVERS_FAULTLAYER_H
#define GRAPHC_TESTS_RUNTIME_DRIVERS_FAULTLAYER_H

namespace graphc::test {

/// The nth call from now of `function` fails with `code`: a function that makes an object makes
/// none, one that releases an object releases it all the same. n = 0: none fails.
__attribute__((visibility("default"))) void armFault(const char *function, int n, int code);
/// Whether the armed call has come.
__attribute__((visibility("default"))) bool faultHit();
/// Devices that the process has not asked about yet say that they take SPIR-V and PTX; what comes
/// as such is taken for OpenCL C.
__attribute__((visibility("default"))) void offerForms();
/// Objects made and not yet released.
__attribute__((visibility("default"))) int liveObjects();

} // namespace graphc::test

#endif // GRAPHC_TESTS_RUNTIME_DRIVERS_FAULTLAYER_H
