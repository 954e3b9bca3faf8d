//===- Session.h - Computing pending nodes ----------------------------------------------------===//
//
// Recording is per thread (default device, active trace); programs are found process-wide.
// Evaluation runs without locks and may be called from several threads at once: two threads that
// need one node may both compute it, one result is kept.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_SESSION_H
#define GRAPHC_FRONTENDS_RECORD_SESSION_H

#include "frontends/record/Array.h"
#include "frontends/record/Snapshot.h"
#include "runtime/exec/Executor.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace graphc {

/// Why something was computed now: "eval", "numpy", "item", "bool", "print", "exchange", "budget",
/// "jit", ...
using Reason = std::string_view;

/// Makes all roots Ready, together: one snapshot, as few programs as possible. Blocks while
/// compiling and while queueing work. Trace errors for values of a trace; Compile, Device,
/// OutOfMemory from below, with the user's lines.
Status evaluate(std::span<const NodeRef> roots, Reason reason);
/// The same of one; false where it has no value: it is of a trace, or made of rows that a mask
/// chose of which only the types are recorded (OpenSize.h).
Result<bool> hasValue(const NodeRef &root, Reason reason);
/// As above for arrays of any devices. Their nodes, Ready: other threads may have updated the
/// arrays meanwhile.
Result<std::vector<NodeRef>> evaluateArrays(std::span<Array *const> arrays, Reason reason);
/// The same of what an array is a view of, unless the view is a small part: value() of one that is
/// not a reshape of it may be a movement of a Ready node.
Status evaluateStorages(std::span<Array *const> arrays, Reason reason);
/// Whether a view shows enough of its storage to compute all of it.
bool showsMost(const Array &x);

/// As evaluate() for pending nodes of one device, on the way of an evaluation: counts no reason,
/// and what operations meet is told at its end. With `mayInterpret` small values that were met
/// seldom are computed without a program (Interpret.h).
Status computeNow(std::span<const NodeRef> roots, rt::Device &device, bool mayInterpret = false);

/// The program of a segment: from memory, from disk, or from the compiler. Promotes literals
/// (Constants.h) first, and chooses how much is looked at.
Result<std::shared_ptr<rt::LoadedProgram>> programFor(Segment &segment, rt::Device &device);
/// How often a segment without a program was met; 0 where that is often enough for compiling it.
struct Met {
  int times = 0;
  Digest segment;
  int weight = 1; ///< of this one: how many parts of one size it has
};
/// The program where it is in memory. Else null, and `met`; counts as a meeting.
std::shared_ptr<rt::LoadedProgram> knownProgram(Segment &segment, rt::Device &device, Met &met);
/// What computing it without a program took, which says when compiling one is worth it.
void tookToInterpret(const Met &met, int64_t nanos);
/// The program where it is in memory or on disk, else null.
std::shared_ptr<rt::LoadedProgram> storedProgram(Segment &segment, rt::Device &device);
/// The same of a segment as it is; `structure` is that of its code.
Result<std::shared_ptr<rt::LoadedProgram>> programOf(const Segment &segment,
                                                     const Digest &structure, rt::Device &device);
/// Compiles side by side what `segment`, the one of that number, and those after it need and nobody
/// has, when it needs something; `mayInterpret` as computeNow() takes it. The number of the first
/// segment that was not looked at. What fails is told by who asks for that program.
size_t compileAhead(const Snapshot &snapshot, size_t first, Segment &segment, rt::Device &device,
                    bool mayInterpret);
/// An error of one gather or scatter with the user's line.
Status atPlace(Status status, std::span<const Location> places, uint32_t place);
/// Whether all outputs are without elements: there is nothing to compile or run.
bool computesNothing(const Segment &segment);
/// Tensors of a segment that computes nothing.
Status emptyOutputs(std::span<const NodeRef> nodes, std::vector<rt::Tensor> &outputs);
/// A 0-d value on a device.
Result<rt::Tensor> literalTensor(const LiteralInput &literal, rt::Device &device);
/// Tensor of a Ready node.
rt::Tensor tensorOf(const Node &node);
/// Whether a program has a use for the memory of an input of that size.
bool wantsMemory(const rt::LoadedProgram &program, size_t input, int64_t bytes);

/// Text of what the roots would run: "recorded" (the snapshot, no compiler needed) or a stage of
/// CompilerApi::printStage.
Result<std::string> printStage(std::span<const NodeRef> roots, std::string_view stage);

/// Device of new arrays without operands, for this thread. Never null.
Result<rt::Device *> currentDevice();
/// Null means the process-wide default. Returns the previous one.
rt::Device *setCurrentDevice(rt::Device *device);

/// How often each reason led to work.
std::map<std::string, int64_t> evaluationCounts();
void resetEvaluationCounts();
/// How many segments were run, and snapshots taken, by evaluate().
int64_t segmentsRun();
/// Kernels of the programs this process compiled (cached ones do not count).
int64_t kernelsCompiled();

/// Pending bytes above which recording evaluates: GRAPHC_PENDING_BYTES, else a quarter of physical
/// memory.
int64_t pendingBudget();
void setPendingBudget(int64_t bytes);
/// Called for every array an operation gave: evaluates it when the pending bytes are above the
/// budget. Does nothing in a trace.
Status respectBudget(const NodeRef &recorded);
/// While it lives, nothing of this thread is evaluated for the budget.
class WithoutBudget {
public:
  WithoutBudget();
  ~WithoutBudget();
  WithoutBudget(const WithoutBudget &) = delete;
  WithoutBudget &operator=(const WithoutBudget &) = delete;
};

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_SESSION_H
