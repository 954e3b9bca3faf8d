//===- Code.cpp - Programs in the forms that a driver takes -----------------------------------===//
#include "runtime/drivers/opencl/Code.h"

#include "runtime/base/Setting.h"
#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"

#include <algorithm>
#include <cstdio>

namespace graphc::rt::opencl {
namespace {

Setting emitterSetting{"GRAPHC_OPENCL_EMITTER",
                       "form of the code for OpenCL devices: c, spirv or ptx",
                       "SPIR-V where the driver takes it, with OpenCL C at hand; else OpenCL C"};

// cl_nv_device_attribute_query
constexpr cl_device_info kComputeCapabilityMajor = 0x4000, kComputeCapabilityMinor = 0x4001;

std::string ilVersions(const Api &api, cl_platform_id platform, cl_device_id device) {
  // Drivers before OpenCL 2.1 have no entry for SPIR-V: the loader would jump to nowhere.
  size_t length = 0;
  if (!api.clCreateProgramWithIL ||
      api.clGetPlatformInfo(platform, CL_PLATFORM_VERSION, 0, nullptr, &length) != CL_SUCCESS)
    return "";
  std::string version(length, '\0');
  int major = 0, minor = 0;
  if (api.clGetPlatformInfo(platform, CL_PLATFORM_VERSION, length, version.data(), nullptr) !=
          CL_SUCCESS ||
      std::sscanf(version.c_str(), "OpenCL %d.%d", &major, &minor) != 2 || major * 10 + minor < 21)
    return "";
  size_t bytes = 0;
  if (api.clGetDeviceInfo(device, CL_DEVICE_IL_VERSION, 0, nullptr, &bytes) != CL_SUCCESS)
    return "";
  std::string text(bytes, '\0');
  if (bytes == 0 ||
      api.clGetDeviceInfo(device, CL_DEVICE_IL_VERSION, bytes, text.data(), nullptr) != CL_SUCCESS)
    return "";
  return text.c_str();
}

/// "spirv1.2", "spirv1.0", or "".
std::string spirvForm(const Api &api, cl_platform_id platform, cl_device_id device) {
  std::string versions = ilVersions(api, platform, device);
  std::ranges::replace(versions, ' ', ',');
  for (const char *version : {"1.2", "1.0"})
    if (strings::listContains(versions, strings::format("SPIR-V_{}", version)))
      return strings::format("spirv{}", version);
  return "";
}

/// 90 for sm_90; 0 when this is no NVIDIA device.
cl_uint processorOf(const Api &api, cl_device_id device) {
  cl_uint major = 0, minor = 0;
  if (api.clGetDeviceInfo(device, kComputeCapabilityMajor, sizeof major, &major, nullptr) !=
          CL_SUCCESS ||
      api.clGetDeviceInfo(device, kComputeCapabilityMinor, sizeof minor, &minor, nullptr) !=
          CL_SUCCESS)
    return 0;
  return major * 10 + minor;
}

/// From here on the compiler of OpenCL C takes the PTX that the tiles of products have inline.
constexpr cl_uint kInlinePtx = 90;

/// The one with wgmma, whose code later ones do not run.
constexpr cl_uint kWgmma = 90;

/// "sm_90", or "" when this is no NVIDIA device. Later processors run the code of earlier ones.
std::string ptxForm(const Api &api, cl_device_id device) {
  constexpr cl_uint kKnown[] = {90, 89, 86, 80, 75, 70, 60, 50};
  cl_uint processor = processorOf(api, device);
  for (cl_uint known : kKnown)
    if (known <= processor)
      return strings::format("sm_{}", known);
  return "";
}

std::string buildLog(const Api &api, cl_program program, cl_device_id device) {
  size_t bytes = 0;
  std::string log;
  if (api.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes) !=
          CL_SUCCESS ||
      bytes <= 1)
    return log;
  log.resize(bytes);
  if (api.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log.data(),
                                nullptr) != CL_SUCCESS)
    log.clear();
  log.resize(std::min(log.size(), log.find('\0')));
  return std::string(strings::trim(log));
}

struct Creation {
  const char *function;
  cl_program program;
  cl_int code;
};

Creation create(const Api &api, cl_context context, cl_device_id device, Form form,
                std::span<const uint8_t> code) {
  Creation made{"clCreateProgramWithSource", nullptr, CL_SUCCESS};
  size_t bytes = code.size();
  if (form == Form::SpirV) {
    made.function = "clCreateProgramWithIL";
    made.program = api.clCreateProgramWithIL(context, code.data(), bytes, &made.code);
  } else if (form == Form::Ptx) {
    const unsigned char *binary = code.data();
    cl_int status = CL_SUCCESS;
    made.function = "clCreateProgramWithBinary";
    made.program =
        api.clCreateProgramWithBinary(context, 1, &device, &bytes, &binary, &status, &made.code);
  } else {
    const char *source = reinterpret_cast<const char *>(code.data());
    made.program = api.clCreateProgramWithSource(context, 1, &source, &bytes, &made.code);
  }
  return made;
}

Result<cl_program> buildForm(const Api &api, cl_context context, cl_device_id device,
                             const DeviceInfo &info, Form form, std::span<const uint8_t> code) {
  Creation made = create(api, context, device, form, code);
  if (made.code != CL_SUCCESS)
    return failure(made.function, made.code);
  std::string options = form == Form::Source ? "-cl-std=CL1.2" : "";
  // PTX says for itself how it divides.
  if (info.exactDivide && form != Form::Ptx)
    options += " -cl-fp32-correctly-rounded-divide-sqrt";
  cl_int result = CL_SUCCESS;
  {
    BuildLock lock;
    SignalGuard signals;
    result = api.clBuildProgram(made.program, 1, &device, options.c_str(), nullptr, nullptr);
  }
  if (result == CL_SUCCESS)
    return made.program;
  Status failed = failure("clBuildProgram", result, buildLog(api, made.program, device));
  api.clReleaseProgram(made.program);
  return result == CL_BUILD_PROGRAM_FAILURE ? Status(ErrorCode::Compile, failed.message())
                                            : std::move(failed);
}

/// PTX is offered for some programs only.
constexpr std::string_view kSomePtx = "wgmma";

bool offers(std::string_view features, Form form) {
  if (form == Form::Source)
    return strings::listContains(features, "c");
  return features.find(form == Form::Ptx ? "sm_" : "spirv") != std::string_view::npos;
}

bool isIn(Form form, uint32_t set) { return (set & static_cast<uint32_t>(form)) != 0; }

constexpr std::pair<Form, std::string_view> kForms[] = {
    {Form::Ptx, "ptx"}, {Form::SpirV, "spirv"}, {Form::Source, "c"}};

} // namespace

std::string_view firstForm(std::string_view features, uint32_t refused) {
  for (auto [form, name] : kForms)
    if (offers(features, form) && !isIn(form, refused))
      return name;
  return "";
}

std::string_view formOfProducts(std::string_view features, uint32_t refused) {
  if (!strings::listContains(features, "gpu"))
    return "";
  bool ptx = strings::listContains(features, kSomePtx) || strings::listContains(features, "sm_90");
  if (ptx && !isIn(Form::Ptx, refused))
    return "ptx";
  bool source = strings::listContains(features, "ptx90") && firstForm(features, refused) == "c";
  return source ? "c" : "";
}

Form formFromName(std::string_view name) {
  for (auto [form, known] : kForms)
    if (known == name)
      return form;
  return Form::Source;
}

Result<std::string> codeForms(const Api &api, cl_platform_id platform, cl_device_id device) {
  std::string asked = emitterSetting.get().value_or("");
  cl_uint processor = processorOf(api, device);
  std::string source = processor >= kInlinePtx ? "c,ptx90" : "c";
  if (asked == "c")
    return source;
  std::string il = spirvForm(api, platform, device);
  if (asked.empty()) {
    if (processor == kWgmma)
      source += strings::format(",{}", kSomePtx);
    return il.empty() ? source : source + "," + il;
  }
  if (asked != "spirv" && asked != "ptx")
    return Status(
        ErrorCode::InvalidArgument,
        strings::format("GRAPHC_OPENCL_EMITTER is '{}'; it may be c, spirv or ptx", asked));
  std::string form = asked == "spirv" ? il : ptxForm(api, device);
  if (form.empty())
    return Status(ErrorCode::Unsupported,
                  strings::format("the driver does not take {}, which GRAPHC_OPENCL_EMITTER asks "
                                  "for",
                                  asked == "spirv" ? "SPIR-V" : "PTX"));
  return form;
}

SourceTexts textsOf(std::string_view source) {
  constexpr std::string_view kKernel = "\n__kernel ";
  std::vector<size_t> begins;
  for (size_t at = source.find(kKernel); at != source.npos; at = source.find(kKernel, at + 1))
    begins.push_back(at + 1);
  auto stands = [&](std::string_view what) {
    return !begins.empty() && source.find(what, begins[0]) != source.npos;
  };
  // Of what stands between kernels a later one may need some; one that begins the text has no line.
  if (begins.empty() || source.starts_with(kKernel.substr(1)) || stands("\n__constant") ||
      stands("\nstatic") || stands("\n#"))
    return {"", {std::string(source)}};
  SourceTexts texts{std::string(source.substr(0, begins[0])), {}};
  begins.push_back(source.size());
  for (size_t i = 0; i + 1 < begins.size(); ++i)
    texts.kernels.emplace_back(source.substr(begins[i], begins[i + 1] - begins[i]));
  return texts;
}

Result<cl_program> buildSource(const Api &api, cl_context context, cl_device_id device,
                               const DeviceInfo &info, std::string_view text) {
  return buildForm(api, context, device, info, Form::Source,
                   {reinterpret_cast<const uint8_t *>(text.data()), text.size()});
}

Result<ProgramCode> codeOf(const Api &api, cl_context context, cl_device_id device,
                           const DeviceInfo &info, const program::Program &program,
                           uint32_t refused) {
  auto takes = [&](Form form) {
    bool some = form == Form::Ptx && strings::listContains(info.features, kSomePtx);
    return (some || offers(info.features, form)) && !isIn(form, refused);
  };
  const bool hasSource = takes(Form::Source) && !program.code().empty();
  Status last(ErrorCode::Unsupported,
              strings::format("[opencl] the program has no code in a form that {} ({}) takes",
                              info.name, info.description));
  bool tried = false;
  auto warn = [&] {
    if (tried)
      emitEvent(EventLevel::Warning, "device",
                strings::format("{}: trying another form of the code", last.message()));
  };
  for (auto [form, bytes] : {std::pair(Form::Ptx, program.binary()), {Form::SpirV, program.il()}}) {
    if (bytes.empty() || !takes(form))
      continue;
    warn();
    auto built = buildForm(api, context, device, info, form, bytes);
    if (built)
      return ProgramCode{*built, {}};
    last = built.takeStatus();
    // The next form would fail for want of memory as well.
    if (last.code() == ErrorCode::OutOfMemory)
      return last;
    tried = true;
  }
  if (!hasSource)
    return last;
  warn();
  return ProgramCode{nullptr, textsOf({reinterpret_cast<const char *>(program.code().data()),
                                       program.code().size()})};
}

} // namespace graphc::rt::opencl
