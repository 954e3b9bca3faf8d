// A launch of an update writes nothing where the fault words ask for its checks alone: before another writes to an input's own memory.
// RUN: graphc-opt %s --split-input-file --graphc-lower-kernels=checks-alone | FileCheck %s
// RUN: graphc-opt %s --split-input-file --graphc-lower-kernels | FileCheck %s --check-prefix=DEVICE

#all = affine_map<()[s0, s1] -> (s0)>
#size = affine_map<()[s0, s1] -> (s1)>
#line = affine_map<(d0)[s0, s1] -> (d0)>
#place = affine_map<(d0, d1)[s0, s1] -> (d1)>
#bound = affine_map<(d0)[s0, s1] -> (s1)>

// CHECK-LABEL: func.func @put(
// CHECK-SAME: %[[FAULTS:[a-z0-9]+]]: memref<?xi64>, %{{[a-z0-9]+}}: index
// CHECK-SAME: graphc.check_reads = array<i32: 1>, graphc.checks = 2 : i64
// CHECK: %[[WORD:.*]] = arith.constant 5 : index
// CHECK: %[[ASKED:.*]] = memref.load %[[FAULTS]][%[[WORD]]] : memref<?xi64>
// CHECK: %[[WRITES:.*]] = arith.cmpi eq, %[[ASKED]],
// A launch that is asked ends where the greatest of all places is inside.
// CHECK: %[[MORE:.*]] = scf.if %[[WRITES]] -> (i1) {
// CHECK: } else {
// CHECK: scf.for {{.*}} -> (vector<32xi64>) {
// CHECK: arith.maxui {{.*}} : vector<32xi64>
// CHECK: vector.maskedload {{.*}} memref<?xi64>{{.*}} into vector<32xi64>
// CHECK: vector.reduction <maxui>
// CHECK: scf.if %[[MORE]] {
// CHECK: scf.for
// CHECK-NOT: memref.store {{.*}} memref<?xf32>
// CHECK: vector.load {{.*}} memref<?xi64>, vector<8xi64>
// CHECK: vector.reduction <or>
// CHECK: scf.if %[[WRITES]] {
// CHECK: vector.load {{.*}} memref<?xf32>
// CHECK: memref.store {{.*}} memref<?xf32>
// Where no index of the eight is below zero or outside they are read as C's loop does.
// CHECK: } else {
// CHECK: %[[INDEX:.*]] = memref.load %{{[a-z0-9]+}}[%{{.*}}] : memref<?xi64>
// CHECK-NEXT: %[[AT:.*]] = arith.index_castui %[[INDEX]] : i64 to index
// CHECK: memref.store {{.*}} memref<?xf32>
// DEVICE-LABEL: func.func @put(
// DEVICE-NOT: graphc.check_reads
// DEVICE-SAME: graphc.checks = 1 : i64
// DEVICE-NOT: memref.load %{{[a-z0-9]+}}[%{{.*}}] : memref<?xi64>
// DEVICE: scf.for
kernel.func @put(%v: tensor<?xf32>, %p: tensor<?xi64>, %a: tensor<?xf32>, %n: index, %m: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0), parallel = 1>, inits = array<i64: 2>,
                schedule = #kernel.schedule<map, vector = 8, cost = 2400>, shapes = [#all, #all, #size, #size]} {
  %0 = kernel.load %v at #line : tensor<?xf32> -> f32
  %1 = kernel.load %p at #line : tensor<?xi64> -> i64
  %2 = kernel.bound %1 below #bound site 0
  kernel.scatter %0, result 0[%2] combine "" at #place : f32
  kernel.return
}

// -----

#all = affine_map<()[s0, s1] -> (s0)>
#size = affine_map<()[s0, s1] -> (s1)>
#line = affine_map<(d0)[s0, s1] -> (d0)>
#place = affine_map<(d0, d1)[s0, s1] -> (d1)>
#bound = affine_map<(d0)[s0, s1] -> (s1)>

// Of a program without updates nothing is asked.
// CHECK-LABEL: func.func @taken(
// CHECK-NOT: graphc.check_reads
// CHECK-SAME: graphc.checks = 1 : i64
// CHECK: scf.if {{.*}} -> (vector<8xf32>) {
// CHECK: } else {
// CHECK: memref.load %{{[a-z0-9]+}}[%{{.*}}] : memref<?xi64>
// CHECK-NEXT: arith.index_castui
// CHECK: vector.from_elements {{.*}} : vector<8xf32>
kernel.func @taken(%p: tensor<?xi64>, %a: tensor<?xf32>, %n: index, %m: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 8, cost = 2400>, shapes = [#all, #size, #all]} {
  %0 = kernel.load %p at #line : tensor<?xi64> -> i64
  %1 = kernel.bound %0 below #bound site 0
  %2 = kernel.gather %a[%1] at #place : tensor<?xf32> -> f32
  kernel.store %2, result 0 at #line : f32
  kernel.return
}

// -----

#all = affine_map<()[s0, s1] -> (s0, s1)>
#point = affine_map<(d0, d1)[s0, s1] -> (d0, d1)>
#place = affine_map<(d0, d1, d2)[s0, s1] -> (d0, d2)>
#bound = affine_map<(d0, d1)[s0, s1] -> (s1)>

// Places within rows: items are rows, each of which is written to by one thread. The places of many short rows are
// looked at together, and are then what is read.
// CHECK-LABEL: func.func @along(
// CHECK-SAME: %[[BEGIN:[a-z0-9]+]]: index, %[[END:[a-z0-9]+]]: index)
// CHECK: arith.muli %[[BEGIN]],
// CHECK: arith.muli %[[END]],
// CHECK: scf.for
// CHECK: arith.constant 1024 : index
// CHECK: scf.for
// CHECK: vector.reduction <maxui>
// CHECK: %[[WRAPPED:.*]] = arith.cmpi uge, {{.*}} : i64
// CHECK: scf.if %[[WRAPPED]] {
// CHECK: } else {
// CHECK: scf.if
// CHECK: %[[INDEX:.*]] = memref.load %{{[a-z0-9]+}}[%{{.*}}] : memref<?xi64>
// CHECK-NOT: arith.cmpi
// CHECK: memref.store {{.*}} memref<?xf32>
kernel.func @along(%v: tensor<?x?xf32>, %p: tensor<?x?xi64>, %a: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 2>, inits = array<i64: 2>,
                schedule = #kernel.schedule<map, vector = 16, cost = 2400>, shapes = [#all, #all, #all, #all]} {
  %0 = kernel.load %v at #point : tensor<?x?xf32> -> f32
  %1 = kernel.load %p at #point : tensor<?x?xi64> -> i64
  %2 = kernel.bound %1 below #bound site 0
  kernel.scatter %0, result 0[%2] combine "" at #place : f32
  kernel.return
}
