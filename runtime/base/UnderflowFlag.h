//===- UnderflowFlag.h - Whether a result was too small to be exact ---------------------------===//
#ifndef GRAPHC_RUNTIME_BASE_UNDERFLOWFLAG_H
#define GRAPHC_RUNTIME_BASE_UNDERFLOWFLAG_H

#include <atomic>

namespace graphc {

/// The processors' flag of results below the normal numbers that lost something, of all float32 and
/// float64 arithmetic that is done for the thread while this is alive, by whichever threads. It may
/// be set by what functions compute on the way; where it is not, no result underflowed. Of several
/// on a thread the last one made hears; one that is not to listen does nothing.
class UnderflowFlag {
public:
  explicit UnderflowFlag(bool listens);
  /// The processor's flag is what it was, or set as well.
  ~UnderflowFlag();
  UnderflowFlag(const UnderflowFlag &) = delete;
  UnderflowFlag &operator=(const UnderflowFlag &) = delete;
  /// Whether something was heard, on the thread that made it.
  bool isSet();

  /// That of this thread, null where nobody asks.
  static UnderflowFlag *ofThread();
  /// What this thread's processor has is heard.
  void gather();
  /// Forgets what it has.
  static void clear();

private:
  const bool listens;
  UnderflowFlag *outer = nullptr;
  bool was = false; ///< the processor's, before
  std::atomic<bool> heard{false};
};

} // namespace graphc

#endif // GRAPHC_RUNTIME_BASE_UNDERFLOWFLAG_H
