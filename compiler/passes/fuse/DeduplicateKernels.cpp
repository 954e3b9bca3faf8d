#include "compiler/passes/Passes.h"
#include "compiler/passes/fuse/KernelNumbers.h"
#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/OperationSupport.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace graphc::pass {
#define GEN_PASS_DEF_DEDUPLICATEKERNELS
#include "compiler/passes/Passes.h.inc"
} // namespace graphc::pass

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

/// Kernels of equal loops that are worth one whose numbers are arguments. Fewer are compiled with
/// what they know.
constexpr size_t kFewestShared = 4;
/// Numbers a kernel may get as arguments, of which devices pass a few hundred bytes.
constexpr size_t kMostNumbers = 40;

struct DeduplicateKernels : pass::impl::DeduplicateKernelsBase<DeduplicateKernels> {
  void runOnOperation() override {
    calls.clear();
    getOperation().walk(
        [&](kernel::CallOp call) { calls[call.getCalleeAttr().getAttr()].push_back(call); });
    for (std::vector<Kernel> &alike : ofEqualLoops())
      merge(alike);
  }

private:
  struct Kernel {
    kernel::FuncOp func;
    StringAttr name;
    KernelNumbers numbers;
  };

  /// The kernels in groups, each as it was.
  std::deque<std::vector<Kernel>> ofEqualLoops() {
    std::deque<std::vector<Kernel>> groups;
    // Of one name and without numbers while they are compared.
    StringAttr common = StringAttr::get(&getContext(), "k");
    std::unordered_multimap<size_t, std::vector<Kernel> *> byHash;
    for (auto func : getOperation().getOps<kernel::FuncOp>()) {
      Kernel kernel{func, func.getSymNameAttr(), KernelNumbers(func)};
      func.setSymNameAttr(common);
      kernel.numbers.hide();
      size_t hash = contentHash(func);
      auto [first, last] = byHash.equal_range(hash);
      auto same = std::find_if(first, last, [&](const auto &entry) {
        return OperationEquivalence::isEquivalentTo(entry.second->front().func, func,
                                                    OperationEquivalence::IgnoreLocations);
      });
      if (same == last)
        same = byHash.emplace(hash, &groups.emplace_back());
      same->second->push_back(std::move(kernel));
    }
    for (std::vector<Kernel> &alike : groups)
      for (Kernel &kernel : alike) {
        kernel.numbers.restore();
        kernel.func.setSymNameAttr(kernel.name);
      }
    return groups;
  }

  void merge(std::vector<Kernel> &alike) {
    std::vector<Kernel *> kept;
    for (Kernel &kernel : alike) {
      auto same = llvm::find_if(kept, [&](Kernel *k) { return k->numbers == kernel.numbers; });
      if (same == kept.end())
        kept.push_back(&kernel);
      else
        replace(kernel, **same);
    }
    SmallVector<size_t> differing;
    for (size_t i = 0; i < alike.front().numbers.count(); ++i)
      if (llvm::any_of(kept, [&](Kernel *k) { return !k->numbers.isSame(kept[0]->numbers, i); }))
        differing.push_back(i);
    if (kept.size() < kFewestShared || differing.size() > kMostNumbers)
      return;
    for (Kernel *kernel : kept)
      for (kernel::CallOp call : calls[kernel->name])
        kernel->numbers.appendTo(call, differing);
    kept[0]->numbers.makeArguments(differing);
    for (Kernel *kernel : llvm::drop_begin(kept))
      replace(*kernel, *kept[0]);
  }

  void replace(Kernel &kernel, Kernel &by) {
    std::vector<kernel::CallOp> &more = calls[by.name];
    for (kernel::CallOp call : calls[kernel.name]) {
      call.setCalleeAttr(FlatSymbolRefAttr::get(by.name));
      more.push_back(call);
    }
    kernel.func.erase();
  }

  static size_t contentHash(kernel::FuncOp func) {
    llvm::hash_code hash(0);
    func->walk([&](Operation *op) {
      hash = llvm::hash_combine(hash, op->getName(), op->hashProperties(),
                                op->getDiscardableAttrDictionary(), op->getNumOperands());
    });
    return hash;
  }

  DenseMap<Attribute, std::vector<kernel::CallOp>> calls; ///< by the name of what they call
};

} // namespace
