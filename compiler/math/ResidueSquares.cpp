#include "compiler/math/ResidueSquares.h"

#include "compiler/math/ResidueSteps.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::math;

namespace {

using Step = ResidueStep; ///< `lazy` is an integer whose low 52 bits are below 2 p

/// 4 p^2 + p is below 2^52.
constexpr int64_t kLargestModulus = (int64_t{1} << 25) - 1;
constexpr int64_t kLanes = 8; ///< of a register
constexpr uint64_t kLow52 = (uint64_t{1} << 52) - 1;

/// A number modulo p, which is small enough for products in 64 bits.
struct Modular {
  uint64_t value, p;
  static Modular of(int64_t v, int64_t p) {
    return {static_cast<uint64_t>((v % p + p) % p), static_cast<uint64_t>(p)};
  }
  Modular with(uint64_t v) const { return {v % p, p}; }
  Modular operator*(Modular b) const { return with(value * b.value); }
  Modular operator+(Modular b) const { return with(value + b.value); }
  Modular operator-() const { return with(p - value); }
  Modular operator-(Modular b) const { return *this + -b; }
  /// Nothing when the number and p have a common divisor.
  std::optional<Modular> inverse() const {
    int64_t r = static_cast<int64_t>(p), next = static_cast<int64_t>(value), t = 0, s = 1;
    while (next != 0) {
      int64_t q = r / next;
      r = std::exchange(next, r - q * next);
      t = std::exchange(s, t - q * s);
    }
    return r == 1 ? std::optional(of(t, static_cast<int64_t>(p))) : std::nullopt;
  }
};

/// A polynomial modulo p in the one unknown of a step.
struct Polynomial {
  SmallVector<Modular, 3> c; ///< by degree, at least one
  Polynomial operator+(const Polynomial &b) const {
    Polynomial sum = c.size() < b.c.size() ? b : *this;
    const Polynomial &less = c.size() < b.c.size() ? *this : b;
    for (auto [to, from] : llvm::zip(sum.c, less.c))
      to = to + from;
    return sum;
  }
  Polynomial operator-() const {
    Polynomial result = *this;
    for (Modular &m : result.c)
      m = -m;
    return result;
  }
  Polynomial operator-(const Polynomial &b) const { return *this + -b; }
  Polynomial operator*(const Polynomial &b) const {
    Polynomial product;
    product.c.assign(c.size() + b.c.size() - 1, c[0].with(0));
    for (auto [i, x] : llvm::enumerate(c))
      for (auto [j, y] : llvm::enumerate(b.c))
        product.c[i + j] = product.c[i + j] + x * y;
    return product;
  }
};

/// x -> a x^2 + b x + c.
struct Quadratic {
  Value unknown;
  Modular a, b, c;
};

/// u = scale x + shift.
struct Form {
  Modular scale, shift;
};

class Squares {
public:
  Squares(func::FuncOp func, Intervals &intervals, MlirBuilder::Target target)
      : func(func), intervals(intervals), target(target) {}
  void run();

private:
  std::optional<Quadratic> quadratic(const Step &step);
  bool isExact(const Step &step, Value unknown, int64_t limit);
  std::optional<int64_t> limitOf(const Step &step, const Quadratic &q);
  Form formBefore(const Modular &scale, const Quadratic &next);
  void convert(ArrayRef<Step *> chain, int64_t limit);
  Value guarded(MlirBuilder &b, OpBuilder &ops, Step &step, const Quadratic &q, const Form &form,
                Value u, int64_t limit);
  Value canonical(OpBuilder &ops, Step &step);

  MlirBuilder builderFor(OpBuilder &ops, Step &step) {
    int64_t lanes = cast<VectorType>(step.result.getType()).getDimSize(0);
    return {ops, step.op.getLoc(), lanes, target};
  }
  Value product(OpBuilder &ops, bool high, Value sum, Value x, Value y);
  Value affine(OpBuilder &ops, MlirBuilder &b, Value x, uint64_t scale, uint64_t shift);
  Value reduced(OpBuilder &ops, MlirBuilder &b, Value x, uint64_t p);
  Value constant(MlirBuilder &b, uint64_t value) { return b.i64(static_cast<int64_t>(value)); }

  func::FuncOp func;
  Intervals &intervals;
  MlirBuilder::Target target;
  ResidueSteps steps;
  DenseMap<Operation *, Quadratic> quadratics;
  DenseMap<Operation *, Form> forms; ///< of converted steps' results
};

/// Nothing when the dividend is not such a polynomial of one value, or p does not allow the form.
std::optional<Quadratic> Squares::quadratic(const Step &step) {
  int64_t p = step.p, lanes = cast<VectorType>(step.result.getType()).getDimSize(0);
  if (p % 2 == 0 || p > kLargestModulus || lanes % kLanes != 0)
    return std::nullopt;
  Value unknown;
  for (Value leaf : step.leaves) {
    if (intervals.of(leaf).isConstant())
      continue;
    if (unknown)
      return std::nullopt;
    unknown = leaf;
  }
  if (!unknown)
    return std::nullopt;
  auto polynomial = dividendIn<Polynomial>(
      step,
      [&](Value leaf) -> Polynomial {
        if (leaf == unknown)
          return {{Modular::of(0, p), Modular::of(1, p)}};
        return {{Modular::of(intervals.of(leaf).low, p)}};
      },
      [](const Polynomial &v) { return v.c.size() <= 3; });
  if (!polynomial || polynomial->c.size() != 3 || !polynomial->c[2].inverse())
    return std::nullopt;
  return Quadratic{unknown, polynomial->c[2], polynomial->c[1], polynomial->c[0]};
}

/// Whether the integers do not wrap while the unknown value is within +-limit.
bool Squares::isExact(const Step &step, Value unknown, int64_t limit) {
  auto size = [&](Value leaf) -> Magnitude {
    if (leaf == unknown)
      return {static_cast<long double>(limit)};
    return {std::abs(static_cast<long double>(intervals.of(leaf).low))};
  };
  return dividendIn<Magnitude>(step, size, [](Magnitude v) { return v.most < 0x1p62L; })
      .has_value();
}

/// The bound on a chain's first value, a power of two; nothing when not even residues are within.
std::optional<int64_t> Squares::limitOf(const Step &step, const Quadratic &q) {
  for (int64_t limit = int64_t{1} << 50; limit >= step.p; limit /= 2)
    if (static_cast<long double>(limit) * static_cast<long double>(q.a.value) < 0x1p50L &&
        isExact(step, q.unknown, limit))
      return limit;
  return std::nullopt;
}

/// The form of a value whose square, with a constant added, is a form of the next one.
Form Squares::formBefore(const Modular &scale, const Quadratic &next) {
  Modular half = *scale.with(2).inverse();
  return {scale, scale * next.b * half * *next.a.inverse()};
}

/// sum + the low or high 52 bits of the product of the low 52 bits.
Value Squares::product(OpBuilder &ops, bool high, Value sum, Value x, Value y) {
  Location loc = sum.getLoc();
  auto each = [&](Value s, Value a, Value b) -> Value {
    return LLVM::CallIntrinsicOp::create(
               ops, loc, s.getType(),
               ops.getStringAttr(high ? "llvm.x86.avx512.vpmadd52h.uq.512"
                                      : "llvm.x86.avx512.vpmadd52l.uq.512"),
               ValueRange{s, a, b})
        .getResult(0);
  };
  int64_t lanes = cast<VectorType>(sum.getType()).getDimSize(0);
  if (lanes == kLanes)
    return each(sum, x, y);
  auto slice = [&](Value v, int64_t from) -> Value {
    return vector::ExtractStridedSliceOp::create(ops, loc, v, from, kLanes, 1);
  };
  Value result = sum;
  for (int64_t from = 0; from < lanes; from += kLanes)
    result = vector::InsertStridedSliceOp::create(
        ops, loc, each(slice(sum, from), slice(x, from), slice(y, from)), result, from, 1);
  return result;
}

Value Squares::affine(OpBuilder &ops, MlirBuilder &b, Value x, uint64_t scale, uint64_t shift) {
  return product(ops, /*high=*/false, constant(b, shift), x, constant(b, scale));
}

/// Of a number below 2^52 one below 2 p: the quotient by 2^52 / p rounded down is too small by less
/// than 2. Bits from 52 on are no part of either.
Value Squares::reduced(OpBuilder &ops, MlirBuilder &b, Value x, uint64_t p) {
  Value quotient = product(ops, /*high=*/true, constant(b, 0), x, constant(b, (kLow52 + 1) / p));
  return product(ops, /*high=*/false, x, quotient, constant(b, kLow52 + 1 - p));
}

/// `u` after the first step, with the integers' where the unknown value is beyond the limit.
Value Squares::guarded(MlirBuilder &b, OpBuilder &ops, Step &step, const Quadratic &q,
                       const Form &form, Value u, int64_t limit) {
  Interval range = intervals.of(q.unknown);
  if (range.low >= -limit && range.high <= limit)
    return u;
  Value beyond = b.ugt(b.iadd(q.unknown, b.i64(limit)), b.i64(2 * limit));
  auto integers = [&] {
    IRMapping map;
    for (Operation *op : step.tree)
      ops.clone(*op, map);
    Value x = ops.clone(*step.op, map)->getResult(0);
    Value form52 = affine(ops, b, x, form.scale.value, form.shift.value);
    return std::tuple{reduced(ops, b, form52, form.scale.p)};
  };
  std::tie(u) = b.ifAny(beyond, integers, u);
  return u;
}

void Squares::convert(ArrayRef<Step *> chain, int64_t limit) {
  const Quadratic &first = quadratics.at(chain.front()->op);
  uint64_t p = first.a.p;
  // With the scale a the scales of equal steps are equal.
  Form form = formBefore(first.a, first);
  Value u;
  for (auto [i, step] : llvm::enumerate(chain)) {
    OpBuilder ops(step->op);
    MlirBuilder b = builderFor(ops, *step);
    if (i == 0) {
      // A multiple of p makes it positive.
      uint64_t most = static_cast<uint64_t>(limit) * form.scale.value;
      u = affine(ops, b, first.unknown, form.scale.value, form.shift.value + (most / p + 1) * p);
      u = reduced(ops, b, u, p);
    }
    const Quadratic &q = quadratics.at(step->op);
    Modular scale = form.scale * form.scale * *q.a.inverse();
    Form next{scale, scale.with(0)};
    if (i + 1 < chain.size())
      next = formBefore(scale, quadratics.at(chain[i + 1]->op));
    Modular added = next.scale * q.c + next.shift - form.shift * form.shift;
    u = reduced(ops, b, product(ops, /*high=*/false, constant(b, added.value), u, u), p);
    if (i == 0)
      u = guarded(b, ops, *step, q, next, u, limit);
    step->lazy = u;
    forms.insert({step->op, next});
    form = next;
  }
}

Value Squares::canonical(OpBuilder &ops, Step &step) {
  MlirBuilder b = builderFor(ops, step);
  const Form &form = forms.at(step.op);
  uint64_t p = form.scale.p;
  Modular back = *form.scale.inverse();
  Value x = affine(ops, b, step.lazy, back.value, (-(form.shift * back)).value);
  x = b.band(reduced(ops, b, x, p), constant(b, kLow52));
  return b.select(b.ult(x, constant(b, p)), x, b.isub(x, constant(b, p)));
}

void Squares::run() {
  steps = residueSteps(func, intervals);
  DenseMap<Operation *, Step *> following;
  llvm::SmallPtrSet<Operation *, 16> follows;
  for (auto &[op, step] : steps)
    if (std::optional<Quadratic> q = quadratic(step)) {
      quadratics.insert({op, *q});
      auto before = steps.find(q->unknown.getDefiningOp());
      if (before != steps.end() && before->second.p == step.p &&
          quadratics.contains(before->first) && isExact(step, q->unknown, step.p) &&
          following.insert({before->first, &step}).second)
        follows.insert(op);
    }
  for (auto &[op, step] : steps) {
    if (!quadratics.contains(op) || follows.contains(op) || !following.contains(op))
      continue;
    SmallVector<Step *> chain = {&step};
    while (Step *next = following.lookup(chain.back()->op))
      chain.push_back(next);
    if (std::optional<int64_t> limit = limitOf(step, quadratics.at(op)))
      convert(chain, *limit);
  }
  replaceResidues(func, steps, intervals,
                  [&](OpBuilder &ops, Step &step) { return canonical(ops, step); });
}

} // namespace

void graphc::math::expandResidueSquares(func::FuncOp func, Intervals &intervals,
                                        MlirBuilder::Target target) {
  Squares(func, intervals, target).run();
}
