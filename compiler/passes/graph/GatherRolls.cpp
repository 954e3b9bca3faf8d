#include "compiler/passes/Passes.h"
#include "compiler/passes/analysis/Access.h"
#include "compiler/passes/fuse/FusionPlan.h"
#include "dialects/graph/Graph.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace graphc::pass {
#define GEN_PASS_DEF_GATHERROLLS
#include "compiler/passes/Passes.h.inc"
} // namespace graphc::pass

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

/// Parts of a roll, whose places are chosen from one after the other.
constexpr size_t kMostParts = 3;

/// Of an axis the places in a longer one: of one part, `step` apart, or of several.
struct AxisParts {
  Size whole; ///< size of the longer axis
  int64_t step = 1;
  SmallVector<Size, 2> starts, sizes; ///< of each part

  bool isRoll() const { return starts.size() > 1; }
};

/// Where the elements of a value lie along one axis of its source: along an axis of the value, at
/// places of places, those in the source first. Along none of one element.
struct AxisPlaces {
  std::optional<unsigned> along;
  SmallVector<AxisParts, 1> maps;

  bool isRolled() const {
    return llvm::any_of(maps, [](const AxisParts &map) { return map.isRoll(); });
  }
};

/// A join whose elements lie in one source.
struct Roll {
  Value source;
  SmallVector<AxisPlaces, 0> axes; ///< of the source
};

/// A join of parts of one array along one axis. Of three the later ones begin at the front, so that
/// neighbours in it either are neighbours in the source or lie before each other.
class Finder {
public:
  Finder(graph::ConcatenateOp join, SizeAnalysis &sizes)
      : join(join), sizes(sizes), axis(join.getAxis()) {}

  std::optional<Roll> find() {
    if (join.getInputs().size() < 2 || join.getInputs().size() > kMostParts)
      return std::nullopt;
    for (Value part : join.getInputs())
      parts.push_back(accessOf(part));
    Value source = parts[0].root;
    Operation *producer = source.getDefiningOp();
    if (producer && (producer->hasTrait<graph::Generator>() || isa<graph::ReshapeOp>(producer)))
      return std::nullopt;
    if (!llvm::all_of(parts, [&](const Access &part) { return part.root == source; }))
      return std::nullopt;
    Roll roll{source, {}};
    for (size_t i = 0; i < parts[0].indices.size(); ++i) {
      auto places = placesAlong(i);
      if (!places)
        return std::nullopt;
      roll.axes.push_back(std::move(*places));
    }
    if (llvm::count_if(roll.axes, [](const AxisPlaces &places) { return places.isRolled(); }) != 1)
      return std::nullopt;
    return roll;
  }

private:
  Access accessOf(Value part) {
    SmallVector<AffineExpr> all;
    for (int64_t i = 0; i < cast<RankedTensorType>(part.getType()).getRank(); ++i)
      all.push_back(getAffineDimExpr(i, part.getContext()));
    return resolveAccess(part, all, sizes);
  }

  AffineExpr at(AffineExpr e, unsigned dim, int64_t place) {
    AffineExpr to = getAffineConstantExpr(place, e.getContext());
    return simplifyAffineExpr(e.replace(getAffineDimExpr(dim, e.getContext()), to), rank(),
                              sizes.symbols().size());
  }
  unsigned rank() { return cast<RankedTensorType>(join.getType()).getRank(); }

  /// The constant or size that an expression is.
  std::optional<Size> sizeOf(AffineExpr e) {
    if (auto constant = dyn_cast<AffineConstantExpr>(e))
      return Size{constant.getValue(), {}};
    if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
      return Size{0, sizes.symbols()[symbol.getPosition()]};
    return std::nullopt;
  }

  /// Nothing where some part lies otherwise.
  std::optional<AxisPlaces> placesAlong(size_t sourceAxis) {
    AxisPlaces result;
    AxisParts map{sizes.of(parts[0].root)[sourceAxis], 1, {}, {}};
    for (auto [part, input] : llvm::zip_equal(parts, join.getInputs())) {
      AffineExpr start = part.indices[sourceAxis];
      for (unsigned dim = 0; dim < rank(); ++dim) {
        // Axes of one element may have gone on the way.
        if (!start.isFunctionOfDim(dim) || sizes.of(input)[dim].isConstant(1))
          continue;
        auto step = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(
            at(start, dim, 1) - at(start, dim, 0), rank(), sizes.symbols().size()));
        if (!step || (result.along && (*result.along != dim || map.step != step.getValue())))
          return std::nullopt;
        result.along = dim;
        map.step = step.getValue();
      }
      for (unsigned dim = 0; dim < rank(); ++dim)
        start = at(start, dim, 0);
      auto first = sizeOf(start);
      if (!first)
        return std::nullopt;
      map.starts.push_back(*first);
      map.sizes.push_back(sizes.of(input)[axis]);
    }
    if (result.along == axis) {
      bool isFront = llvm::all_of(ArrayRef(map.starts).drop_front(),
                                  [](const Size &start) { return start.isConstant(0); });
      if (map.step != 1 || (map.starts.size() > 2 && !isFront))
        return std::nullopt;
    } else {
      if (!llvm::all_equal(map.starts))
        return std::nullopt;
      map.starts.resize(1);
    }
    result.maps.push_back(std::move(map));
    return result;
  }

  graph::ConcatenateOp join;
  SizeAnalysis &sizes;
  unsigned axis;
  SmallVector<Access> parts;
};

/// The roll of what `inner` gathers, as one of its source; nothing where an axis would be rolled
/// twice.
std::optional<Roll> composed(const Roll &inner, const Roll &outer) {
  Roll result{inner.source, {}};
  for (const AxisPlaces &places : inner.axes) {
    AxisPlaces all = places;
    if (places.along) {
      const AxisPlaces &further = outer.axes[*places.along];
      if (places.isRolled() && further.isRolled())
        return std::nullopt;
      all.along = further.along;
      all.maps.append(further.maps);
    }
    result.axes.push_back(std::move(all));
  }
  return result;
}

/// Makes one join a gather.
class Builder {
public:
  Builder(graph::ConcatenateOp join, SizeAnalysis &sizes)
      : b(join), loc(join.getLoc()), type(cast<RankedTensorType>(join.getType())),
        shape(sizes.of(join.getResult())) {}

  Value gather(const Roll &roll) {
    SmallVector<Value> indices;
    SmallVector<int64_t> axes;
    auto all = type.clone(b.getI64Type());
    for (auto [axis, places] : llvm::enumerate(roll.axes)) {
      Value along = placesOf(places);
      indices.push_back(graph::BroadcastOp::create(
          b, loc, all, along, dynamicSizes(all, shape, b, loc),
          ArrayRef<int64_t>{places.along ? static_cast<int64_t>(*places.along) : 0}));
      axes.push_back(axis);
    }
    auto gather = graph::GatherOp::create(b, loc, type, roll.source, indices, axes, uint64_t{0});
    gather->setAttr(kInsideAttr, b.getUnitAttr());
    gather->setAttr(kAgainAttr, b.getUnitAttr());
    return gather;
  }

private:
  Value placesOf(const AxisPlaces &places) {
    Size size = places.along ? shape[*places.along] : Size{1, {}};
    line = lineOf(size);
    lineSize = dynamicSizes(line, size, b, loc);
    Value result;
    for (const AxisParts &map : llvm::reverse(places.maps)) {
      if (!map.isRoll() && !result) {
        result = part(map);
        continue;
      }
      if (!result)
        result = graph::IotaOp::create(b, loc, line, lineSize);
      result = map.isRoll() ? rolled(result, map) : within(result, map);
    }
    return result;
  }

  /// What a part shows of an axis' places.
  Value part(const AxisParts &map) {
    RankedTensorType whole = lineOf(map.whole);
    Value all = graph::IotaOp::create(b, loc, whole, dynamicSizes(whole, map.whole, b, loc));
    const Size &start = map.starts[0];
    return graph::SliceOp::create(
        b, loc, line, all, start.value ? ValueRange(start.value) : ValueRange(), lineSize,
        ArrayRef<int64_t>{start.value ? ShapedType::kDynamic : start.constant},
        ArrayRef<int64_t>{map.step});
  }

  Value within(Value along, const AxisParts &map) {
    if (map.step != 1)
      along = make<graph::MulOp>(along, numbers({map.step, {}}));
    return map.starts[0].isConstant(0) ? along : make<graph::AddOp>(along, numbers(map.starts[0]));
  }

  Value rolled(Value along, const AxisParts &map) {
    SmallVector<Value> firsts = {Value()}; // of each part
    for (const Size &size : ArrayRef(map.sizes).drop_back())
      firsts.push_back(firsts.back() ? make<graph::AddOp>(firsts.back(), numbers(size))
                                     : numbers(size));
    Value places;
    for (size_t i = firsts.size(); i-- > 0;) {
      Value here = firsts[i] ? make<graph::SubOp>(along, firsts[i]) : along;
      if (!map.starts[i].isConstant(0))
        here = make<graph::AddOp>(here, numbers(map.starts[i]));
      if (!places) {
        places = here;
        continue;
      }
      auto isBefore = graph::LessOp::create(b, loc, TypeRange(line.clone(b.getI1Type())),
                                            ValueRange{along, firsts[i + 1]});
      isBefore->setAttr(kAgainAttr, b.getUnitAttr());
      places = make<graph::SelectOp>(isBefore, here, places);
    }
    return places;
  }

  template <typename Op, typename... Operands>
  Value make(Operands... operands) {
    auto op = Op::create(b, loc, TypeRange(line), ValueRange{operands...});
    op->setAttr(kAgainAttr, b.getUnitAttr());
    return op;
  }

  RankedTensorType lineOf(const Size &size) {
    return RankedTensorType::get(size.value ? ShapedType::kDynamic : size.constant, b.getI64Type());
  }

  /// A size at every element of the line.
  Value numbers(const Size &size) {
    if (!size.value)
      return graph::FullOp::create(b, loc, line, b.getI64IntegerAttr(size.constant), lineSize);
    // The element of that number of a line that is one longer.
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value longer = arith::AddIOp::create(b, loc, size.value, one);
    Value count = graph::IotaOp::create(b, loc, lineOf(size), longer);
    Value number =
        graph::SliceOp::create(b, loc, lineOf({1, {}}), count, size.value, ValueRange(),
                               ArrayRef<int64_t>{ShapedType::kDynamic}, ArrayRef<int64_t>{1});
    return graph::BroadcastOp::create(b, loc, line, number, lineSize, ArrayRef<int64_t>{0});
  }

  OpBuilder b;
  Location loc;
  RankedTensorType type, line;
  SmallVector<Size> shape;
  SmallVector<Value> lineSize;
};

/// Whether everything that reads a value computes with it, maybe under views, or is one of `rolls`.
bool isOnlyComputedWith(Value value, const llvm::SetVector<Operation *> &rolls) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (user->hasTrait<graph::Movement>())
      return isOnlyComputedWith(user->getResult(0), rolls);
    auto update = dyn_cast<graph::UpdateSliceOp>(user);
    if (update && update.getX() != value)
      return true;
    return rolls.contains(user) || user->hasTrait<graph::Elementwise>() ||
           user->hasTrait<graph::Reduction>() || user->hasTrait<graph::Scan>();
  });
}

struct GatherRolls : pass::impl::GatherRollsBase<GatherRolls> {
  using GatherRollsBase::GatherRollsBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    SizeAnalysis sizes(func);
    llvm::SetVector<Operation *> joins;
    // Readers first, among which other rolls may be.
    for (Operation &op : llvm::reverse(func.getBody().front()))
      if (auto join = dyn_cast<graph::ConcatenateOp>(op);
          join && isOnlyComputedWith(join.getResult(), joins) && Finder(join, sizes).find())
        joins.insert(join);
    DenseMap<Value, Roll> gathers;
    for (Operation *op : llvm::reverse(joins)) {
      auto join = cast<graph::ConcatenateOp>(op);
      // Its source may be a gather by now.
      std::optional<Roll> roll = Finder(join, sizes).find();
      assert(roll && "found before, of the join that its source was");
      if (auto inner = gathers.find(roll->source); inner != gathers.end())
        if (auto both = composed(inner->second, *roll))
          roll = std::move(both);
      Value gather = Builder(join, sizes).gather(*roll);
      sizes.replace(join.getResult(), gather);
      join.getResult().replaceAllUsesWith(gather);
      gathers[gather] = std::move(*roll);
    }
    for (Operation *op : joins)
      op->erase();
    // Gathers that others took along, and their parts.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(func.getBody().front())))
      if (isOpTriviallyDead(&op) || (op.use_empty() && op.hasAttr(kAgainAttr)))
        op.erase();
  }
};

} // namespace
