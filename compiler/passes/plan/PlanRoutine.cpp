#include "compiler/passes/plan/PlanRoutine.h"

#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/group/GroupCorrelate.h"
#include "compiler/passes/lower/group/GroupSort.h"
#include "dialects/plan/Plan.h"
#include "runtime/base/Routine.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <optional>

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

/// Lines of a matrix, and what becomes of them.
struct SortedLines {
  Value elements, result; ///< buffers
  Value lines, length;
};

/// Launches of functions that are named after `name`.
struct Plan {
  OpBuilder &b;
  Location loc;
  IndexMath m;
  StringRef name;
  StringAttr lines;

  Value buffer(Type element, Value count) const {
    auto type = plan::BufferType::get(b.getContext(), element);
    return plan::AllocOp::create(b, loc, type, count, IntegerAttr());
  }
  void launch(StringRef suffix, ValueRange buffers, ValueRange sizes, Value groups,
              int64_t work) const {
    auto callee = FlatSymbolRefAttr::get(b.getContext(), (name + suffix).str());
    plan::LaunchOp::create(b, loc, callee, buffers, sizes, groups, m(work), lines, Value(),
                           IntegerAttr(), Value());
  }
};

struct SortPlan : Plan {
  SortedLines sorted;
};

/// Elements of a line that are in one tile: a power of two.
Value segmentOf(const SortPlan &p) {
  Value segment = p.m(kSortEach);
  for (int64_t size = kSortEach; size < kSortTile; size *= 2)
    segment = p.m.mul(segment, p.m.add(p.m.some(p.m.sub(p.sorted.length, p.m(size))), 1));
  return segment;
}

/// More elements than a line can have.
constexpr int64_t kLongestLine = int64_t{1} << 40;

/// `isMerged`: 1 or 0, by which numbers of groups are multiplied; `longest`: elements of a line
/// that is merged, at most.
void addMerges(const SortPlan &p, Value isMerged, int64_t longest, Value keys, Value places) {
  const IndexMath &m = p.m;
  Value lines = p.sorted.lines, length = p.sorted.length;
  Value isLong = m.mul(isMerged, m.some(m.sub(length, m(kSortTile))));
  Value tiles = m.mul(isMerged, m.mul(lines, m.ceilDiv(length, kSortTile)));
  Value splits = p.buffer(p.b.getI64Type(), m.mul(tiles, isLong));
  Value segment = segmentOf(p);
  Value groups = m.mul(
      isMerged, m.mul(m.ceilDiv(lines, m.div(m(kSortTile), segment)), m.ceilDiv(length, segment)));
  SmallVector<Value> first = {p.sorted.elements, keys};
  if (places)
    first.push_back(places);
  first.push_back(p.sorted.result);
  p.launch(kSortTiles, first, {lines, length, segment, m.sub(m(1), isLong)}, groups, kSortTile);
  int64_t half = 0;
  for (int64_t run = kSortTile; run < longest; run *= 2, half = 1 - half) {
    Value isRun = m.some(m.sub(length, m(run)));
    Value isLast = m.sub(m(1), m.some(m.sub(length, m(2 * run))));
    SmallVector<Value> sizes = {lines, length, m(run), m(half)};
    p.launch(kSortSplits, {keys, splits}, sizes, m.mul(m.ceilDiv(tiles, kSortGroup), isRun),
             kSortGroup);
    sizes.push_back(isLast);
    SmallVector<Value> buffers = {splits, keys};
    if (places)
      buffers.push_back(places);
    buffers.push_back(p.sorted.result);
    p.launch(kSortMerge, buffers, sizes, m.mul(tiles, isRun), kSortTile);
  }
}

/// `isLong`: likewise; `width`: bits of a key.
void addDigits(const SortPlan &p, Value isLong, Value keys, Value places, unsigned width) {
  const IndexMath &m = p.m;
  Value lines = p.sorted.lines, length = p.sorted.length, count = m.mul(lines, length);
  Value keyTiles = m.mul(isLong, m.ceilDiv(count, kSortTile));
  Value tiles = m.ceilDiv(length, kSortTile);
  Value each = m.max(m.ceilDiv(m.mul(lines, tiles), kRadixChunks), 1);
  Value chunks = m.max(m.ceilDiv(tiles, each), 1);
  Value groups = m.mul(isLong, m.mul(lines, chunks));
  Type number = p.b.getI64Type();
  auto digitCount = static_cast<int64_t>(width) / kDigitBits;
  Value differing = p.buffer(cast<plan::BufferType>(keys.getType()).getElement(), keyTiles);
  Value passes = p.buffer(number, m.mul(isLong, digitCount));
  Value counts = p.buffer(number, m.mul(groups, kDigits));
  Value digits = m.mul(isLong, m.mul(lines, kDigits)), totals = p.buffer(number, digits);
  p.launch(kRadixKeys, {p.sorted.elements, keys, differing}, count, keyTiles, kSortTile);
  p.launch(kRadixPasses, {differing, passes}, keyTiles, isLong, kSortGroup);
  for (int64_t digit = 0; digit < digitCount; ++digit) {
    SmallVector<Value> sizes = {lines, length, m(digit), each, chunks};
    p.launch(kRadixCount, {passes, keys, counts}, sizes, groups, kSortTile);
    p.launch(kRadixOffsets, {passes, counts, totals}, {m(digit), chunks}, digits, kSortGroup);
    SmallVector<Value> buffers = {passes, totals, counts, keys};
    if (places)
      buffers.push_back(places);
    buffers.push_back(p.sorted.result);
    p.launch(kRadixScatter, buffers, sizes, groups, kSortTile);
  }
}

Type elementOf(graph::LibraryOp step) {
  return cast<RankedTensorType>(step.getInputs()[0].getType()).getElementType();
}

StringAttr linesOf(OpBuilder &b, graph::LibraryOp step) {
  auto lines = step->getAttrOfType<StringAttr>("graph.lines");
  return lines ? lines : b.getStringAttr("");
}

/// The name of the operation that `make`(builder, name) adds unless there is one of that name.
template <typename Make>
std::string ensure(SymbolTable &symbols, graph::LibraryOp step, StringRef variant, Make make) {
  std::string name;
  llvm::raw_string_ostream(name) << step.getRoutine() << '_' << elementOf(step) << variant;
  if (!symbols.lookup(name)) {
    OpBuilder outer = OpBuilder::atBlockBegin(cast<ModuleOp>(symbols.getOp()).getBody());
    symbols.insert(make(outer, name));
  }
  return name;
}

void planSearch(OpBuilder &b, SymbolTable &symbols, graph::LibraryOp step,
                const RoutineBuffers &buffers) {
  Location loc = step.getLoc();
  const bool right = step.getParams()[0] != 0;
  std::string name =
      ensure(symbols, step, right ? "_right" : "", [&](OpBuilder &outer, StringRef name) {
        return kernel::SearchOp::create(outer, loc, name, elementOf(step), right);
      });
  Plan p{b, loc, IndexMath{b, loc}, name, linesOf(b, step)};
  Value count = buffers.resultShape[0];
  p.launch("", {buffers.operands[0], buffers.operands[1], buffers.result},
           {buffers.shapes[0][0], count}, p.m.ceilDiv(count, kSortGroup), kSortGroup);
}

void planCorrelate(OpBuilder &b, SymbolTable &symbols, graph::LibraryOp step,
                   const RoutineBuffers &buffers) {
  Location loc = step.getLoc();
  std::string name = ensure(symbols, step, "", [&](OpBuilder &outer, StringRef name) {
    return kernel::CorrelateOp::create(outer, loc, name, elementOf(step));
  });
  Plan p{b, loc, IndexMath{b, loc}, name, linesOf(b, step)};
  const IndexMath &m = p.m;
  Value values = buffers.shapes[0][0], factors = buffers.shapes[1][0];
  Value sums = buffers.resultShape[0], first = m(0); // by the parameter (Routine.h)
  if (int64_t kind = step.getParams()[0]; kind == 1)
    first = m.sub(factors, m(1));
  else if (kind != 0)
    first = m.div(kind == 2 ? m.sub(factors, m(1)) : factors, 2);
  p.launch("", {buffers.operands[0], buffers.operands[1], buffers.result},
           {values, factors, first, sums}, m.ceilDiv(sums, kCorrelateTile), kCorrelateGroup);
}

void planSort(OpBuilder &b, SymbolTable &symbols, graph::LibraryOp step,
              const SortedLines &sorted) {
  Location loc = step.getLoc();
  const bool ofPlaces = routineFromName(step.getRoutine()) == Routine::Argsort;
  const bool descending = step.getParams()[0] != 0;
  Type element = elementOf(step);
  std::string name =
      ensure(symbols, step, descending ? "_descending" : "", [&](OpBuilder &outer, StringRef name) {
        return kernel::SortOp::create(outer, loc, name, element, ofPlaces, descending);
      });
  SortPlan p{{b, loc, IndexMath{b, loc}, name, linesOf(b, step)}, sorted};
  const IndexMath &m = p.m;
  Value isKept = m.some(m.sub(sorted.length, m(kSortTile)));
  Value kept = m.mul(m.mul(sorted.lines, sorted.length), m.mul(isKept, 2));
  unsigned width = std::max(8u, element.getIntOrFloatBitWidth());
  auto key = IntegerType::get(b.getContext(), width, IntegerType::Unsigned);
  Value keys = p.buffer(key, kept), places;
  if (ofPlaces)
    places = p.buffer(b.getI64Type(), kept);
  std::optional<int64_t> known = getConstantIntValue(sorted.length);
  int64_t byDigits = isSortedByDigits(element) ? kRadixLength : kLongestLine;
  Value isLong = m.some(m.sub(sorted.length, m(byDigits - 1)));
  if (!known || *known < byDigits)
    addMerges(p, m.sub(m(1), isLong), std::min(known.value_or(byDigits), byDigits), keys, places);
  if (byDigits == kRadixLength && (!known || *known >= kRadixLength))
    addDigits(p, isLong, keys, places, width);
}

} // namespace

bool pass::runsByGroups(graph::LibraryOp step) {
  std::optional<Routine> routine = routineFromName(step.getRoutine());
  // Those of real keys are several sorts by now; of complex ones the host has all.
  if (!routine || routine == Routine::Lexsort)
    return false;
  return hasGroupKernels(*routine) && elementOf(step).isIntOrFloat();
}

void pass::planByGroups(OpBuilder &b, SymbolTable &symbols, graph::LibraryOp step,
                        const RoutineBuffers &buffers) {
  switch (*routineFromName(step.getRoutine())) {
  case Routine::Searchsorted:
    return planSearch(b, symbols, step, buffers);
  case Routine::Correlate:
    return planCorrelate(b, symbols, step, buffers);
  default:
    return planSort(
        b, symbols, step,
        {buffers.operands[0], buffers.result, buffers.resultShape[0], buffers.resultShape[1]});
  }
}
