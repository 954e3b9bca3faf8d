// Vectors to scalars: lanes of arithmetic and loop state one by one; whole vectors stay where they are moved at aligned
// places, after a test where that is not known.
// RUN: graphc-opt %s --graphc-unroll-vectors --cse | FileCheck %s

// CHECK-LABEL: func.func @known(
// CHECK: %[[W:.*]] = vector.load %{{.*}}[%{{.*}}] {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
// CHECK-COUNT-4: vector.extract %[[W]]
// CHECK-COUNT-4: arith.addf %{{.*}} : f32
// CHECK: vector.from_elements
// CHECK: vector.store %{{.*}} {alignment = 16 : i64}
// CHECK-NOT: scf.if
// CHECK: return
func.func @known(%x: memref<?xf32>, %i: index) {
  %a = vector.load %x[%i] {alignment = 16} : memref<?xf32>, vector<4xf32>
  %b = arith.addf %a, %a : vector<4xf32>
  vector.store %b, %x[%i] {alignment = 16} : memref<?xf32>, vector<4xf32>
  return
}

// CHECK-LABEL: func.func @asked(
// CHECK: arith.andi
// CHECK: %[[A:.*]] = arith.cmpi eq
// CHECK: scf.if %[[A]] -> (f32, f32)
// CHECK: vector.load
// CHECK: } else {
// CHECK-COUNT-2: memref.load
func.func @asked(%x: memref<?xf32>, %i: index) -> f32 {
  %a = vector.load %x[%i] : memref<?xf32>, vector<2xf32>
  %b = vector.extract %a[1] : f32 from vector<2xf32>
  return %b : f32
}

// A mask that is full and aligned is a whole vector; else a lane without its bit is not touched.
// CHECK-LABEL: func.func @masked(
// CHECK: scf.if
// CHECK: vector.load
// CHECK: } else {
// CHECK-COUNT-2: scf.if %{{.*}} -> (f32)
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (f32, f32)
// CHECK-COUNT-2: arith.mulf %{{.*}} : f32
// CHECK: } {graphc.unroll = 4 : i64}
func.func @masked(%x: memref<?xf32>, %i: index, %left: index, %n: index) {
  %zero = arith.constant dense<0.0> : vector<2xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = vector.create_mask %left : vector<2xi1>
  %a = vector.maskedload %x[%i], %m, %zero : memref<?xf32>, vector<2xi1>, vector<2xf32> into vector<2xf32>
  %b = scf.for %k = %c0 to %n step %c1 iter_args(%s = %a) -> (vector<2xf32>) {
    %t = arith.mulf %s, %a : vector<2xf32>
    scf.yield %t : vector<2xf32>
  } {graphc.unroll = 4 : i64}
  vector.maskedstore %x[%i], %m, %b : memref<?xf32>, vector<2xi1>, vector<2xf32>
  return
}

// What a work-item or a group has of its own lies as it is used.
// CHECK-LABEL: func.func @own(
// CHECK-COUNT-2: memref.store {{.*}} : memref<8xf32>
// CHECK: vector.store {{.*}}workgroup
// CHECK-NOT: arith.andi
// CHECK: return
func.func @own(%i: index) {
  %p = memref.alloca() : memref<8xf32>
  %l = memref.alloca() : memref<8xf32, #gpu.address_space<workgroup>>
  %v = arith.constant dense<[1.0, 2.0]> : vector<2xf32>
  vector.store %v, %p[%i] : memref<8xf32>, vector<2xf32>
  vector.store %v, %l[%i] : memref<8xf32, #gpu.address_space<workgroup>>, vector<2xf32>
  return
}
