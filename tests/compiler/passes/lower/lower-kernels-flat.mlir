// Maps of short rows go over all points as one run: what does not lie so is laid out for some rows.
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

// The row is laid out once for as many rows as come together, which end with whole ones.
// CHECK-LABEL: func.func @row(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32>, %[[R:.*]]: memref<?xf32>
// CHECK: %[[ROW:.*]] = memref.alloca() {alignment = 64 : i64} : memref<528xf32>
// CHECK: scf.for
// CHECK: scf.for %[[J:.*]] =
// CHECK: memref.load %[[Y]][%[[J]]]
// CHECK: memref.store %{{.*}}, %[[ROW]]
// CHECK: scf.for
// CHECK-NOT: memref.load %[[Y]]
// CHECK: %[[SOME:.*]] = vector.load %[[ROW]]
// CHECK: %[[POINT:.*]] = vector.load %[[X]]
// CHECK: graph.mul %[[POINT]], %[[SOME]] : vector<16xf32>
// CHECK: vector.store %{{.*}}, %[[R]]
kernel.func @row(%x: tensor<?x3xf32>, %y: tensor<3xf32>, %n: index) -> tensor<?x3xf32>
    attributes {domain = #kernel.domain<()[s0] -> (s0, 3), parallel = 2>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 16, cost = 700>,
                shapes = [affine_map<()[s0] -> (s0, 3)>, affine_map<()[s0] -> (3)>, affine_map<()[s0] -> (s0, 3)>]} {
  %a = kernel.load %x at affine_map<(d0, d1)[s0] -> (d0, d1)> : tensor<?x3xf32> -> f32
  %b = kernel.load %y at affine_map<(d0, d1)[s0] -> (d1)> : tensor<3xf32> -> f32
  %c = graph.mul %a, %b : f32
  kernel.store %c, result 0 at affine_map<(d0, d1)[s0] -> (d0, d1)> : f32
  kernel.return
}
