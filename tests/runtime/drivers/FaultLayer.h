//===- FaultLayer.h - An OpenCL layer whose calls fail on demand ------------------------------===//
//
// A layer of the OpenCL loader (OPENCL_LAYERS): every entry point that the driver uses passes
// through it, is counted, and fails when it was told to (ArmedCalls.h).
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_TESTS_RUNTIME_DRIVERS_FAULTLAYER_H
#define GRAPHC_TESTS_RUNTIME_DRIVERS_FAULTLAYER_H

namespace graphc::test {

/// Devices that the process has not asked about yet say that they take SPIR-V and PTX; what comes
/// as such is taken for OpenCL C.
__attribute__((visibility("default"))) void offerForms();

} // namespace graphc::test

#endif // GRAPHC_TESTS_RUNTIME_DRIVERS_FAULTLAYER_H
