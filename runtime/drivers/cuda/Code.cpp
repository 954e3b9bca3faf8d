#include "runtime/drivers/cuda/Code.h"

#include "runtime/base/Strings.h"
#include "runtime/base/Threads.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace graphc::rt::cuda {
namespace {

constexpr int kErrorLog = 5, kErrorLogBytes = 6;
/// CUDA_ERROR_*: the code is at fault, not the device.
constexpr Code kInvalidImage = 200, kNoBinaryForGpu = 209, kInvalidPtx = 218,
               kUnsupportedPtxVersion = 222, kInvalidSource = 300;

Result<LoadedCode> loadOne(const Api &api, const std::string &text, bool asLibrary) {
  std::string log(8192, '\0');
  int options[] = {kErrorLog, kErrorLogBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  const char *function = asLibrary ? "cuLibraryLoadData" : "cuModuleLoadDataEx";
  LoadedCode loaded;
  Code code = asLibrary ? api.cuLibraryLoadData(&loaded.library, text.c_str(), options, values,
                                                std::size(options), nullptr, nullptr, 0)
                        : api.cuModuleLoadDataEx(&loaded.module, text.c_str(), std::size(options),
                                                 options, values);
  if (asLibrary && code == 0) {
    function = "cuLibraryGetModule";
    code = api.cuLibraryGetModule(&loaded.module, loaded.library);
    if (code != 0)
      api.cuLibraryUnload(loaded.library);
  }
  if (code == 0)
    return loaded;
  Status failed = api.failure(function, code, std::string(strings::trim(log.c_str())));
  bool atFault = code == kInvalidImage || code == kNoBinaryForGpu || code == kInvalidPtx ||
                 code == kUnsupportedPtxVersion || code == kInvalidSource;
  return atFault ? Status(ErrorCode::Compile, failed.message()) : std::move(failed);
}

} // namespace

std::vector<std::string> kernelTexts(std::string_view ptx) {
  constexpr std::string_view kEntry = "\n.entry ";
  std::vector<size_t> begins;
  for (size_t at = ptx.find(kEntry); at != ptx.npos; at = ptx.find(kEntry, at + 1))
    begins.push_back(at + 1);
  auto has = [&](std::string_view what) { return ptx.find(what) != ptx.npos; };
  // Functions may be called by several kernels, and memory of a module may be written by them.
  bool isShared = has("\n.func") || has("\n.visible") || has("\n.weak");
  for (size_t at = ptx.find("\n.global"); at != ptx.npos; at = ptx.find("\n.global", at + 1))
    isShared |= ptx.substr(at, ptx.find(';', at) - at).find('=') == ptx.npos;
  // What stands between kernels would be one's alone.
  for (std::string_view kind : {"\n.global", "\n.const", "\n.shared", "\n.extern"})
    isShared |= !begins.empty() && ptx.find(kind, begins[0]) != ptx.npos;
  if (begins.size() < 2 || isShared)
    return {std::string(ptx)};
  std::vector<std::string> texts;
  begins.push_back(ptx.size());
  for (size_t i = 0; i + 1 < begins.size(); ++i)
    texts.push_back(std::string(ptx.substr(0, begins[0])) +
                    std::string(ptx.substr(begins[i], begins[i + 1] - begins[i])));
  return texts;
}

void unload(const Api &api, const LoadedCode &code) {
  if (code.library)
    api.cuLibraryUnload(code.library);
  else
    api.cuModuleUnload(code.module);
}

Status loadPtx(const CudaDevice &device, const std::vector<std::string> &texts,
               const std::vector<size_t> &wanted, std::vector<LoadedCode> &loaded) {
  std::vector<LoadedCode> made(wanted.size());
  std::vector<Status> states;
  for (size_t i = 0; i < wanted.size(); ++i)
    states.push_back(Status::ok());
  const bool asLibraries = texts.size() > 1 && device.api.cuLibraryLoadData;
  std::atomic<size_t> next{0};
  auto work = [&] {
    Current current(device);
    for (size_t i = next++; i < wanted.size(); i = next++) {
      states[i] = current.status();
      if (!states[i])
        continue;
      auto code = loadOne(device.api, texts[wanted[i]], asLibraries);
      if (code)
        made[i] = code.take();
      else
        states[i] = code.takeStatus();
    }
  };
  const size_t cores = std::max(1U, std::thread::hardware_concurrency());
  runTogether(asLibraries ? std::min(wanted.size(), cores) : 1, work);
  auto failed = std::ranges::find_if(states, [](const Status &s) { return !s; });
  for (size_t i = 0; i < wanted.size(); ++i)
    if (failed == states.end())
      loaded[wanted[i]] = made[i];
    else if (states[i])
      unload(device.api, made[i]);
  return failed == states.end() ? Status::ok() : std::move(*failed);
}

} // namespace graphc::rt::cuda
