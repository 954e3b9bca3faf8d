//===- FunctionPlan.h - The programs of a function and the wiring between them ----------------===//
//
// Made by Trace::finish(), read by calls of the Function.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_FUNCTIONPLAN_H
#define GRAPHC_FRONTENDS_RECORD_FUNCTIONPLAN_H

#include "frontends/record/Function.h"
#include "frontends/record/ProgramHistory.h"
#include "frontends/record/Snapshot.h"
#include "frontends/record/Trace.h"
#include "runtime/base/Fork.h"

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace graphc {

/// One program of a function; slots are numbered arguments, captured storages, variables,
/// constants, computed values.
struct Function::Plan {
  struct Step {
    std::shared_ptr<rt::LoadedProgram> program; ///< null: every output is `empty`
    std::vector<NodeRef> empty;
    rt::Device *owner = nullptr; ///< of the values, which the program's may be one of
    std::vector<uint32_t> inputs, outputs;
    std::vector<rt::Tensor> literals;
    std::vector<Location> places; ///< of its gathers and scatters
    std::vector<int64_t> sizes;
    std::vector<Location> locations; ///< of the graph's nodes, for errors of its steps
    std::vector<uint32_t> dead;      ///< slots nobody reads after this step
    std::vector<uint32_t> spare; ///< which inputs' memory the program has a use for and may have
    std::shared_ptr<const Segment> segment; ///< without its nodes
    /// Another program of the same segment.
    struct Variant {
      std::shared_ptr<rt::LoadedProgram> program; ///< null: the device cannot run it
      std::vector<rt::Tensor> literals;
      std::vector<int64_t> sizes;
    };
    /// A variant that the first call which needs it makes; nothing is locked meanwhile, so that a
    /// fork leaves no call of the child waiting.
    class LaterVariant {
    public:
      template <typename Make>
      Result<const Variant *> get(Make make) {
        {
          std::lock_guard lock(mutex);
          if (variant)
            return variant.get();
        }
        GRAPHC_ASSIGN(Variant made, make());
        auto kept = std::make_unique<const Variant>(std::move(made));
        std::lock_guard lock(mutex);
        if (!variant)
          variant = std::move(kept);
        return variant.get();
      }

    private:
      ForkSafeMutex mutex;
      std::unique_ptr<const Variant> variant;
    };
    /// In place of `program` when looks at its operations are in vain.
    struct Exact {
      Digest structure; ///< of the segment
      LaterVariant variant;
    };
    std::shared_ptr<Exact> exact;
    /// Of "auto": the program on the device that was not chosen at first, for runs whose arrays lie
    /// so that it is the better one.
    struct Other {
      ProgramWork work;
      rt::Device *device;
      std::vector<LiteralInput> given;
      LaterVariant variant;
      ProgramHistory history;
    };
    std::shared_ptr<Other> other;
    /// What a call runs, and what it takes besides arrays.
    struct Form {
      const rt::LoadedProgram *program;
      const std::vector<rt::Tensor> *literals;
      const std::vector<int64_t> *sizes;
      op::Watch watch;
      bool isTimed = false, isCounted = true; ///< as ChosenDevice means it
    };
    Result<Form> chosen(std::span<const rt::Tensor> arrays) const;
    bool runAsked(std::span<const NodeRef> values, std::vector<NodeRef> &results) const;
    Result<Variant> makeExact() const;
    Result<Variant> makeOther() const;
  };
  struct Output {
    uint32_t slot = 0;
    /// Set when the function returned (a view of) one of its arguments or captured arrays: no new
    /// array.
    std::optional<uint32_t> alias; ///< argument number, or argument count + capture number
    View view;
    bool isValue = true; ///< of one without dimensions (Storage)
  };
  struct WriteBack {
    uint32_t target; ///< as Output::alias
    uint32_t slot;
  };
  std::vector<op::TensorType> arguments;
  std::vector<rt::Device *> devices;
  std::vector<std::shared_ptr<Storage>> captures;
  std::vector<Trace::Variable> variables; ///< the placeholders say dtype and device
  std::vector<std::pair<uint32_t, NodeRef>> constants;
  std::vector<Step> steps;
  std::vector<Output> outputs;
  std::vector<WriteBack> writeBacks;
  uint32_t slots = 0;
  bool runsBetterUnrecorded = false;
  std::vector<NodeRef> roots; ///< for printing

  Status addSegments(Snapshot &snapshot, std::unordered_map<const Node *, uint32_t> &slotOf);
  void findDead();
  void findSpare();
};

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_FUNCTIONPLAN_H
