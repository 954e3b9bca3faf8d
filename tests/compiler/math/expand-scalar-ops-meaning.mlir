// What single ops mean in bits: signs, wrapping, saturation, the order of NaN and zeros. Values are tested in the unit tests.
// RUN: graphc-opt %s --pass-pipeline='builtin.module(func.func(graphc-expand-scalar-ops,cse))' | FileCheck %s

// Floats are never contracted: a product and a sum stay two roundings.
// CHECK-LABEL: @float_arithmetic(
// CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f32)
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[X]], %[[Y]] : f32
// CHECK-NEXT: %[[A:.*]] = arith.addf %[[M]], %[[X]] : f32
// CHECK-NEXT: %[[D:.*]] = arith.divf %[[A]], %[[Y]] : f32
// CHECK-NEXT: return %[[D]]
func.func @float_arithmetic(%x: f32, %y: f32) -> f32 {
  %0 = graph.mul %x, %y : f32
  %1 = graph.add %0, %x : f32
  %2 = graph.div %1, %y : f32
  return %2 : f32
}

// A product with a power of two is exact where nothing is near infinity: the sum's rounding is the only one.
// CHECK-LABEL: @exact_product(
// CHECK: arith.xori
// CHECK-NEXT: %[[SIN:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK-NOT: arith.mulf
// CHECK-NEXT: math.fma %[[SIN]], %{{.*}}, %arg1 : f32
// CHECK-NEXT: return
func.func @exact_product(%x: f32, %y: f32) -> f32 {
  %two = arith.constant 2.0 : f32
  %0 = graph.sin %x : f32
  %1 = graph.mul %two, %0 : f32
  %2 = graph.add %1, %y : f32
  return %2 : f32
}

// CHECK-LABEL: @inexact_product(
// CHECK: arith.xori
// CHECK-NEXT: arith.bitcast
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: return
func.func @inexact_product(%x: f32, %y: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %0 = graph.sin %x : f32
  %1 = graph.mul %half, %0 : f32
  %2 = graph.add %1, %y : f32
  return %2 : f32
}

// CHECK-LABEL: @fused(
// CHECK-NEXT: math.fma %{{.*}}, %{{.*}}, %{{.*}} : vector<8xf64>
func.func @fused(%x: vector<8xf64>) -> vector<8xf64> {
  %0 = graph.fma %x, %x, %x : vector<8xf64>
  return %0 : vector<8xf64>
}

// CHECK-LABEL: @integer_fma(
// CHECK: %[[M:.*]] = arith.muli
// CHECK: arith.addi %[[M]],
func.func @integer_fma(%x: i16) -> i16 {
  %0 = graph.fma %x, %x, %x : i16
  return %0 : i16
}

// Sum and product of bools are or and and.
// CHECK-LABEL: @bools(
// CHECK: %[[O:.*]] = arith.ori %{{.*}} : i1
// CHECK: arith.andi %[[O]], %{{.*}} : i1
func.func @bools(%x: i1, %y: i1) -> i1 {
  %0 = graph.add %x, %y : i1
  %1 = graph.mul %0, %x : i1
  return %1 : i1
}

// CHECK-LABEL: @signs(
// CHECK-DAG: arith.cmpi slt, %{{.*}} : i32
// CHECK-DAG: arith.cmpi ult, %{{.*}} : i32
// CHECK-NOT: ui32
func.func @signs(%x: i32, %y: i32) -> (i1, i1) {
  %0 = graph.less %x, %y : i32
  %u = graph.cast %x : i32 -> ui32
  %v = graph.cast %y : i32 -> ui32
  %1 = graph.less %u, %v : ui32
  return %0, %1 : i1, i1
}

// NaN is not equal, everything else about it is false.
// CHECK-LABEL: @float_comparisons(
// CHECK-DAG: arith.cmpf oeq
// CHECK-DAG: arith.cmpf une
// CHECK-DAG: arith.cmpf olt
// CHECK-DAG: arith.cmpf oge
func.func @float_comparisons(%x: f32, %y: f32) -> (i1, i1, i1, i1) {
  %0 = graph.equal %x, %y : f32
  %1 = graph.not_equal %x, %y : f32
  %2 = graph.less %x, %y : f32
  %3 = graph.greater_equal %x, %y : f32
  return %0, %1, %2, %3 : i1, i1, i1, i1
}

// Predicates of integers are known.
// CHECK-LABEL: @known_predicates(
// CHECK-DAG: %[[F:.*]] = arith.constant false
// CHECK-DAG: %[[T:.*]] = arith.constant true
// CHECK: return %[[F]], %[[F]], %[[T]]
func.func @known_predicates(%x: i32) -> (i1, i1, i1) {
  %0 = graph.isnan %x : i32
  %1 = graph.isinf %x : i32
  %2 = graph.isfinite %x : i32
  return %0, %1, %2 : i1, i1, i1
}

// CHECK-LABEL: @known_predicates_of_lanes(
// CHECK: arith.constant dense<true> : vector<8xi1>
func.func @known_predicates_of_lanes(%x: vector<8xi32>) -> vector<8xi1> {
  %0 = graph.isfinite %x : vector<8xi32>
  return %0 : vector<8xi1>
}

// Rounding leaves integers alone.
// CHECK-LABEL: @rounded_integer(
// CHECK-SAME: %[[X:.*]]: i64)
// CHECK-NEXT: return %[[X]]
func.func @rounded_integer(%x: i64) -> i64 {
  %0 = graph.floor %x : i64
  %1 = graph.trunc %0 : i64
  return %1 : i64
}

// CHECK-LABEL: @widen(
// CHECK-DAG: arith.extsi %{{.*}} : i8 to i32
// CHECK-DAG: arith.extui %{{.*}} : i8 to i32
// CHECK-DAG: arith.trunci %{{.*}} : i32 to i8
func.func @widen(%x: i8, %y: i32) -> (i32, i32, i8) {
  %0 = graph.cast %x : i8 -> i32
  %u = graph.cast %x : i8 -> ui8
  %1 = graph.cast %u : ui8 -> i32
  %2 = graph.cast %y : i32 -> i8
  return %0, %1, %2 : i32, i32, i8
}

// A division by a constant divides nothing.
// CHECK-LABEL: @constant_divisor(
// CHECK-NOT: arith.div
// CHECK-NOT: arith.rem
// CHECK: return
func.func @constant_divisor(%x: i64) -> i64 {
  %c = arith.constant 6700417 : i64
  %0 = graph.remainder %x, %c : i64
  return %0 : i64
}

// CHECK-LABEL: @any_divisor(
// CHECK: arith.{{div|rem}}
// CHECK: return
func.func @any_divisor(%x: i64, %y: i64) -> i64 {
  %0 = graph.remainder %x, %y : i64
  return %0 : i64
}

// Elementary functions are arithmetic: no call, no library.
// CHECK-LABEL: @elementary(
// CHECK-NOT: math.exp
// CHECK-NOT: math.log
// CHECK-NOT: math.sin
// CHECK-NOT: math.tanh
// CHECK-NOT: math.powf
// CHECK-NOT: call
// CHECK: return
func.func @elementary(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = graph.exp %x : vector<16xf32>
  %1 = graph.log %0 : vector<16xf32>
  %2 = graph.sin %1 : vector<16xf32>
  %3 = graph.tanh %2 : vector<16xf32>
  %4 = graph.pow %3, %x : vector<16xf32>
  return %4 : vector<16xf32>
}

// CHECK-LABEL: @bits(
// CHECK-SAME: %[[X:.*]]: f32
// CHECK: %[[I:.*]] = arith.bitcast %[[X]] : f32 to i32
// CHECK: %[[S:.*]] = arith.addi %[[I]], %[[I]] : i32
// CHECK: %[[F:.*]] = arith.bitcast %[[S]] : i32 to f32
// CHECK: return %[[F]] : f32
func.func @bits(%x: f32) -> f32 {
  %0 = graph.bitcast %x : f32 -> i32
  %1 = graph.add %0, %0 : i32
  %2 = graph.bitcast %1 : i32 -> f32
  return %2 : f32
}
