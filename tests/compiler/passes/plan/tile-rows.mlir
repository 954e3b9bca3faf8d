// Launches that may be run row by row: their outermost loops have one extent, and what one of them writes all touch in the row of
// the point only.
// RUN: graphc-opt %s --graphc-tile-rows | FileCheck %s

#point = affine_map<(d0, d1)[s0, s1] -> (d0, d1)>
#turned = affine_map<(d0, d1)[s0, s1] -> (d1, d0)>
#back = affine_map<(d0, d1)[s0, s1] -> (d0, s1 - 1 - d1)>
#skewed = affine_map<(d0, d1)[s0, s1] -> (d0, d0)>
#row = affine_map<(d0, d1)[s0, s1] -> (d1)>
#shape = affine_map<()[s0, s1] -> (s0, s1)>
#turned_shape = affine_map<()[s0, s1] -> (s1, s0)>
#line = affine_map<()[s0, s1] -> (s1)>

// A point of the row, a point of a table.
kernel.func @map(%a: tensor<?x?xf32>, %t: tensor<?xf32>, %n: index, %m: index) -> tensor<?x?xf32> attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 2>, inits = array<i64: -1>, schedule = #kernel.schedule<map, vector = 8, cost = 100>, shapes = [#shape, #line, #shape]} {
  %0 = kernel.load %a at #back : tensor<?x?xf32> -> f32
  %1 = kernel.load %t at #row : tensor<?xf32> -> f32
  %2 = graph.add %0, %1 : f32
  kernel.store %2, result 0 at #point : f32
  kernel.return
}
// Points of all rows.
kernel.func @across(%a: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32> attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 2>, inits = array<i64: -1>, schedule = #kernel.schedule<map, vector = 1, cost = 100>, shapes = [#turned_shape, #shape]} {
  %0 = kernel.load %a at #turned : tensor<?x?xf32> -> f32
  kernel.store %0, result 0 at #point : f32
  kernel.return
}
// The row of the point, and another index that depends on the row.
kernel.func @diagonal(%a: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32> attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 2>, inits = array<i64: -1>, schedule = #kernel.schedule<map, vector = 1, cost = 100>, shapes = [#shape, #shape]} {
  %0 = kernel.load %a at #skewed : tensor<?x?xf32> -> f32
  kernel.store %0, result 0 at #point : f32
  kernel.return
}
// Its blocks are counted row by row, and folded by a launch of their own.
kernel.func @sums(%a: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?xf32> attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>, schedule = #kernel.schedule<rows, vector = 8, cost = 100>, shapes = [#shape, affine_map<()[s0, s1] -> (s0)>]} {
  %0 = kernel.load %a at #point : tensor<?x?xf32> -> f32
  %1 = kernel.reduce <sum> %0 : f32 -> f32
  kernel.store %1, result 0 at affine_map<(d0, d1)[s0, s1] -> (d0)> : f32
  kernel.return
}
// Blocks of everything.
kernel.func @total(%a: tensor<?x?xf32>, %n: index, %m: index) -> tensor<f32> attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 0>, inits = array<i64: -1>, schedule = #kernel.schedule<full, vector = 16, cost = 100>, shapes = [#shape, affine_map<()[s0, s1] -> ()>]} {
  %0 = kernel.load %a at #point : tensor<?x?xf32> -> f32
  %1 = kernel.reduce <sum> %0 : f32 -> f32
  kernel.store %1, result 0 at affine_map<(d0, d1)[s0, s1] -> ()> : f32
  kernel.return
}
// An operand that is turned for others.
kernel.func @turn(%a: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32> attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 2>, graphc.for_rows, inits = array<i64: -1>, schedule = #kernel.schedule<map, vector = 16, cost = 100>, shapes = [#turned_shape, #shape]} {
  %0 = kernel.load %a at #turned : tensor<?x?xf32> -> f32
  kernel.store %0, result 0 at #point : f32
  kernel.return
}

// CHECK-LABEL: plan.program @two
// CHECK: %[[N:.*]] = plan.dim input 0, 0
// CHECK: plan.launch @map({{.*}} lines "" rows %[[N]] tile 0
// CHECK: plan.launch @map({{.*}} lines "" rows %[[N]] tile 0
// CHECK: plan.copy
// A new tile; what reads across rows ends it, and what only reads that begins none.
// CHECK: plan.launch @map({{.*}} lines "" rows %[[N]] tile 1
// CHECK: plan.launch @map({{.*}} lines "" rows %[[N]] tile 1
// CHECK: plan.launch @across({{.*}} lines ""{{$}}
// CHECK: plan.launch @map({{.*}} lines ""{{$}}
plan.program @two inputs [tensor<?x?xf32>, tensor<?xf32>] outputs [] {
^bb0(%x: !plan.buffer<f32>, %t: !plan.buffer<f32>):
  %n = plan.dim input 0, 0
  %m = plan.dim input 0, 1
  %c1 = arith.constant 1 : index
  %e = arith.muli %n, %m : index
  %a = plan.alloc %e : <f32>
  plan.launch @map(%x, %t, %a : !plan.buffer<f32>, !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m) over %e work %c1 lines ""
  %b = plan.alloc %e : <f32>
  plan.launch @map(%a, %t, %b : !plan.buffer<f32>, !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m) over %e work %c1 lines ""
  %k = plan.alloc %e : <f32>
  plan.copy %b to %k : <f32>, <f32>
  plan.launch @map(%k, %t, %a : !plan.buffer<f32>, !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m) over %e work %c1 lines ""
  plan.launch @map(%a, %t, %b : !plan.buffer<f32>, !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m) over %e work %c1 lines ""
  plan.launch @across(%b, %a : !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m) over %e work %c1 lines ""
  plan.launch @map(%x, %t, %k : !plan.buffer<f32>, !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m) over %e work %c1 lines ""
  plan.return sizes()
}

// Nothing here may be cut: other rows, rows that another index depends on, a table that is written.
// CHECK-LABEL: plan.program @none
// CHECK-NOT: tile
plan.program @none inputs [tensor<?x?xf32>, tensor<?xf32>] outputs [] {
^bb0(%x: !plan.buffer<f32>, %t: !plan.buffer<f32>):
  %n = plan.dim input 0, 0
  %m = plan.dim input 0, 1
  %c1 = arith.constant 1 : index
  %e = arith.muli %n, %m : index
  %a = plan.alloc %e : <f32>
  plan.launch @map(%x, %t, %a : !plan.buffer<f32>, !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m) over %e work %c1 lines ""
  %b = plan.alloc %e : <f32>
  plan.launch @map(%a, %t, %b : !plan.buffer<f32>, !plan.buffer<f32>, !plan.buffer<f32>) sizes(%m, %n) over %e work %c1 lines ""
  plan.launch @diagonal(%b, %a : !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m) over %e work %c1 lines ""
  %s = plan.alloc %n : <f32>
  plan.launch @sums(%x, %s : !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m) over %n work %m lines ""
  plan.launch @map(%x, %s, %a : !plan.buffer<f32>, !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m) over %e work %c1 lines ""
  plan.launch @map(%a, %a, %b : !plan.buffer<f32>, !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m) over %e work %c1 lines ""
  plan.return sizes()
}

// The result of the second may be made in the memory that both read: in the first, across rows.
// CHECK-LABEL: plan.program @donor
// CHECK: plan.launch @across({{.*}} lines ""{{$}}
// CHECK: plan.launch @map({{.*}} lines ""{{$}}
plan.program @donor inputs [tensor<?x?xf32>, tensor<?xf32>] outputs [] {
^bb0(%x: !plan.buffer<f32>, %t: !plan.buffer<f32>):
  %n = plan.dim input 0, 0
  %m = plan.dim input 0, 1
  %c1 = arith.constant 1 : index
  %e = arith.muli %n, %m : index
  %a = plan.alloc %e : <f32>
  plan.launch @across(%x, %a : !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m) over %e work %c1 lines ""
  %b = plan.alloc %e {donor = 0 : i64} : <f32>
  plan.launch @map(%a, %t, %b : !plan.buffer<f32>, !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m) over %e work %c1 lines ""
  plan.return sizes()
}

// Rows of what is turned come together, and so do the blocks of everything where a row is whole parts of one: 32 rows of 256 elements.
// CHECK-LABEL: plan.program @turned
// CHECK: %[[N:.*]] = plan.dim input 0, 1
// CHECK: %[[M:.*]] = plan.dim input 0, 0
// CHECK: %[[C32:.*]] = arith.constant 32 : index
// CHECK: %[[G:.*]] = arith.ceildivui %[[N]], %[[C32]]
// CHECK: plan.launch @turn({{.*}} lines "" rows %[[G]] tile 0
// CHECK: plan.launch @sums({{.*}} lines "" rows %[[N]] tile 0
// CHECK: plan.copy
// CHECK: plan.launch @turn({{.*}} tile 1
// CHECK: %[[C256:.*]] = arith.constant 256 : index
// CHECK: arith.ceildivui %[[M]], %[[C256]]
// CHECK: %[[B:.*]] = arith.maxsi
// CHECK: plan.launch @total({{.*}} lines "" rows %[[B]] tile 1
plan.program @turned inputs [tensor<?x?xf32>] outputs [] {
^bb0(%x: !plan.buffer<f32>):
  %n = plan.dim input 0, 1
  %m = plan.dim input 0, 0
  %c1 = arith.constant 1 : index
  %e = arith.muli %n, %m : index
  %a = plan.alloc %e : <f32>
  plan.launch @turn(%x, %a : !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m) over %e work %c1 lines ""
  %s = plan.alloc %n : <f32>
  plan.launch @sums(%a, %s : !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m) over %n work %m lines ""
  %k = plan.alloc %e : <f32>
  plan.copy %a to %k : <f32>, <f32>
  %b = plan.alloc %e : <f32>
  plan.launch @turn(%k, %b : !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m) over %e work %c1 lines ""
  %r = plan.alloc %c1 : <f32>
  plan.launch @total(%b, %r : !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n, %m) over %c1 work %e lines ""
  plan.return sizes()
}
