// Launches that touch what others write at neighbouring rows: they get the rows that each stays behind those before it.
// RUN: graphc-opt %s --graphc-tile-rows | FileCheck %s

#inner = affine_map<(d0, d1)[s0, s1, s2, s3] -> (d0 + 1, d1)>
#above = affine_map<(d0, d1)[s0, s1, s2, s3] -> (d0, d1)>
#below = affine_map<(d0, d1)[s0, s1, s2, s3] -> (d0 + s3, d1)>
#turned = affine_map<(d0, d1)[s0, s1, s2, s3] -> (s2 - 1 - d0, d1)>
#shape = affine_map<()[s0, s1, s2, s3] -> (s2, s1)>
#tall = affine_map<()[s0, s1, s2, s3] -> (s2, 7)>

// The rows above and below, into the row between.
kernel.func @step(%a: tensor<?x?xf32>, %old: tensor<?x?xf32>, %n: index, %m: index, %all: index, %two: index) -> tensor<?x?xf32> attributes {domain = #kernel.domain<()[s0, s1, s2, s3] -> (s0, s1), parallel = 2>, inits = array<i64: 1>, schedule = #kernel.schedule<map, vector = 8, cost = 100>, shapes = [#shape, #shape, #shape]} {
  %0 = kernel.load %a at #above : tensor<?x?xf32> -> f32
  %1 = kernel.load %a at #below : tensor<?x?xf32> -> f32
  %2 = graph.add %0, %1 : f32
  kernel.store %2, result 0 at #inner : f32
  kernel.return
}
// Rows in the other order.
kernel.func @reversed(%a: tensor<?x?xf32>, %old: tensor<?x?xf32>, %n: index, %m: index, %all: index, %two: index) -> tensor<?x?xf32> attributes {domain = #kernel.domain<()[s0, s1, s2, s3] -> (s0, s1), parallel = 2>, inits = array<i64: 1>, schedule = #kernel.schedule<map, vector = 8, cost = 100>, shapes = [#shape, #shape, #shape]} {
  %0 = kernel.load %a at #turned : tensor<?x?xf32> -> f32
  kernel.store %0, result 0 at #inner : f32
  kernel.return
}
// Rows of another length.
kernel.func @reshaped(%a: tensor<?x7xf32>, %old: tensor<?x?xf32>, %n: index, %m: index, %all: index, %two: index) -> tensor<?x?xf32> attributes {domain = #kernel.domain<()[s0, s1, s2, s3] -> (s0, s1), parallel = 2>, inits = array<i64: 1>, schedule = #kernel.schedule<map, vector = 8, cost = 100>, shapes = [#tall, #shape, #shape]} {
  %0 = kernel.load %a at #above : tensor<?x7xf32> -> f32
  kernel.store %0, result 0 at #inner : f32
  kernel.return
}

// What is read last is row 2 (the size) beside what is written first, row 1, and so on.
// CHECK-LABEL: plan.program @steps
// CHECK: %[[N:.*]] = plan.size 0
// CHECK: %[[TWO:.*]] = plan.size 3
// CHECK: %[[LAST:.*]] = arith.maxsi %{{.*}}, %[[TWO]]
// CHECK: %[[ON:.*]] = arith.subi %[[LAST]], %{{.*}}
// CHECK: arith.maxsi %{{.*}}, %[[ON]]
// CHECK: plan.launch @step({{.*}} rows %[[N]] tile 0 skew %[[SKEW:.*]]
// CHECK-NEXT: plan.launch @step({{.*}} rows %[[N]] tile 0 skew %[[SKEW]]
// CHECK-NEXT: plan.launch @step({{.*}} rows %[[N]] tile 0 skew %[[SKEW]]
// A copy ends it, and what is left alone is in none.
// CHECK: plan.copy
// CHECK: plan.launch @step({{.*}} lines ""{{$}}
plan.program @steps inputs [tensor<?x?xf32>] outputs [] {
^bb0(%x: !plan.buffer<f32>):
  %n = plan.size 0
  %m = plan.size 1
  %all = plan.dim input 0, 0
  %two = plan.size 3
  %c1 = arith.constant 1 : index
  %e = arith.muli %n, %m : index
  %a = plan.alloc %e : <f32>
  plan.copy %x to %a : <f32>, <f32>
  %b = plan.alloc %e : <f32>
  plan.copy %x to %b : <f32>, <f32>
  plan.launch @step(%a, %b, %b : !plan.buffer<f32>, !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m, %all, %two) over %e work %c1 lines ""
  plan.launch @step(%b, %a, %a : !plan.buffer<f32>, !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m, %all, %two) over %e work %c1 lines ""
  plan.launch @step(%a, %b, %b : !plan.buffer<f32>, !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m, %all, %two) over %e work %c1 lines ""
  plan.copy %b to %a : <f32>, <f32>
  plan.launch @step(%a, %b, %b : !plan.buffer<f32>, !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m, %all, %two) over %e work %c1 lines ""
  plan.return sizes()
}

// Not together: other rows, rows in the other order, rows of another length, memory that begins in between.
// CHECK-LABEL: plan.program @none
// CHECK-NOT: tile
plan.program @none inputs [tensor<?x?xf32>] outputs [] {
^bb0(%x: !plan.buffer<f32>):
  %n = plan.size 0
  %m = plan.size 1
  %all = plan.dim input 0, 0
  %two = plan.size 3
  %c1 = arith.constant 1 : index
  %e = arith.muli %n, %m : index
  %a = plan.alloc %e : <f32>
  plan.copy %x to %a : <f32>, <f32>
  %b = plan.alloc %e : <f32>
  plan.copy %x to %b : <f32>, <f32>
  plan.launch @step(%a, %b, %b : !plan.buffer<f32>, !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m, %all, %two) over %e work %c1 lines ""
  plan.launch @step(%b, %a, %a : !plan.buffer<f32>, !plan.buffer<f32>, !plan.buffer<f32>) sizes(%m, %n, %all, %two) over %e work %c1 lines ""
  plan.launch @reversed(%a, %b, %b : !plan.buffer<f32>, !plan.buffer<f32>, !plan.buffer<f32>) sizes(%m, %n, %all, %two) over %e work %c1 lines ""
  plan.launch @reshaped(%b, %a, %a : !plan.buffer<f32>, !plan.buffer<f32>, !plan.buffer<f32>) sizes(%m, %n, %all, %two) over %e work %c1 lines ""
  %c = plan.alloc %e : <f32>
  plan.launch @step(%a, %c, %c : !plan.buffer<f32>, !plan.buffer<f32>, !plan.buffer<f32>) sizes(%m, %n, %all, %two) over %e work %c1 lines ""
  plan.return sizes()
}
