// Values and factors of a piece lie in local memory; products that there are not are left out, never those of zeros.
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

// CHECK-LABEL: func.func @sums(
// CHECK-SAME: memref<?xf32>, {{.*}}: memref<?xf32>, {{.*}}: memref<?xf32>, {{.*}}: index, {{.*}}: index, {{.*}}: index, {{.*}}: index
// CHECK-SAME: graphc.group = 256
// CHECK: memref.alloca() : memref<{{.*}}xf32, #gpu.address_space<workgroup>>
// Chains, the pieces of one, the steps of one whose products there all are, and those that are looked at.
// CHECK: scf.for
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-NOT: arith.select
// CHECK: math.fma
// CHECK: scf.for
// CHECK: math.fma
// CHECK: arith.select
// CHECK: gpu.barrier
// CHECK: arith.addf
// CHECK: memref.store
kernel.correlate @sums of f32
