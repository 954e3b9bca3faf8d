// Scans of columns by groups: work-items of a column keep sixteen of its elements each, and tell each other their sums.
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

#result = affine_map<(d0, d1)[s0, s1] -> (d1, d0)>

// CHECK-LABEL: func.func @columns(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[R:.*]]: memref<?xf32>, %[[P:.*]]: memref<?xf32>
// CHECK-SAME: graphc.group = 256
// CHECK: %[[TOTALS:.*]] = memref.alloca() : memref<256xf32, #gpu.address_space<workgroup>>
// CHECK: %[[BEFORE:.*]] = scf.if {{.*}} -> (f32)
// CHECK: memref.load %[[P]]
// CHECK: scf.for {{.*}} iter_args(%[[CARRY:.*]] = %{{.*}}) -> (f32)
// CHECK-COUNT-16: memref.load %[[X]]
// CHECK-NOT: memref.load %[[X]]
// CHECK: memref.store %{{.*}}, %[[TOTALS]]
// CHECK-NEXT: gpu.barrier
// CHECK-COUNT-8: memref.load %[[TOTALS]]
// CHECK: gpu.barrier
// A whole group asks nothing.
// CHECK: scf.if
// CHECK-COUNT-16: memref.store %{{.*}}, %[[R]]
// CHECK-NEXT: } else {
// CHECK-COUNT-16: scf.if

// CHECK-LABEL: func.func @columns_blocks(
// CHECK-SAME: memref<?xf32>, %[[B:.*]]: memref<?xf32>, %[[Q:.*]]: memref<?xf32>
// CHECK: scf.for
// CHECK-NOT: %[[B]][
// CHECK: gpu.barrier
// CHECK-NOT: %[[B]][
// CHECK: gpu.barrier
// CHECK-NOT: %[[B]][
// CHECK: memref.store %{{.*}}, %[[Q]]

// A work-item folds a column.
// CHECK-LABEL: func.func @columns_fold(
// CHECK-SAME: graphc.group = 256
// CHECK: arith.cmpi slt
// CHECK-NEXT: scf.if
kernel.func @columns(%x: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s1, s0), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<scan, vector = 1, cost = 700, group = 256>,
                shapes = [affine_map<()[s0, s1] -> (s0, s1)>, affine_map<()[s0, s1] -> (s0, s1)>]} {
  %a = kernel.load %x at #result : tensor<?x?xf32> -> f32
  %s = kernel.scan <sum> %a : f32
  kernel.store %s, result 0 at #result : f32
  kernel.return
}
