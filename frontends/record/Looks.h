//===- Looks.h - Runs whose floating-point errors are told later ------------------------------===//
//
// On a device with a queue of its own a run that watches values does not wait for what it met. It
// is remembered with its inputs, and looked at when a value is read, when the device is waited for,
// when many wait, or when the process ends: no later than Python can see a value of it.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_LOOKS_H
#define GRAPHC_FRONTENDS_RECORD_LOOKS_H

#include "frontends/record/FloatConditions.h"

#include <memory>
#include <optional>
#include <span>

namespace graphc {

/// One run, remembered before it is queued; forgotten with this object unless it waits.
class Look {
public:
  Look(const Look &) = delete;
  Look &operator=(const Look &) = delete;
  /// Nothing when the run has to say at once what it met.
  static std::shared_ptr<Look> before(std::shared_ptr<const Segment> segment,
                                      std::span<const rt::Tensor> inputs, rt::Device &device);
  /// After the run: it waits when the run was queued and has not said what it met.
  static Status after(const std::shared_ptr<Look> &look, bool waits);
  /// The answers of a run that was queued.
  static Status at(Questions questions, rt::Device &device);

private:
  friend struct Looks;
  Look() = default;
  static void list(const std::shared_ptr<Look> &look);
  std::shared_ptr<const Segment> segment;
  std::vector<rt::Tensor> inputs;
  Questions questions; ///< instead, where their answers were computed already
  rt::Device *device = nullptr;
  int64_t bytes = 0;
  bool isQueued = false;
  bool isSuspect = false; ///< the word that it may have set was cleared
};

/// The results of a segment whose operations are asked where they are computed (Telling::Results);
/// what they met is kept, or waits. Nothing when that failed: the run that does not ask says why,
/// or can do with less memory.
std::optional<std::vector<NodeRef>> runAsking(const Segment &segment,
                                              std::span<const NodeRef> inputs, rt::Device &device,
                                              bool mayInterpret = false);

/// Whether runs of the device wait.
bool looksWait(rt::Device &device);
/// Looks at all runs of the device, or of every device, that wait; waits for them. What they met is
/// kept for deliverFloatErrors().
Status lookNow(rt::Device &device);
Status lookEverywhere();
/// Waits until the memory of a ready value holds it, and tells what operations met. `read`: bytes
/// of it that the host reads then.
Status finishValue(const Node &node, int64_t read);
/// The same for everything that a device was given.
Status finishDevice(rt::Device &device);
/// Where a ready value lies in memory of the host, when nothing has to be waited for or told and
/// nobody counts its reads; else null.
const void *knownMemory(const Node &node);
/// Copies the first bytes of a value of "auto" where it is ready in memory of the host and nothing
/// has to be told; else false.
bool readAtOnce(void *to, const Node &node, int64_t bytes);
/// Copies the first bytes of a ready value to host memory; looks at what waits and tells it first.
Status readValue(void *to, const Node &node, int64_t bytes);

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_LOOKS_H
