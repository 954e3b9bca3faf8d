// Rows that a condition leaves as they were are passed over where the result takes the memory of what is read.
// RUN: graphc-opt %s --split-input-file --graphc-lower-kernels | FileCheck %s

#all = affine_map<()[s0, s1] -> (s0, s1)>
#rows = affine_map<()[s0, s1] -> (s0)>
#point = affine_map<(d0, d1)[s0, s1] -> (d0, d1)>
#row = affine_map<(d0, d1)[s0, s1] -> (d0)>

// CHECK-LABEL: func.func @kept(
// CHECK-SAME: %[[MASK:[a-z0-9]+]]: memref<?xi8>, %[[OLD:[a-z0-9]+]]: memref<?xf32>, %[[OUT:[a-z0-9]+]]: memref<?xf32>
// CHECK-DAG: %[[FROM:.*]] = memref.extract_aligned_pointer_as_index %[[OLD]]
// CHECK-DAG: %[[TO:.*]] = memref.extract_aligned_pointer_as_index %[[OUT]]
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[FROM]], %[[TO]]
// CHECK: scf.for
// CHECK: memref.load %[[MASK]]
// CHECK: %[[SOME:.*]] = arith.select %[[SAME]], %{{.*}}, %true
// CHECK: scf.if %[[SOME]] {
// CHECK: vector.load %[[OLD]]
kernel.func @kept(%m: tensor<?xi1>, %x: tensor<?x?xf32>, %n: index, %k: index) -> tensor<?x?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 2>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 16, cost = 700>, shapes = [#rows, #all, #all]} {
  %0 = kernel.load %m at #row : tensor<?xi1> -> i1
  %1 = kernel.load %x at #point : tensor<?x?xf32> -> f32
  %2 = arith.constant 5.000000e-01 : f32
  %3 = graph.select %0, %2, %1 : f32
  kernel.store %3, result 0 at #point : f32
  kernel.return
}

// -----

// The condition of a single element passes over nothing.
// CHECK-LABEL: func.func @elements(
// CHECK-NOT: memref.extract_aligned_pointer_as_index
#all = affine_map<()[s0, s1] -> (s0, s1)>
#point = affine_map<(d0, d1)[s0, s1] -> (d0, d1)>
#turned = affine_map<(d0, d1)[s0, s1] -> (d1, d0)>
kernel.func @elements(%m: tensor<?x?xi1>, %x: tensor<?x?xf32>, %n: index, %k: index) -> tensor<?x?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 2>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 16, cost = 700>, shapes = [#all, #all, #all]} {
  %0 = kernel.load %m at #point : tensor<?x?xi1> -> i1
  %1 = kernel.load %x at #point : tensor<?x?xf32> -> f32
  %2 = arith.constant 5.000000e-01 : f32
  %3 = graph.select %0, %2, %1 : f32
  kernel.store %3, result 0 at #point : f32
  kernel.return
}

// -----

// Both parts of complex numbers.
// CHECK-LABEL: func.func @parts(
// CHECK-SAME: %[[MASK:[a-z0-9]+]]: memref<?xi8>, %[[OLD:[a-z0-9]+]]: memref<?xf32>, %[[OUT:[a-z0-9]+]]: memref<?xf32>
// CHECK: memref.load %[[MASK]]
// CHECK: %[[SOME:.*]] = arith.select %{{.*}}, %{{.*}}, %true
// CHECK: scf.if %[[SOME]] {
// CHECK: vector.load %[[OLD]]
#all = affine_map<()[s0, s1] -> (s0, s1)>
#rows = affine_map<()[s0, s1] -> (s0)>
#point = affine_map<(d0, d1)[s0, s1] -> (d0, d1)>
#row = affine_map<(d0, d1)[s0, s1] -> (d0)>
kernel.func @parts(%m: tensor<?xi1>, %x: tensor<?x?xcomplex<f32>>, %n: index, %k: index) -> tensor<?x?xcomplex<f32>>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 2>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 16, cost = 700>, shapes = [#rows, #all, #all]} {
  %0 = kernel.load %m at #row : tensor<?xi1> -> i1
  %1 = kernel.load %x at #point part 0 : tensor<?x?xcomplex<f32>> -> f32
  %2 = kernel.load %x at #point part 1 : tensor<?x?xcomplex<f32>> -> f32
  %3 = arith.constant 5.000000e-01 : f32
  %4 = graph.select %0, %3, %1 : f32
  %5 = graph.select %0, %3, %2 : f32
  kernel.store %4 imaginary %5 : f32, result 0 at #point : f32
  kernel.return
}
