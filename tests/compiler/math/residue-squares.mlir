// Chains of quadratics by one odd constant are kept in a form whose step is a square and a constant.
// RUN: graphc-opt %s --pass-pipeline='builtin.module(func.func(graphc-expand-scalar-ops{products52},cse))' | FileCheck %s

// Two products for the form, three for each step, three for the result; integers only beyond the bound.
// CHECK-LABEL: @logistic(
// CHECK-NOT: f64
// CHECK-COUNT-6: llvm.call_intrinsic "llvm.x86.avx512.vpmadd52
// CHECK: arith.cmpi ugt
// CHECK: scf.if
// CHECK: arith.muli
// CHECK: } else {
// CHECK: }
// CHECK-NOT: arith.muli
// CHECK-NOT: scf.if
// CHECK-COUNT-6: llvm.call_intrinsic "llvm.x86.avx512.vpmadd52
// CHECK: arith.cmpi ult
// CHECK-NOT: llvm.call_intrinsic
// CHECK: return
func.func @logistic(%x: vector<8xi64>) -> vector<8xi64> {
  %p = arith.constant dense<6700417> : vector<8xi64>
  %mu = arith.constant dense<22> : vector<8xi64>
  %one = arith.constant dense<1> : vector<8xi64>
  %0 = graph.mul %x, %mu : vector<8xi64>
  %1 = graph.add %x, %one : vector<8xi64>
  %2 = graph.mul %0, %1 : vector<8xi64>
  %3 = graph.remainder %2, %p : vector<8xi64>
  %4 = graph.mul %3, %mu : vector<8xi64>
  %5 = graph.add %3, %one : vector<8xi64>
  %6 = graph.mul %4, %5 : vector<8xi64>
  %7 = graph.remainder %6, %p : vector<8xi64>
  return %7 : vector<8xi64>
}

// An even modulus has no half, and a large one no room: f64.
// CHECK-LABEL: @even(
// CHECK-NOT: vpmadd52
// CHECK: math.fma
// CHECK: return
func.func @even(%x: vector<8xi64>) -> vector<8xi64> {
  %p = arith.constant dense<6700418> : vector<8xi64>
  %0 = graph.mul %x, %x : vector<8xi64>
  %1 = graph.remainder %0, %p : vector<8xi64>
  %2 = graph.mul %1, %1 : vector<8xi64>
  %3 = graph.remainder %2, %p : vector<8xi64>
  return %3 : vector<8xi64>
}

// CHECK-LABEL: @large(
// CHECK-NOT: vpmadd52
// CHECK: return
func.func @large(%x: vector<8xi64>) -> vector<8xi64> {
  %p = arith.constant dense<33554467> : vector<8xi64>
  %0 = graph.mul %x, %x : vector<8xi64>
  %1 = graph.remainder %0, %p : vector<8xi64>
  %2 = graph.mul %1, %1 : vector<8xi64>
  %3 = graph.remainder %2, %p : vector<8xi64>
  return %3 : vector<8xi64>
}

// A step of its own gains nothing, and neither does one of two unknown values.
// CHECK-LABEL: @one(
// CHECK-NOT: vpmadd52
// CHECK: return
func.func @one(%x: vector<8xi64>, %y: vector<8xi64>) -> vector<8xi64> {
  %p = arith.constant dense<6700417> : vector<8xi64>
  %0 = graph.mul %x, %x : vector<8xi64>
  %1 = graph.remainder %0, %p : vector<8xi64>
  %2 = graph.mul %1, %y : vector<8xi64>
  %3 = graph.remainder %2, %p : vector<8xi64>
  return %3 : vector<8xi64>
}
