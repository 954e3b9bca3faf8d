//===- Code.h - Programs in the forms that a driver takes -------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_OPENCL_CODE_H
#define GRAPHC_RUNTIME_DRIVERS_OPENCL_CODE_H

#include "runtime/device/Device.h"
#include "runtime/drivers/opencl/Api.h"

#include <string>
#include <string_view>
#include <vector>

namespace graphc::rt::opencl {

/// The forms of code that compilers should make for a device, as features of TargetDesc:
/// "c,spirv1.2" where SPIR-V is taken, "c" elsewhere, and what GRAPHC_OPENCL_EMITTER asks for
/// alone. Unsupported when the device does not take that, InvalidArgument when it is no form's
/// name.
Result<std::string> codeForms(const Api &api, cl_platform_id platform, cl_device_id device);

/// Forms of code in the order they are tried.
enum class Form : uint32_t { Ptx = 1, SpirV = 2, Source = 4 };
/// The first form of a device's `features` that is not among `refused`; "" when there is none.
std::string_view firstForm(std::string_view features, uint32_t refused);
/// That of programs with tiles for tensor cores; "" where no form has them.
std::string_view formOfProducts(std::string_view features, uint32_t refused);
Form formFromName(std::string_view name);

/// OpenCL C by kernels, of the form that the compiler writes: lines of its own for what begins
/// them, everything that they share before.
struct SourceTexts {
  std::string shared;               ///< belongs before any of them
  std::vector<std::string> kernels; ///< in order; all in one where they may share more
};
SourceTexts textsOf(std::string_view source);

struct ProgramCode {
  cl_program built = nullptr; ///< of the caller, or null: then there are texts, not built yet
  SourceTexts texts;
};

/// Of the forms that both `program` and the device's `features` have and that are not `refused`,
/// the first that builds: PTX, SPIR-V; then OpenCL C. A failure that a later form makes good is a
/// warning event.
Result<ProgramCode> codeOf(const Api &api, cl_context context, cl_device_id device,
                           const DeviceInfo &info, const program::Program &program,
                           uint32_t refused);

/// A program of the caller. Compile error with the driver's log.
Result<cl_program> buildSource(const Api &api, cl_context context, cl_device_id device,
                               const DeviceInfo &info, std::string_view text);

} // namespace graphc::rt::opencl

#endif // GRAPHC_RUNTIME_DRIVERS_OPENCL_CODE_H
