#include "runtime/drivers/cuda/Code.h"

#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"
#include "runtime/cache/DiskCache.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <optional>
#include <pthread.h>
#include <span>
#include <thread>

namespace graphc::rt::cuda {
namespace {

constexpr int kErrorLog = 5, kErrorLogBytes = 6;
constexpr int kPtxInput = 1; ///< CU_JIT_INPUT_PTX
/// CUDA_ERROR_*: the code is at fault, not the device.
constexpr Code kInvalidImage = 200, kNoBinaryForGpu = 209, kInvalidPtx = 218,
               kUnsupportedPtxVersion = 222, kInvalidSource = 300;

using Bytes = std::vector<uint8_t>;

/// One text on its way to code.
class Link {
public:
  explicit Link(const Api &api) : api(api) {}
  ~Link() {
    if (handle)
      api.cuLinkDestroy(handle);
  }
  Link(const Link &) = delete;
  Link &operator=(const Link &) = delete;

  Result<Bytes> run(const std::string &text) {
    void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
    if (Code code = api.cuLinkCreate(std::size(options), options, values, &handle)) {
      handle = nullptr;
      return failed("cuLinkCreate", code);
    }
    // The driver reads the text, with its last zero, and does not write to it.
    auto *input = const_cast<char *>(text.c_str());
    if (Code code = api.cuLinkAddData(handle, kPtxInput, input, text.size() + 1, "graphc", 0,
                                      nullptr, nullptr))
      return failed("cuLinkAddData", code);
    void *code = nullptr;
    size_t bytes = 0;
    if (Code failure = api.cuLinkComplete(handle, &code, &bytes))
      return failed("cuLinkComplete", failure);
    const auto *first = static_cast<const uint8_t *>(code);
    return Bytes(first, first + bytes);
  }

private:
  Status failed(const char *function, Code code) const {
    Status status = api.failure(function, code, std::string(strings::trim(log.c_str())));
    bool atFault = code == kInvalidImage || code == kNoBinaryForGpu || code == kInvalidPtx ||
                   code == kUnsupportedPtxVersion || code == kInvalidSource;
    return atFault ? Status(ErrorCode::Compile, status.message()) : std::move(status);
  }

  const Api &api;
  LinkHandle handle = nullptr;
  std::string log = std::string(8192, '\0'); ///< the driver's, while the handle lives
  int options[2] = {kErrorLog, kErrorLogBytes};
};

/// Runs `work` on this thread and up to `more` others, which take no signals; on fewer where the
/// system grants fewer.
template <typename Work>
void runTogether(size_t more, Work &work) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  auto entry = [](void *argument) -> void * {
    (*static_cast<Work *>(argument))();
    return nullptr;
  };
  std::vector<pthread_t> threads;
  pthread_t thread;
  while (threads.size() < more && pthread_create(&thread, nullptr, entry, &work) == 0)
    threads.push_back(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  work();
  for (pthread_t t : threads)
    pthread_join(t, nullptr);
}

/// Of each text, made side by side.
Result<std::vector<Bytes>> compile(const CudaDevice &device,
                                   const std::vector<std::string> &texts) {
  TraceSpan span("exec", "compile PTX");
  std::vector<Bytes> made(texts.size());
  std::vector<Status> failed;
  for (size_t i = 0; i < texts.size(); ++i)
    failed.push_back(Status::ok());
  std::atomic<size_t> next{0};
  auto work = [&] {
    Current current(device);
    for (size_t i = next++; i < texts.size(); i = next++) {
      auto code =
          current.status() ? Link(device.api).run(texts[i]) : Result<Bytes>(current.status());
      if (code)
        made[i] = code.take();
      else
        failed[i] = code.takeStatus();
    }
  };
  const size_t cores = std::max(1U, std::thread::hardware_concurrency());
  runTogether(std::min(texts.size(), cores) - 1, work);
  for (Status &status : failed)
    GRAPHC_TRY(std::move(status));
  return made;
}

/// Null where the driver refuses one of them.
Result<std::vector<ModuleHandle>> loadAll(const Api &api, std::span<const Bytes> codes) {
  std::vector<ModuleHandle> modules;
  for (const Bytes &code : codes) {
    ModuleHandle module = nullptr;
    Code failure = api.cuModuleLoadDataEx(&module, code.data(), 0, nullptr, nullptr);
    if (failure == 0) {
      modules.push_back(module);
      continue;
    }
    for (ModuleHandle loaded : modules)
      api.cuModuleUnload(loaded);
    return api.failure("cuModuleLoadDataEx", failure);
  }
  return modules;
}

/// What the disk has: codes one after the other, each behind its length.
std::optional<std::vector<Bytes>> unpacked(std::span<const uint8_t> all, size_t count) {
  std::vector<Bytes> codes;
  while (codes.size() < count) {
    uint64_t bytes = 0;
    if (all.size() < sizeof bytes)
      return std::nullopt;
    std::memcpy(&bytes, all.data(), sizeof bytes);
    all = all.subspan(sizeof bytes);
    if (bytes == 0 || bytes > all.size())
      return std::nullopt;
    codes.emplace_back(all.begin(), all.begin() + static_cast<ptrdiff_t>(bytes));
    all = all.subspan(bytes);
  }
  return all.empty() ? std::optional(std::move(codes)) : std::nullopt;
}

Bytes packed(std::span<const Bytes> codes) {
  Bytes all;
  for (const Bytes &code : codes) {
    const uint64_t bytes = code.size();
    const auto *first = reinterpret_cast<const uint8_t *>(&bytes);
    all.insert(all.end(), first, first + sizeof bytes);
    all.insert(all.end(), code.begin(), code.end());
  }
  return all;
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

Result<std::vector<ModuleHandle>> buildPtx(const CudaDevice &device,
                                           const std::vector<std::string> &texts) {
  std::string key = "graphc code 1|" + device.info().identity + "|";
  for (const std::string &text : texts)
    key += text + '\0';
  const std::span<const uint8_t> keyBytes(reinterpret_cast<const uint8_t *>(key.data()),
                                          key.size());
  DiskCache &disk = DiskCache::instance();
  if (auto stored = disk.find(keyBytes))
    if (auto codes = unpacked(*stored, texts.size()))
      if (auto modules = loadAll(device.api, *codes))
        return modules;
  GRAPHC_ASSIGN(std::vector<Bytes> codes, compile(device, texts));
  GRAPHC_ASSIGN(auto modules, loadAll(device.api, codes));
  disk.store(keyBytes, packed(codes), "code of " + device.info().name);
  return modules;
}

} // namespace graphc::rt::cuda
