// Groups of work-items: a launch counts groups, a work-item has 4 neighbours.
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

#id = affine_map<(d0)[s0] -> (d0)>
#shape = affine_map<()[s0] -> (s0)>
#one = affine_map<()[s0] -> ()>
#none = affine_map<(d0)[s0] -> ()>

// CHECK-LABEL: func.func @map(
// CHECK-SAME: graphc.group = 256
// CHECK: gpu.thread_id x
// CHECK: scf.if
// CHECK: vector.create_mask
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
// CHECK-NOT: scf.for
// CHECK: return
kernel.func @map(%x: tensor<?xf32>, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 4, cost = 700, group = 256>, shapes = [#shape, #shape]} {
  %a = kernel.load %x at #id : tensor<?xf32> -> f32
  %b = graph.neg %a : f32
  kernel.store %b, result 0 at #id : f32
  kernel.return
}

// A block belongs to 64 work-items; the halves of the lanes meet in local memory. The block results go through one
// work-item when they are few, through a group when they are many.
// CHECK-LABEL: func.func @total(
// CHECK: memref.alloca() : memref<1024xf32, #gpu.address_space<workgroup>>
// CHECK: scf.for
// CHECK: vector.load {{.*}} {alignment = 16 : i64}
// CHECK: {graphc.unroll = 4 : i64}
// CHECK: gpu.barrier
// CHECK-LABEL: func.func @total_fold(
// CHECK: gpu.barrier
kernel.func @total(%x: tensor<?xf32>, %n: index) -> tensor<f32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 0>, inits = array<i64: -1>,
                schedule = #kernel.schedule<full, vector = 4, cost = 700, group = 256>, shapes = [#shape, #one]} {
  %a = kernel.load %x at #id : tensor<?xf32> -> f32
  %s = kernel.reduce <sum> %a : f32 -> f32
  kernel.store %s, result 0 at #none : f32
  kernel.return
}

// The groups of 16 of a block follow each other in one chain.
// CHECK-LABEL: func.func @running(
// CHECK: memref.alloca() : memref<4352xf32, #gpu.address_space<workgroup>>
// CHECK-COUNT-4: gpu.barrier
// CHECK-LABEL: func.func @running_blocks(
// CHECK-LABEL: func.func @running_fold(
kernel.func @running(%x: tensor<?xf32>, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 0>, inits = array<i64: -1>,
                schedule = #kernel.schedule<scan, vector = 4, cost = 700, group = 256>, shapes = [#shape, #shape]} {
  %a = kernel.load %x at #id : tensor<?xf32> -> f32
  %s = kernel.scan <sum> %a : f32
  kernel.store %s, result 0 at #id : f32
  kernel.return
}
