#include "compiler/passes/analysis/Polynomial.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>

using namespace mlir;
using namespace graphc::pass;

Polynomial::Polynomial(int64_t constant) { add({}, constant); }

Polynomial Polynomial::variable(Variable v) {
  Polynomial p;
  p.add({v}, 1);
  return p;
}

void Polynomial::add(const Monomial &monomial, int64_t factor) {
  auto [it, inserted] = terms.try_emplace(monomial, 0);
  it->second += factor;
  if (it->second == 0)
    terms.erase(it);
}

std::optional<Polynomial> Polynomial::of(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Polynomial(constant.getValue());
  if (auto d = dyn_cast<AffineDimExpr>(expr))
    return variable(dim(d.getPosition()));
  if (auto s = dyn_cast<AffineSymbolExpr>(expr))
    return variable(symbol(s.getPosition()));
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<Polynomial> a = of(binary.getLHS()), b = of(binary.getRHS());
  if (!a || !b)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return *a + *b;
  if (expr.getKind() == AffineExprKind::Mul)
    return *a * *b;
  return std::nullopt;
}

Polynomial Polynomial::operator+(const Polynomial &other) const {
  Polynomial result = *this;
  for (const auto &[monomial, factor] : other.terms)
    result.add(monomial, factor);
  return result;
}

Polynomial Polynomial::operator*(const Polynomial &other) const {
  Polynomial result;
  for (const auto &[a, fa] : terms)
    for (const auto &[b, fb] : other.terms) {
      Monomial product = a;
      product.insert(product.end(), b.begin(), b.end());
      std::sort(product.begin(), product.end());
      result.add(product, fa * fb);
    }
  return result;
}

bool Polynomial::isPositive() const {
  return !terms.empty() && llvm::all_of(terms, [](const auto &term) { return term.second > 0; });
}

std::optional<int64_t> Polynomial::constant() const {
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms.begin()->first.empty())
    return terms.begin()->second;
  return std::nullopt;
}

bool Polynomial::isConstant(int64_t c) const { return constant() == c; }

Polynomial Polynomial::coefficient(unsigned d) const {
  Polynomial result;
  for (const auto &[monomial, factor] : terms)
    if (auto it = std::find(monomial.begin(), monomial.end(), dim(d)); it != monomial.end()) {
      Monomial rest = monomial;
      rest.erase(rest.begin() + (it - monomial.begin()));
      result.add(rest, factor);
    }
  return result;
}

Polynomial Polynomial::without(unsigned d) const {
  Polynomial result;
  for (const auto &[monomial, factor] : terms)
    if (std::find(monomial.begin(), monomial.end(), dim(d)) == monomial.end())
      result.add(monomial, factor);
  return result;
}

bool Polynomial::hasDimProduct() const {
  return std::any_of(terms.begin(), terms.end(), [](const auto &term) {
    return std::count_if(term.first.begin(), term.first.end(),
                         [](Variable v) { return v % 2 == 0; }) > 1;
  });
}

Value Polynomial::emit(OpBuilder &builder, Location loc, ValueRange symbols) const {
  Value sum;
  for (const auto &[monomial, factor] : terms) {
    Value product;
    for (Variable v : monomial) {
      assert(v % 2 == 1 && "dimensions are added by the caller");
      Value s = symbols[v / 2];
      product = product ? arith::MulIOp::create(builder, loc, product, s).getResult() : s;
    }
    if (!product || factor != 1) {
      Value c = arith::ConstantIndexOp::create(builder, loc, factor);
      product = product ? arith::MulIOp::create(builder, loc, product, c).getResult() : c;
    }
    sum = sum ? arith::AddIOp::create(builder, loc, sum, product).getResult() : product;
  }
  return sum ? sum : arith::ConstantIndexOp::create(builder, loc, 0).getResult();
}

AffineExpr Polynomial::toExpr(MLIRContext *context) const {
  AffineExpr sum = getAffineConstantExpr(0, context);
  for (const auto &[monomial, factor] : terms) {
    AffineExpr product = getAffineConstantExpr(factor, context);
    for (Variable v : monomial)
      product = product *
                (v % 2 ? getAffineSymbolExpr(v / 2, context) : getAffineDimExpr(v / 2, context));
    sum = sum + product;
  }
  return sum;
}
