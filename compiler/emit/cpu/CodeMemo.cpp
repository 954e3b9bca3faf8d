#include "compiler/emit/cpu/CodeMemo.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

#include <vector>

using namespace mlir;
using namespace graphc;
using namespace graphc::emit;

namespace {

/// What a function is, as words: operations with everything but their locations. Types, attributes
/// and the names of operations are unique in a context, so that their addresses stand for them.
class ContentWords {
public:
  explicit ContentWords(const llvm::StringMap<std::string> &names) : names(names) {}

  Digest of(func::FuncOp func) {
    words.clear();
    numbers.clear();
    for (NamedAttribute attribute : func->getAttrs())
      if (attribute.getName() != SymbolTable::getSymbolAttrName())
        append(attribute);
    append(func.getBody());
    return digestOf(std::span(reinterpret_cast<const uint8_t *>(words.data()),
                              words.size() * sizeof(uint64_t)));
  }

private:
  void append(const void *unique) { words.push_back(reinterpret_cast<uintptr_t>(unique)); }
  void append(NamedAttribute attribute) {
    append(attribute.getName().getAsOpaquePointer());
    append(attribute.getValue().getAsOpaquePointer());
  }
  void append(Value value) {
    words.push_back(numbers.try_emplace(value, numbers.size()).first->second);
  }

  void append(Region &region) {
    for (Block &block : region)
      blocks.try_emplace(&block, blocks.size());
    words.push_back(static_cast<uint64_t>(region.getBlocks().size()));
    for (Block &block : region) {
      words.push_back(block.getNumArguments());
      for (BlockArgument argument : block.getArguments()) {
        append(argument.getType().getAsOpaquePointer());
        append(Value(argument));
      }
      for (Operation &op : block)
        append(op);
      words.push_back(kEnd);
    }
  }

  void append(Operation &op) {
    append(op.getName().getAsOpaquePointer());
    if (auto call = dyn_cast<func::CallOp>(op)) {
      for (NamedAttribute attribute : op.getAttrDictionary())
        if (attribute.getName() != call.getCalleeAttrName())
          append(attribute);
      const Digest callee = digestOf(std::string_view(names.at(call.getCallee())));
      words.insert(words.end(), {callee.low, callee.high});
    } else {
      append(op.getAttrDictionary().getAsOpaquePointer());
    }
    words.insert(words.end(), {op.getNumOperands(), op.getNumResults(), op.getNumRegions()});
    for (Value operand : op.getOperands())
      append(operand);
    for (Value result : op.getResults()) {
      append(result.getType().getAsOpaquePointer());
      append(result);
    }
    for (Block *successor : op.getSuccessors())
      words.push_back(blocks.try_emplace(successor, blocks.size()).first->second);
    for (Region &region : op.getRegions())
      append(region);
  }

  static constexpr uint64_t kEnd = ~uint64_t{0};
  const llvm::StringMap<std::string> &names;
  std::vector<uint64_t> words;
  DenseMap<Value, uint64_t> numbers;
  DenseMap<Block *, uint64_t> blocks;
};

/// Functions of a module, callees first.
void visit(const SymbolTable &symbols, func::FuncOp func, SetVector<func::FuncOp> &order) {
  if (order.contains(func))
    return;
  func.walk([&](func::CallOp call) {
    if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
      visit(symbols, callee, order);
  });
  order.insert(func);
}

} // namespace

llvm::StringMap<std::string> emit::nameByContent(ModuleOp module) {
  const SymbolTable table(module);
  SetVector<func::FuncOp> order;
  for (auto func : module.getOps<func::FuncOp>())
    visit(table, func, order);
  llvm::StringMap<std::string> names;
  ContentWords words(names);
  for (func::FuncOp func : order)
    names[func.getSymName()] = "f" + words.of(func).hex();
  module.walk([&](func::CallOp call) { call.setCallee(names.at(call.getCallee())); });
  llvm::StringSet<llvm::MallocAllocator> taken;
  for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    const std::string &name = names.at(func.getSymName());
    if (taken.insert(name).second)
      func.setSymName(name);
    else
      func.erase();
  }
  return names;
}

Digest CodeMemo::key(ModuleOp functions, llvm::StringRef features) {
  std::string text(features);
  for (auto func : functions.getOps<func::FuncOp>())
    if (!func.isExternal()) // what is called is part of the name of who calls it
      text += " " + func.getSymName().str();
  return digestOf(std::string_view(text));
}

const CodeMemo::Object *CodeMemo::find(const Digest &key) const {
  auto it = objects.find(key);
  return it == objects.end() ? nullptr : &it->second;
}

void CodeMemo::add(const Digest &key, const Object &object) {
  if (bytes + object.size() > kMostBytes) {
    objects.clear();
    bytes = 0;
  }
  if (objects.insert_or_assign(key, object).second)
    bytes += object.size();
}
