// Watched values of one block are told of by one branch: sums of what is lost, sixteen values to a branch.
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

#id = affine_map<(d0)[s0] -> (d0)>

// CHECK-LABEL: func.func @three(
// CHECK: scf.for
// CHECK: %[[A:.*]] = graph.mul {{.*}} : vector<8xf64>
// CHECK: %[[LOST_A:.*]] = arith.mulf %[[A]], %{{.*}} : vector<8xf64>
// CHECK-NOT: scf.if
// CHECK: %[[B:.*]] = graph.add {{.*}} : vector<8xf64>
// CHECK: %[[LOST_B:.*]] = arith.mulf %[[B]], %{{.*}} : vector<8xf64>
// CHECK: %[[BOTH:.*]] = arith.addf %[[LOST_A]], %[[LOST_B]] : vector<8xf64>
// CHECK-NOT: scf.if
// CHECK: %[[C:.*]] = graph.mul {{.*}} : vector<8xf64>
// CHECK: %[[LOST_C:.*]] = arith.mulf %[[C]], %{{.*}} : vector<8xf64>
// CHECK: %[[ALL:.*]] = arith.addf %[[BOTH]], %[[LOST_C]] : vector<8xf64>
// CHECK: arith.cmpf ord, %[[ALL]], %[[ALL]]
// CHECK: vector.reduction <or>
// CHECK: scf.if
// CHECK: memref.store
kernel.func @three(%x: tensor<?xf64>, %y: tensor<?xf64>, %n: index) -> tensor<?xf64>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 1>, graphc.watch, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 8, cost = 10>,
                shapes = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>]} {
  %a = kernel.load %x at #id : tensor<?xf64> -> f64
  %b = kernel.load %y at #id : tensor<?xf64> -> f64
  %p = graph.mul %a, %b {graphc.watch} : f64
  %q = graph.add %p, %a {graphc.watch} : f64
  %r = graph.mul %q, %b {graphc.watch} : f64
  kernel.store %r, result 0 at #id : f64
  kernel.return
}
