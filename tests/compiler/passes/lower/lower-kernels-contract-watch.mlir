// A watched product: the 24 vectors of a whole tile are looked at together, by one test in front of their stores.
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

#x = affine_map<(d0, d1, d2)[s0, s1, s2] -> (d0, d2)>
#y = affine_map<(d0, d1, d2)[s0, s1, s2] -> (d2, d1)>
#z = affine_map<(d0, d1, d2)[s0, s1, s2] -> (d0, d1)>

// CHECK-LABEL: func.func @product(
// CHECK-COUNT-24: graph.fma {{.*}} : vector<16xf32>
// Four sums of six products by zero, then one of the four.
// CHECK-COUNT-4: arith.mulf {{.*}} : vector<16xf32>
// CHECK: arith.cmpf ord
// CHECK: vector.reduction <or>
// CHECK: scf.if
// CHECK-NEXT: memref.store
// Rows that there are.
// CHECK-NOT: vector.reduction
// CHECK: scf.if
// CHECK-COUNT-4: vector.store
// CHECK-NEXT: }
// CHECK: scf.if
// CHECK-COUNT-4: vector.store
kernel.func @product(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %m: index, %n: index, %k: index) -> tensor<?x?xf32>
    attributes {domain = #kernel.domain<()[s0, s1, s2] -> (s0, s1, s2), parallel = 2>, graphc.watch, inits = array<i64: -1>,
                schedule = #kernel.schedule<contract, vector = 16, cost = 700>,
                shapes = [affine_map<()[s0, s1, s2] -> (s0, s2)>, affine_map<()[s0, s1, s2] -> (s2, s1)>, affine_map<()[s0, s1, s2] -> (s0, s1)>]} {
  %a = kernel.load %x at #x : tensor<?x?xf32> -> f32
  %b = kernel.load %y at #y : tensor<?x?xf32> -> f32
  %s = kernel.dot %a, %b {graphc.watch} : f32
  kernel.store %s, result 0 at #z : f32
  kernel.return
}
