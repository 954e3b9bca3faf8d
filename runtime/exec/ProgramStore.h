//===- ProgramStore.h - From a key to a program that can run ----------------------------------===//
#ifndef GRAPHC_RUNTIME_EXEC_PROGRAMSTORE_H
#define GRAPHC_RUNTIME_EXEC_PROGRAMSTORE_H

#include "runtime/cache/DiskCache.h"
#include "runtime/cache/MemoryCache.h"
#include "runtime/exec/Executor.h"

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace graphc::rt {

/// Loaded programs by key: from memory, else from the disk cache, else from the compiler, whose
/// result goes to both. Safe from any thread; when several ask for one key at once, one compiles
/// and the others wait for it.
class ProgramStore {
public:
  /// Makes the program blob; called at most once for a get(), without locks held.
  using Compile = std::function<Result<std::vector<uint8_t>>()>;

  explicit ProgramStore(DiskCache &disk);
  ~ProgramStore();
  /// The store of this process over DiskCache::instance(); never destroyed.
  static ProgramStore &instance();

  /// Everything that decides which code is right: the caller's bytes (canonical graph and options),
  /// the compiler's build id, and the device's target, features and identity. The layout is
  /// private; equal keys mean equal programs.
  static std::vector<uint8_t> key(std::span<const uint8_t> graph, std::string_view compilerId,
                                  const Device &device);

  /// The program when it is in memory, else null. `key` is digestOf(key(...)).
  std::shared_ptr<LoadedProgram> find(const Digest &key);
  /// Whether it is, which counts as no hit.
  bool contains(const Digest &key) { return memory.find(key) != nullptr; }
  /// As find() of digestOf(key), or from the disk.
  std::shared_ptr<LoadedProgram> stored(std::span<const uint8_t> key, Device &device);
  /// The program for key(...); `label` names it in cache listings.
  Result<std::shared_ptr<LoadedProgram>> get(std::span<const uint8_t> key, Device &device,
                                             std::string_view label, const Compile &compile);
  /// Makes the blobs of some of several keys, whose numbers are given.
  using CompileAll =
      std::function<std::vector<Result<std::vector<uint8_t>>>(std::span<const size_t> numbers)>;
  /// Takes the programs for several keys into memory, where that can be done without a wait for
  /// another caller. What has no program afterwards is the business of a get(), errors are too.
  /// Gives those that were compiled.
  std::vector<std::shared_ptr<LoadedProgram>> prepare(std::span<const std::vector<uint8_t>> keys,
                                                      Device &device, std::string_view label,
                                                      const CompileAll &compile);
  /// Takes a program that came from elsewhere into memory.
  void keep(const Digest &key, std::shared_ptr<LoadedProgram> program);
  /// Forgets what is in memory; programs in use live on.
  void clearMemory();
  size_t sizeInMemory() const;

private:
  struct Pending;
  struct State;
  using Made = Result<std::shared_ptr<LoadedProgram>>;
  /// What makes the program for a key, and whether the caller is to: then release() ends it.
  std::pair<std::shared_ptr<Pending>, bool> reserve(const Digest &key);
  void release(const Digest &key, Pending &pending, const Made &result);
  /// Null when the disk has none.
  std::shared_ptr<LoadedProgram> fromDisk(std::span<const uint8_t> key, Device &device);
  Made compiled(std::span<const uint8_t> key, Device &device, std::string_view label,
                std::vector<uint8_t> blob);
  Made make(std::span<const uint8_t> key, Device &device, std::string_view label,
            const Compile &compile);
  DiskCache &disk;
  MemoryCache<LoadedProgram> memory;
  std::unique_ptr<State> state;
};

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_EXEC_PROGRAMSTORE_H
