//===- Polynomial.h - Integer polynomials over iteration dimensions and sizes -----------------===//
#ifndef GRAPHC_COMPILER_PASSES_ANALYSIS_POLYNOMIAL_H
#define GRAPHC_COMPILER_PASSES_ANALYSIS_POLYNOMIAL_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"

#include <map>
#include <optional>
#include <vector>

namespace graphc::pass {

/// A sum of monomials with integer coefficients. Unlike affine expressions it has one canonical
/// form also with products of sizes, so equality of strides is decidable.
class Polynomial {
public:
  using Variable = unsigned; ///< dimensions and symbols share one numbering: dimension d is 2d,
                             ///< symbol s is 2s + 1
  using Monomial = std::vector<Variable>;
  static Variable dim(unsigned d) { return 2 * d; }
  static Variable symbol(unsigned s) { return 2 * s + 1; }

  Polynomial() = default;
  explicit Polynomial(int64_t constant);
  static Polynomial variable(Variable v);
  /// Expressions with division have no polynomial.
  static std::optional<Polynomial> of(mlir::AffineExpr expr);

  Polynomial operator+(const Polynomial &other) const;
  Polynomial operator*(const Polynomial &other) const;
  bool operator==(const Polynomial &other) const { return terms == other.terms; }
  bool isConstant(int64_t c) const;
  std::optional<int64_t> constant() const;
  bool isZero() const { return terms.empty(); }
  /// Whether it has terms, none of which is negative where all variables are at least 1.
  bool isPositive() const;

  /// Factor of dimension d (each term holds it at most once) and what is left without it.
  Polynomial coefficient(unsigned d) const;
  Polynomial without(unsigned d) const;
  /// True when a term holds two dimensions.
  bool hasDimProduct() const;

  /// Index arithmetic that computes it; `symbols` by symbol number; there must be no dimensions.
  mlir::Value emit(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange symbols) const;

  mlir::AffineExpr toExpr(mlir::MLIRContext *context) const;

private:
  void add(const Monomial &monomial, int64_t factor);
  std::map<Monomial, int64_t> terms;
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_ANALYSIS_POLYNOMIAL_H
