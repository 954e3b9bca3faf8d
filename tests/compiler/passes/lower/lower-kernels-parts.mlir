// Both parts of a complex element at a place are read and written at once.
// RUN: graphc-opt %s --split-input-file --graphc-lower-kernels --cse | FileCheck %s

#all = affine_map<()[s0, s1] -> (s0)>
#size = affine_map<()[s0, s1] -> (s1)>
#line = affine_map<(d0)[s0, s1] -> (d0)>
#place = affine_map<(d0, d1)[s0, s1] -> (d1)>
#bound = affine_map<(d0)[s0, s1] -> (s1)>

// CHECK-LABEL: func.func @taken(
// CHECK: %[[BOTH:.*]] = scf.if {{.*}} -> (vector<8xf64>) {
// CHECK-COUNT-4: vector.load {{.*}} memref<?xf64>, vector<2xf64>
// CHECK: } else {
// CHECK-COUNT-4: vector.load {{.*}} memref<?xf64>, vector<2xf64>
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK-NOT: scf.if {{.*}} -> (vector
// CHECK: vector.shuffle %[[BOTH]], %[[BOTH]] [1, 3, 5, 7]
// CHECK: vector.shuffle %[[BOTH]], %[[BOTH]] [0, 2, 4, 6]
// CHECK: vector.store {{.*}} vector<8xf64>
kernel.func @taken(%p: tensor<?xi64>, %x: tensor<?xcomplex<f64>>, %n: index, %m: index) -> tensor<?xcomplex<f64>>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 4, cost = 700>, shapes = [#all, #size, #all]} {
  %0 = kernel.load %p at #line : tensor<?xi64> -> i64
  %1 = kernel.bound %0 below #bound site 0
  %2 = kernel.gather %x[%1] at #place part 0 : tensor<?xcomplex<f64>> -> f64
  %3 = kernel.gather %x[%1] at #place part 1 : tensor<?xcomplex<f64>> -> f64
  kernel.store %2 imaginary %3 : f64, result 0 at #line : f64
  kernel.return
}

// -----

#all = affine_map<()[s0, s1] -> (s0)>
#size = affine_map<()[s0, s1] -> (s1)>
#line = affine_map<(d0)[s0, s1] -> (d0)>
#place = affine_map<(d0, d1)[s0, s1] -> (d1)>
#bound = affine_map<(d0)[s0, s1] -> (s1)>

// What lies in memory is read from there, lane by lane. The rest of a line is written a part at a time.
// CHECK-LABEL: func.func @put(
// CHECK: scf.if
// CHECK: } else {
// CHECK: %[[LANE:.*]] = vector.load {{.*}} memref<?xf64>, vector<2xf64>
// CHECK: vector.store %[[LANE]], {{.*}} memref<?xf64>, vector<2xf64>
// CHECK-COUNT-3: vector.store {{.*}} memref<?xf64>, vector<2xf64>
// CHECK-NOT: vector.store
// CHECK: memref.store {{.*}} memref<?xf64>
// CHECK: memref.store {{.*}} memref<?xf64>
// CHECK-LABEL: func.func @added(
// CHECK: %[[OLD:.*]] = vector.load {{.*}} memref<?xf64>, vector<2xf64>
// CHECK: %[[SUM:.*]] = graph.add %[[OLD]], %{{.*}} : vector<2xf64>
// CHECK: vector.store %[[SUM]], {{.*}} memref<?xf64>, vector<2xf64>
kernel.func @put(%v: tensor<?xcomplex<f64>>, %p: tensor<?xi64>, %a: tensor<?xcomplex<f64>>, %n: index, %m: index) -> tensor<?xcomplex<f64>>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0), parallel = 1>, inits = array<i64: 2>,
                schedule = #kernel.schedule<map, vector = 4, cost = 2400>, shapes = [#all, #all, #size, #size]} {
  %0 = kernel.load %v at #line part 0 : tensor<?xcomplex<f64>> -> f64
  %1 = kernel.load %v at #line part 1 : tensor<?xcomplex<f64>> -> f64
  %2 = kernel.load %p at #line : tensor<?xi64> -> i64
  %3 = kernel.bound %2 below #bound site 0
  kernel.scatter %0, result 0[%3] combine "" at #place part 0 : f64
  kernel.scatter %1, result 0[%3] combine "" at #place part 1 : f64
  kernel.return
}
kernel.func @added(%v: tensor<?xcomplex<f64>>, %p: tensor<?xi64>, %a: tensor<?xcomplex<f64>>, %n: index, %m: index) -> tensor<?xcomplex<f64>>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0), parallel = 1>, inits = array<i64: 2>,
                schedule = #kernel.schedule<map, vector = 4, cost = 2400>, shapes = [#all, #all, #size, #size]} {
  %0 = kernel.load %v at #line part 0 : tensor<?xcomplex<f64>> -> f64
  %1 = kernel.load %v at #line part 1 : tensor<?xcomplex<f64>> -> f64
  %2 = kernel.load %p at #line : tensor<?xi64> -> i64
  %3 = kernel.bound %2 below #bound site 0
  kernel.scatter %0, result 0[%3] combine "add" at #place part 0 : f64
  kernel.scatter %1, result 0[%3] combine "add" at #place part 1 : f64
  kernel.return
}
