// Sorting by groups: elements become keys once, runs double in local memory, work-items meet at barriers that all of them reach.
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

// CHECK-LABEL: func.func @sort_f32_tiles(
// CHECK-SAME: memref<?xf32>, {{.*}}: memref<?xi32>, {{.*}}: memref<?xf32>
// CHECK-SAME: graphc.family = "sort"
// CHECK-SAME: graphc.group = 256
// CHECK: memref.alloca() : memref<2112xi32, #gpu.address_space<workgroup>>
// CHECK: arith.bitcast {{.*}} : f32 to i32
// CHECK: gpu.barrier
// CHECK: scf.while
// CHECK-NOT: arith.bitcast
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK: scf.yield
// CHECK: arith.bitcast {{.*}} : i32 to f32
// CHECK: memref.store

// Splits are searched in memory, without barriers.
// CHECK-LABEL: func.func @sort_f32_splits(
// CHECK-NOT: gpu.barrier
// CHECK: scf.while

// CHECK-LABEL: func.func @sort_f32_merge(
// CHECK-SAME: memref<?xi64>, {{.*}}: memref<?xi32>, {{.*}}: memref<?xf32>
// CHECK-COUNT-3: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: return

// Digits of long lines: counted in local memory, in 32 bits; a tile has the keys, counters of two a word, and no places.
// CHECK-LABEL: func.func @sort_f32_keys(
// CHECK-LABEL: func.func @sort_f32_passes(
// CHECK-LABEL: func.func @sort_f32_count(
// CHECK: memref.atomic_rmw addi {{.*}} : (i32, memref<264xi32, #gpu.address_space<workgroup>>) -> i32
// CHECK-LABEL: func.func @sort_f32_offsets(
// CHECK-LABEL: func.func @sort_f32_scatter(
// CHECK: memref.alloca() : memref<2112xi32, #gpu.address_space<workgroup>>
// CHECK: memref.alloca() : memref<2376xi32, #gpu.address_space<workgroup>>
// CHECK-NOT: memref.alloca() : memref<2112xi32
// CHECK: return
kernel.sort @sort_f32 of f32

// Equal elements keep their order: zeros of both signs get one key, and places come along.
// CHECK-LABEL: func.func @argsort_f16_descending_tiles(
// CHECK-SAME: memref<?xi16>, {{.*}}: memref<?xi16>, {{.*}}: memref<?xi64>, {{.*}}: memref<?xi64>
// CHECK-DAG: %[[SIGN:.*]] = arith.constant -32768 : i16
// CHECK: arith.cmpi eq, %{{.*}}, %[[SIGN]] : i16
kernel.sort @argsort_f16_descending of f16 places descending
