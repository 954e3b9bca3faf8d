// Elementary functions of a large program: one function each.
// RUN: graphc-opt %s --graphc-outline-elementary --split-input-file | FileCheck %s

// Twenty-five functions: exp is used often, log twice, and quotients and scalars are not meant.
// CHECK-LABEL: func.func @many
// CHECK-COUNT-23: call @elementary_0(%{{.*}}) : (vector<8xf64>) -> vector<8xf64>
// CHECK-NOT: call
// CHECK-COUNT-2: graph.log
// CHECK: graph.div
// CHECK: graph.exp %{{.*}} : f64
// CHECK: func.func private @elementary_0(%[[X:.*]]: vector<8xf64>) -> vector<8xf64>
// CHECK-NEXT: %[[Y:.*]] = graph.exp %[[X]] : vector<8xf64>
// CHECK-NEXT: return %[[Y]]
// CHECK-NOT: elementary_1
func.func @many(%x: vector<8xf64>, %s: f64) -> (vector<8xf64>, f64) {
  %e0 = graph.exp %x : vector<8xf64>
  %e1 = graph.exp %e0 : vector<8xf64>
  %e2 = graph.exp %e1 : vector<8xf64>
  %e3 = graph.exp %e2 : vector<8xf64>
  %e4 = graph.exp %e3 : vector<8xf64>
  %e5 = graph.exp %e4 : vector<8xf64>
  %e6 = graph.exp %e5 : vector<8xf64>
  %e7 = graph.exp %e6 : vector<8xf64>
  %e8 = graph.exp %e7 : vector<8xf64>
  %e9 = graph.exp %e8 : vector<8xf64>
  %e10 = graph.exp %e9 : vector<8xf64>
  %e11 = graph.exp %e10 : vector<8xf64>
  %e12 = graph.exp %e11 : vector<8xf64>
  %e13 = graph.exp %e12 : vector<8xf64>
  %e14 = graph.exp %e13 : vector<8xf64>
  %e15 = graph.exp %e14 : vector<8xf64>
  %e16 = graph.exp %e15 : vector<8xf64>
  %e17 = graph.exp %e16 : vector<8xf64>
  %e18 = graph.exp %e17 : vector<8xf64>
  %e19 = graph.exp %e18 : vector<8xf64>
  %e20 = graph.exp %e19 : vector<8xf64>
  %e21 = graph.exp %e20 : vector<8xf64>
  %e22 = graph.exp %e21 : vector<8xf64>
  %l0 = graph.log %e22 : vector<8xf64>
  %l1 = graph.log %l0 : vector<8xf64>
  %q = graph.div %l1, %x : vector<8xf64>
  %t = graph.exp %s : f64
  return %q, %t : vector<8xf64>, f64
}

// -----

// Few are written out.
// CHECK-LABEL: func.func @few
// CHECK-COUNT-4: graph.exp
// CHECK-NOT: call
func.func @few(%x: vector<8xf64>) -> vector<8xf64> {
  %e0 = graph.exp %x : vector<8xf64>
  %e1 = graph.exp %e0 : vector<8xf64>
  %e2 = graph.exp %e1 : vector<8xf64>
  %e3 = graph.exp %e2 : vector<8xf64>
  return %e3 : vector<8xf64>
}

// -----

// An operand may be there twice in the first use. Floats of 16 bits are written out.
// CHECK-LABEL: func.func @pairs
// CHECK: call @elementary_0(%[[V:.*]], %[[V]])
// CHECK-COUNT-24: call @elementary_0
// CHECK-COUNT-3: graph.exp %{{.*}} : vector<16xf16>
// CHECK: func.func private @elementary_0(%[[A:.*]]: vector<8xf64>, %[[B:.*]]: vector<8xf64>)
// CHECK-NEXT: graph.atan2 %[[A]], %[[B]]
func.func @pairs(%x: vector<8xf64>, %y: vector<8xf64>, %h: vector<16xf16>) -> (vector<8xf64>, vector<16xf16>) {
  %e0 = graph.atan2 %x, %x : vector<8xf64>
  %e1 = graph.atan2 %e0, %y : vector<8xf64>
  %e2 = graph.atan2 %e1, %y : vector<8xf64>
  %e3 = graph.atan2 %e2, %y : vector<8xf64>
  %e4 = graph.atan2 %e3, %y : vector<8xf64>
  %e5 = graph.atan2 %e4, %y : vector<8xf64>
  %e6 = graph.atan2 %e5, %y : vector<8xf64>
  %e7 = graph.atan2 %e6, %y : vector<8xf64>
  %e8 = graph.atan2 %e7, %y : vector<8xf64>
  %e9 = graph.atan2 %e8, %y : vector<8xf64>
  %e10 = graph.atan2 %e9, %y : vector<8xf64>
  %e11 = graph.atan2 %e10, %y : vector<8xf64>
  %e12 = graph.atan2 %e11, %y : vector<8xf64>
  %e13 = graph.atan2 %e12, %y : vector<8xf64>
  %e14 = graph.atan2 %e13, %y : vector<8xf64>
  %e15 = graph.atan2 %e14, %y : vector<8xf64>
  %e16 = graph.atan2 %e15, %y : vector<8xf64>
  %e17 = graph.atan2 %e16, %y : vector<8xf64>
  %e18 = graph.atan2 %e17, %y : vector<8xf64>
  %e19 = graph.atan2 %e18, %y : vector<8xf64>
  %e20 = graph.atan2 %e19, %y : vector<8xf64>
  %e21 = graph.atan2 %e20, %y : vector<8xf64>
  %e22 = graph.atan2 %e21, %y : vector<8xf64>
  %e23 = graph.atan2 %e22, %y : vector<8xf64>
  %e24 = graph.atan2 %e23, %y : vector<8xf64>
  %h0 = graph.exp %h : vector<16xf16>
  %h1 = graph.exp %h0 : vector<16xf16>
  %h2 = graph.exp %h1 : vector<16xf16>
  return %e24, %h2 : vector<8xf64>, vector<16xf16>
}
