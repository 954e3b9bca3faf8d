// Chains of remainders by one constant are kept in f64 between the steps.
// RUN: graphc-opt %s --pass-pipeline='builtin.module(func.func(graphc-expand-scalar-ops,cse))' | FileCheck %s
// RUN: graphc-opt %s --pass-pipeline='builtin.module(func.func(graphc-expand-scalar-ops{has-float64=false},cse))' | FileCheck %s --check-prefix=INTEGERS

// INTEGERS-NOT: f64

// The first step compares its operand with the bound and has integers for lanes beyond it; no later one has.
// CHECK-LABEL: @logistic(
// CHECK: arith.cmpi ugt
// CHECK: vector.reduction <or>
// CHECK: scf.if
// CHECK: arith.muli
// CHECK: } else {
// CHECK: }
// CHECK-NOT: arith.muli
// CHECK-NOT: scf.if
// CHECK-COUNT-2: math.fma
// CHECK-NOT: arith.cmpf
// CHECK-COUNT-4: math.fma
// CHECK: arith.cmpf olt
// CHECK: arith.fptosi
// CHECK-NOT: arith.fptosi
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
  %8 = graph.mul %7, %mu : vector<8xi64>
  %9 = graph.add %7, %one : vector<8xi64>
  %10 = graph.mul %8, %9 : vector<8xi64>
  %11 = graph.remainder %10, %p : vector<8xi64>
  return %11 : vector<8xi64>
}

// A product that is no exact f64 stays in integers.
// CHECK-LABEL: @large_modulus(
// CHECK: arith.muli
// CHECK-NOT: scf.if
// CHECK: arith.muli
// CHECK: return
func.func @large_modulus(%x: vector<8xi64>) -> vector<8xi64> {
  %p = arith.constant dense<1099511627791> : vector<8xi64>
  %0 = graph.remainder %x, %p : vector<8xi64>
  %1 = graph.mul %0, %0 : vector<8xi64>
  %2 = graph.remainder %1, %p : vector<8xi64>
  return %2 : vector<8xi64>
}

// A residue modulo one number says nothing about another: it is made canonical between.
// CHECK-LABEL: @two_moduli(
// CHECK: arith.cmpf olt
// CHECK: arith.cmpf olt
// CHECK: return
func.func @two_moduli(%x: vector<8xi32>) -> vector<8xi64> {
  %p = arith.constant dense<61> : vector<8xi64>
  %q = arith.constant dense<59> : vector<8xi64>
  %w = graph.cast %x : vector<8xi32> -> vector<8xi64>
  %0 = graph.remainder %w, %p : vector<8xi64>
  %1 = graph.remainder %0, %q : vector<8xi64>
  %2 = graph.remainder %1, %q : vector<8xi64>
  return %2 : vector<8xi64>
}

// One remainder alone has the form for any dividend.
// CHECK-LABEL: @alone(
// CHECK-NOT: scf.if
// CHECK: return
func.func @alone(%x: vector<8xi64>) -> vector<8xi64> {
  %p = arith.constant dense<61> : vector<8xi64>
  %0 = graph.remainder %x, %p : vector<8xi64>
  return %0 : vector<8xi64>
}
