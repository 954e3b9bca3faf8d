// A product of a matrix and its own transpose: tiles above the diagonal store their mirror images, element by element, from the sums they leave.
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

#rows = affine_map<(d0, d1, d2)[s0, s1] -> (d2, d0)>
#columns = affine_map<(d0, d1, d2)[s0, s1] -> (d2, d1)>
#z = affine_map<(d0, d1, d2)[s0, s1] -> (d0, d1)>

// CHECK-LABEL: func.func @gram(
// CHECK-SAME: %[[X:.*]]: memref<?xf64>, %[[R:.*]]: memref<?xf64>, %[[M:[^:]*]]: index, %[[K:[^:]*]]: index,
// CHECK: %[[DEEP:.*]] = arith.cmpi {{.*}} %[[K]]
// Straight from the registers, and what is above leaves its sums for the image.
// CHECK: scf.if
// CHECK-COUNT-24: vector.store %{{.*}}, %[[SUMS:[a-z0-9_]+]][
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[SUM:.*]] = memref.load %[[SUMS]]
// CHECK: memref.store %[[SUM]], %[[R]]
// CHECK-COUNT-24: vector.store %{{.*}}, %[[R]]
// What has waited for more of k.
// CHECK: vector.maskedstore %[[R]]
// CHECK: memref.store %{{.*}}, %[[R]]
// CHECK: return
kernel.func @gram(%x: tensor<?x?xf64>, %m: index, %k: index) -> tensor<?x?xf64>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s0, s1), parallel = 2>, inits = array<i64: -1>,
                schedule = #kernel.schedule<contract, vector = 8, cost = 700>,
                shapes = [affine_map<()[s0, s1] -> (s1, s0)>, affine_map<()[s0, s1] -> (s0, s0)>]} {
  %0 = kernel.load %x at #rows : tensor<?x?xf64> -> f64
  %1 = kernel.load %x at #columns : tensor<?x?xf64> -> f64
  %2 = kernel.dot %0, %1 : f64
  kernel.store %2, result 0 at #z : f64
  kernel.return
}
