#include "compiler/passes/Passes.h"
#include "dialects/kernel/Kernel.h"

#include "mlir/IR/OperationSupport.h"

#include <algorithm>
#include <unordered_map>

namespace graphc::pass {
#define GEN_PASS_DEF_DEDUPLICATEKERNELS
#include "compiler/passes/Passes.h.inc"
} // namespace graphc::pass

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

struct DeduplicateKernels : pass::impl::DeduplicateKernelsBase<DeduplicateKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    // Of one name while they are compared.
    StringAttr common = StringAttr::get(&getContext(), "k");
    std::unordered_multimap<size_t, std::pair<kernel::FuncOp, StringAttr>> kept;
    DenseMap<Attribute, StringAttr> renamed;
    for (auto func : llvm::make_early_inc_range(module.getOps<kernel::FuncOp>())) {
      StringAttr name = func.getSymNameAttr();
      func.setSymNameAttr(common);
      size_t hash = contentHash(func);
      auto [first, last] = kept.equal_range(hash);
      auto same = std::find_if(first, last, [&](const auto &entry) {
        return OperationEquivalence::isEquivalentTo(entry.second.first, func,
                                                    OperationEquivalence::IgnoreLocations);
      });
      if (same == last) {
        kept.emplace(hash, std::pair(func, name));
        continue;
      }
      renamed[name] = same->second.second;
      func.erase();
    }
    for (auto &[hash, entry] : kept)
      entry.first.setSymNameAttr(entry.second);
    module.walk([&](kernel::CallOp call) {
      if (StringAttr name = renamed.lookup(call.getCalleeAttr().getAttr()))
        call.setCalleeAttr(FlatSymbolRefAttr::get(name));
    });
  }

  static size_t contentHash(kernel::FuncOp func) {
    llvm::hash_code hash(0);
    func->walk([&](Operation *op) {
      hash = llvm::hash_combine(hash, op->getName(), op->hashProperties(),
                                op->getDiscardableAttrDictionary(), op->getNumOperands());
    });
    return hash;
  }
};

} // namespace
