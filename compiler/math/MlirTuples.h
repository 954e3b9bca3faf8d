//===- MlirTuples.h - Values of loops and branches as arguments and tuples --------------------===//
#ifndef GRAPHC_COMPILER_MATH_MLIRTUPLES_H
#define GRAPHC_COMPILER_MATH_MLIRTUPLES_H

#include "mlir/IR/ValueRange.h"

#include <array>
#include <tuple>
#include <utility>

namespace graphc::math {

template <size_t N, class Fn>
auto apply(Fn &fn, mlir::ValueRange args) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return fn(mlir::Value(args[I])...);
  }(std::make_index_sequence<N>());
}
template <class... T>
std::array<mlir::Value, sizeof...(T)> toArray(std::tuple<T...> tuple) {
  return std::apply([](auto... v) { return std::array<mlir::Value, sizeof...(T)>{v...}; }, tuple);
}
template <size_t N>
auto toTuple(mlir::ValueRange values) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return std::make_tuple(mlir::Value(values[I])...);
  }(std::make_index_sequence<N>());
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_MLIRTUPLES_H
