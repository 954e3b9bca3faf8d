// A work-item halves the elements for its value, which become keys in their order.
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

// CHECK-LABEL: func.func @left(
// CHECK-SAME: memref<?xf32>, {{.*}}: memref<?xf32>, {{.*}}: memref<?xi64>
// CHECK-SAME: graphc.group = 256
// CHECK: scf.if
// CHECK: scf.while
// CHECK: arith.cmpi slt
// CHECK: memref.load
// CHECK: arith.bitcast {{.*}} : f32 to i32
// CHECK: arith.cmpi ult
// CHECK: scf.yield
// CHECK: memref.store
kernel.search @left of f32

// Equal elements are passed.
// CHECK-LABEL: func.func @right(
// CHECK: scf.while
// CHECK: arith.cmpi ule
kernel.search @right of ui8 right
