//===- CodeParts.h - Parts of a program become object files side by side ----------------------===//
#ifndef GRAPHC_COMPILER_EMIT_CPU_CODEPARTS_H
#define GRAPHC_COMPILER_EMIT_CPU_CODEPARTS_H

#include "compiler/emit/llvm/Llvm.h"

#include "llvm/IR/LLVMContext.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <tuple>
#include <vector>

namespace graphc::emit {

/// One thread's code generators, made once: making them costs more than half of a small kernel's
/// compile time. They share nothing with those of another thread.
class Coder {
public:
  /// InvalidArgument names a feature that LLVM does not know.
  Result<llvm::TargetMachine *> machine(const std::string &features);
  Result<CodeGenerator *> generator(const std::string &features, llvm::CodeGenFileType kind,
                                    bool counted);

private:
  std::map<std::string, std::unique_ptr<llvm::TargetMachine>> machines;
  std::map<std::tuple<std::string, llvm::CodeGenFileType, bool>, std::unique_ptr<CodeGenerator>>
      generators;
};

/// The process's coders. A forked child makes its own, since the thread that prepared its parent's
/// is not there.
class Coders {
public:
  static Coders &ofProcess();

  /// Starts a thread that makes the first coder's generator, and tables that LLVM makes when it
  /// first needs them, while the caller lowers the process's first program. Once; what is wrong
  /// with the features is said to whoever asks for the generator.
  void begin(std::string features);
  void join();
  /// Of the caller's thread, then of `threads` - 1 others, once the first is made.
  llvm::SmallVector<Coder *> get(size_t threads);

private:
  void extend(size_t count);
  void prepare();

  std::vector<std::unique_ptr<Coder>> made;
  std::string features;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<pthread_t> thread;
  bool ready = true; ///< guarded by `mutex`
};

/// Functions in an LLVM context of their own, and what becomes of them.
struct CodePart {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module; ///< null once there is an object
  bool counted = false;                 ///< CodeGenerator::make
  llvm::SmallVector<char, 0> object;
  Status status = Status::ok(); ///< of making it
};

/// How the functions of a kernel are to be compiled, and LLVM's passes over them.
void prepare(llvm::Module &module, llvm::TargetMachine &machine);

/// Compiles parts on threads of its own while the caller makes further ones, and on the caller's
/// thread once it waits. What comes out depends on no timing: parts share nothing.
class PartQueue {
public:
  /// `coders`: one a thread, the caller's first; they outlive the queue.
  PartQueue(llvm::ArrayRef<Coder *> coders, std::string features);
  /// Waits for its threads; what nobody has begun is dropped.
  ~PartQueue();
  PartQueue(const PartQueue &) = delete;
  PartQueue &operator=(const PartQueue &) = delete;

  /// The part stays the caller's and is not touched by it before finish().
  void add(CodePart &part);
  /// Every part has its object, or an error.
  void finish();

private:
  void work(Coder &coder, bool waits);
  Status compile(Coder &coder, CodePart &part);
  void startThread();

  llvm::SmallVector<Coder *> coders;
  std::string features;
  llvm::SmallVector<pthread_t> threads;
  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by `mutex`.
  std::deque<CodePart *> waiting;
  bool complete = false;
  size_t started = 0; ///< threads
  size_t idle = 0;    ///< of these, waiting for a part
};

} // namespace graphc::emit

#endif // GRAPHC_COMPILER_EMIT_CPU_CODEPARTS_H
