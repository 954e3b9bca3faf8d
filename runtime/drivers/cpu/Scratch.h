//===- Scratch.h - Memory of a thread of the cpu device ---------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_CPU_SCRATCH_H
#define GRAPHC_RUNTIME_DRIVERS_CPU_SCRATCH_H

#include <cstdint>

namespace graphc::rt::cpu {

/// A thread's memory for what its work needs beside the operands: grown on demand, kept until the
/// thread ends. Used by its own thread alone.
class Scratch {
public:
  Scratch() = default;
  ~Scratch();
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  /// At least so many bytes, aligned to 64, whose values are undefined; null when there is no such
  /// memory, and what the thread had stays.
  void *get(int64_t wanted);

  /// The calling thread's, in which kernels work.
  static Scratch &ofThread();

  /// The most bytes that one may grow to, from now on: usableMemory() unless a test sets less.
  static void setLimit(int64_t bytes);

private:
  void *memory = nullptr;
  int64_t bytes = 0;
};

} // namespace graphc::rt::cpu

#endif // GRAPHC_RUNTIME_DRIVERS_CPU_SCRATCH_H
