//===- ProgramStore.cpp - From a key to a program that can run --------------------------------===//
#include "runtime/exec/ProgramStore.h"

#include "runtime/base/Trace.h"

#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>

namespace graphc::rt {
namespace {
constexpr size_t kProgramsInMemory = 4096;
constexpr std::string_view kKeyVersion = "graphc program key 1";
} // namespace

/// A get() in progress; its waiters take over what it ends with.
struct ProgramStore::Pending {
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::shared_ptr<LoadedProgram> program; ///< null when it failed
};

struct ProgramStore::State {
  ForkSafeMutex mutex;
  uint32_t generation = forkGeneration();
  std::map<Digest, std::shared_ptr<Pending>> pending;
};

ProgramStore::ProgramStore(DiskCache &disk)
    : disk(disk), memory(kProgramsInMemory), state(std::make_unique<State>()) {}
ProgramStore::~ProgramStore() = default;

ProgramStore &ProgramStore::instance() {
  static ProgramStore *store = new ProgramStore(DiskCache::instance());
  return *store;
}

std::vector<uint8_t> ProgramStore::key(std::span<const uint8_t> graph, std::string_view compilerId,
                                       const Device &device) {
  std::vector<uint8_t> bytes;
  // Each part is preceded by its length, so that no two lists of parts give the same bytes.
  auto append = [&](const void *data, uint64_t size) {
    auto *length = reinterpret_cast<const uint8_t *>(&size);
    bytes.insert(bytes.end(), length, length + sizeof size);
    auto *first = static_cast<const uint8_t *>(data);
    bytes.insert(bytes.end(), first, first + size);
  };
  auto appendText = [&](std::string_view text) { append(text.data(), text.size()); };
  const DeviceInfo &info = device.info();
  uint32_t numbers[2] = {program::kVersion, static_cast<uint32_t>(info.target)};
  appendText(kKeyVersion);
  append(numbers, sizeof numbers);
  appendText(compilerId);
  appendText(info.name);
  appendText(info.features);
  appendText(info.identity);
  append(graph.data(), graph.size());
  return bytes;
}

std::shared_ptr<LoadedProgram> ProgramStore::find(const Digest &key) {
  auto program = memory.find(key);
  if (program)
    count(Counter::MemoryHits);
  return program;
}

std::shared_ptr<LoadedProgram> ProgramStore::stored(std::span<const uint8_t> key, Device &device) {
  const Digest digest = digestOf(key);
  if (auto program = find(digest))
    return program;
  auto blob = disk.find(key);
  auto loaded =
      blob ? load(std::move(*blob), device) : Result<std::unique_ptr<LoadedProgram>>(nullptr);
  if (!blob || !loaded)
    return nullptr;
  std::shared_ptr<LoadedProgram> program(loaded.take());
  memory.insert(digest, program);
  return program;
}

std::shared_ptr<LoadedProgram> ProgramStore::fromDisk(std::span<const uint8_t> key,
                                                      Device &device) {
  auto blob = disk.find(key);
  if (!blob)
    return nullptr;
  auto loaded = load(std::move(*blob), device);
  if (loaded)
    return std::shared_ptr<LoadedProgram>(loaded.take());
  // The entry was whole, so a blob that does not load was made by a broken build: compile again.
  count(Counter::DiskDefects);
  emitEvent(EventLevel::Info, "cache", "ignoring an entry: " + loaded.status().message());
  return nullptr;
}

ProgramStore::Made ProgramStore::compiled(std::span<const uint8_t> key, Device &device,
                                          std::string_view label, std::vector<uint8_t> blob) {
  std::vector<uint8_t> copy = blob;
  GRAPHC_ASSIGN(auto loaded, load(std::move(blob), device));
  disk.store(key, copy, label);
  return std::shared_ptr<LoadedProgram>(std::move(loaded));
}

ProgramStore::Made ProgramStore::make(std::span<const uint8_t> key, Device &device,
                                      std::string_view label, const Compile &compile) {
  if (auto program = fromDisk(key, device))
    return program;
  int64_t start = TraceSpan::now();
  auto blob = compile();
  count(Counter::Compiles);
  count(Counter::CompileNanos, TraceSpan::now() - start);
  if (!blob)
    return blob.takeStatus();
  return compiled(key, device, label, blob.take());
}

std::pair<std::shared_ptr<ProgramStore::Pending>, bool> ProgramStore::reserve(const Digest &key) {
  std::lock_guard lock(state->mutex);
  // What a parent process was compiling nobody will finish here.
  if (state->generation != forkGeneration()) {
    state->generation = forkGeneration();
    state->pending.clear();
  }
  std::shared_ptr<Pending> &slot = state->pending[key];
  const bool isMine = !slot;
  if (isMine)
    slot = std::make_shared<Pending>();
  return {slot, isMine};
}

void ProgramStore::release(const Digest &key, Pending &pending, const Made &result) {
  if (result)
    memory.insert(key, *result);
  {
    std::lock_guard lock(state->mutex);
    state->pending.erase(key);
  }
  {
    std::lock_guard lock(pending.mutex);
    pending.done = true;
    if (result)
      pending.program = *result;
  }
  pending.ended.notify_all();
}

Result<std::shared_ptr<LoadedProgram>> ProgramStore::get(std::span<const uint8_t> key,
                                                         Device &device, std::string_view label,
                                                         const Compile &compile) {
  Digest digest = digestOf(key);
  for (;;) {
    if (auto program = find(digest))
      return program;
    auto [pending, isMine] = reserve(digest);
    if (!isMine) {
      std::unique_lock lock(pending->mutex);
      pending->ended.wait(lock, [&] { return pending->done; });
      if (pending->program)
        return pending->program;
      continue; // The other one failed; this caller gets an error of its own, or succeeds.
    }
    // Another caller may have ended between the look into memory and the reservation.
    std::shared_ptr<LoadedProgram> found = find(digest);
    Made result = found ? Made(std::move(found)) : make(key, device, label, compile);
    release(digest, *pending, result);
    return result;
  }
}

std::vector<std::shared_ptr<LoadedProgram>>
ProgramStore::prepare(std::span<const std::vector<uint8_t>> keys, Device &device,
                      std::string_view label, const CompileAll &compile) {
  struct Reserved {
    Digest digest;
    std::shared_ptr<Pending> pending;
  };
  std::vector<Reserved> reserved;
  std::vector<size_t> missing;
  for (size_t i = 0; i < keys.size(); ++i) {
    const Digest digest = digestOf(keys[i]);
    auto [pending, isMine] = reserve(digest);
    if (!isMine)
      continue; // nobody waits while others may wait for what is reserved here
    std::shared_ptr<LoadedProgram> found = memory.find(digest);
    if (found || (found = fromDisk(keys[i], device))) {
      release(digest, *pending, Made(std::move(found)));
      continue;
    }
    reserved.push_back({digest, std::move(pending)});
    missing.push_back(i);
  }
  std::vector<std::shared_ptr<LoadedProgram>> programs;
  if (missing.empty())
    return programs;
  int64_t start = TraceSpan::now();
  auto blobs = compile(missing);
  count(Counter::CompileNanos, TraceSpan::now() - start);
  for (size_t i = 0; i < missing.size(); ++i) {
    Made made = Status(ErrorCode::Compile, "not compiled");
    if (i < blobs.size() && blobs[i]) {
      count(Counter::Compiles);
      made = compiled(keys[missing[i]], device, label, blobs[i].take());
    }
    release(reserved[i].digest, *reserved[i].pending, made);
    if (made)
      programs.push_back(made.take());
  }
  return programs;
}

void ProgramStore::keep(const Digest &key, std::shared_ptr<LoadedProgram> program) {
  memory.insert(key, std::move(program));
}

void ProgramStore::clearMemory() { memory.clear(); }
size_t ProgramStore::sizeInMemory() const { return memory.size(); }

} // namespace graphc::rt
