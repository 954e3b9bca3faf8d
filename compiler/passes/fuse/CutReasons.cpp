// Why nodes are in different kernels, in the words of explain().
#include "compiler/passes/fuse/FusionPlan.h"

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
  }
  return "";
}
