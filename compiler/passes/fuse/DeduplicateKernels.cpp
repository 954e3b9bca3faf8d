#include "compiler/passes/Passes.h"
#include "dialects/kernel/Kernel.h"

#include "llvm/ADT/StringMap.h"

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
    llvm::StringMap<StringAttr> byText;
    DenseMap<Attribute, StringAttr> renamed;
    for (auto func : llvm::make_early_inc_range(module.getOps<kernel::FuncOp>())) {
      StringAttr name = func.getSymNameAttr();
      func.setSymName("k");
      std::string text;
      llvm::raw_string_ostream stream(text);
      func.print(stream, OpPrintingFlags().useLocalScope());
      func.setSymNameAttr(name);
      auto [it, inserted] = byText.try_emplace(text, name);
      if (inserted)
        continue;
      renamed[name] = it->second;
      func.erase();
    }
    module.walk([&](kernel::CallOp call) {
      if (StringAttr name = renamed.lookup(call.getCalleeAttr().getAttr()))
        call.setCalleeAttr(FlatSymbolRefAttr::get(name));
    });
  }
};

} // namespace
