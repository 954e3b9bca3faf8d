// Why nodes are in different kernels, in the words of explain().
#include "compiler/passes/fuse/FusionPlan.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

llvm::StringRef pass::describe(CutReason reason) {
  switch (reason) {
  case CutReason::None:
    return "fused";
  case CutReason::DifferentSpace:
    return "iteration spaces differ";
  case CutReason::WholeReduction:
    return "the reduction must be complete before its result is read";
  case CutReason::ShiftedRead:
    return "an element reads other elements of the value";
  case CutReason::WouldCycle:
    return "a kernel in between depends on one and feeds the other";
  case CutReason::UpdateBase:
    return "an update needs the whole old value in memory";
  case CutReason::ReadsElsewhere:
    return "its values come from other elements of the array, of which it writes a small part in "
           "place";
  case CutReason::MayMeet:
    return "it may write what the update before it writes, or somebody reads the array in between";
  case CutReason::LibraryStep:
    return "a routine of the library reads and writes whole tensors";
  case CutReason::KernelFull:
    return "the kernel reached its size limit";
  case CutReason::SharingFull:
    return "reading a tensor again costs less than a larger kernel";
  case CutReason::WholeSource:
    return "a gather needs the whole tensor in memory";
  case CutReason::Revisited:
    return "too much would be computed again for each reduction of a row";
  case CutReason::OneByOne:
    return "its elements are written one after the other";
  case CutReason::SharedCode:
    return "of many reductions, those that read nothing but memory share their code";
  case CutReason::RowByRow:
    return "more is computed of a row's result than is worth computing row by row";
  case CutReason::FarApart:
    return "work-items that share a row would write its elements far apart";
  }
  return "";
}

void pass::collectLines(Location loc, SmallVectorImpl<std::string> &lines) {
  if (auto file = dyn_cast<FileLineColLoc>(loc)) {
    std::string line;
    llvm::raw_string_ostream(line) << file.getFilename().getValue() << ":" << file.getLine();
    if (!llvm::is_contained(lines, line))
      lines.push_back(line);
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location inner : fused.getLocations())
      collectLines(inner, lines);
  } else if (auto name = dyn_cast<NameLoc>(loc)) {
    collectLines(name.getChildLoc(), lines);
  }
}

/// "kernel 3", or of many "kernels 3, 5, 7 and 20 more".
static std::string kernelsOf(ArrayRef<int64_t> numbers) {
  constexpr size_t kMostNamed = 3;
  std::string text = numbers.size() == 1 ? "kernel " : "kernels ";
  llvm::raw_string_ostream out(text);
  llvm::interleaveComma(numbers.take_front(kMostNamed), out);
  if (numbers.size() > kMostNamed)
    out << " and " << numbers.size() - kMostNamed << " more";
  return text;
}

void FusionPlan::noteCut(const Node &node, int group, CutReason reason) {
  cutsMade.push_back({&node, node.op ? node.op->getName().getStringRef() : "copy",
                      node.result.getLoc(), group, reason});
}

SmallVector<std::string> FusionPlan::cuts(ArrayRef<Group *> order) {
  using Kind = std::pair<std::string, CutReason>;
  llvm::MapVector<Kind, SmallVector<int64_t>, std::map<Kind, unsigned>> alike;
  for (const Cut &cut : cutsMade) {
    Group *group = &groups[find(cut.group)];
    if (group == groupOf(*cut.node)) // met again in a third one
      continue;
    SmallVector<std::string> places;
    collectLines(cut.place, places);
    std::string what = cut.name.str();
    if (!places.empty())
      what += " at " + llvm::join(places, "; ");
    alike[{what, cut.reason}].push_back(llvm::find(order, group) - order.begin());
  }
  SmallVector<std::string> lines;
  for (auto &[cut, kernels] : alike)
    lines.push_back(cut.first + " not fused with " + kernelsOf(kernels) + ": " +
                    describe(cut.second).str());
  return lines;
}
