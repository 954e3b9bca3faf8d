#include "compiler/passes/fuse/Turns.h"

#include <algorithm>

using namespace graphc::pass;

/// Longer ones are too large for a kernel to hold several.
static constexpr size_t kLongestTurn = 128;

Turns graphc::pass::findTurns(llvm::ArrayRef<unsigned> kinds) {
  for (size_t length = 1; length <= std::min(kLongestTurn, kinds.size() / 3); ++length) {
    Turns found, run;
    for (size_t i = 0; i + length < kinds.size(); ++i) {
      if (kinds[i] != kinds[i + length])
        continue;
      bool goesOn = run.length && run.last == i + length;
      run = {goesOn ? run.first : i, i + length + 1, length};
      if (run.last - run.first > found.last - found.first)
        found = run;
    }
    size_t values = found.last - found.first;
    if (values >= 3 * length && 2 * values >= kinds.size())
      return found;
  }
  return {};
}

llvm::SmallVector<Turns> graphc::pass::findLoops(llvm::ArrayRef<unsigned> kinds) {
  llvm::SmallVector<Turns> loops;
  llvm::SmallVector<std::pair<size_t, size_t>> parts{{0, kinds.size()}};
  while (!parts.empty()) {
    auto [begin, end] = parts.pop_back_val();
    Turns turns = findTurns(kinds.slice(begin, end - begin));
    if (!turns.length)
      continue;
    loops.push_back({turns.first + begin, turns.last + begin, turns.length});
    parts.push_back({begin, loops.back().first});
    parts.push_back({loops.back().last, end});
  }
  return loops;
}
