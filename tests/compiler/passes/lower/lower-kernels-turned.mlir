// A map that reads along another loop than it writes along: blocks of 16 by 16 are read as they lie and turned in
// registers, what is left over goes element by element.
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

#row = affine_map<(d0, d1)[s0, s1] -> (d0, d1)>
#turned = affine_map<(d0, d1)[s0, s1] -> (d1, d0)>

// CHECK-LABEL: func.func @turn(
// CHECK-SAME: %[[X:[^:]*]]: memref<?xf32>, %[[Y:[^:]*]]: memref<?xf32>, %[[R:[^:]*]]: memref<?xf32>
// CHECK-SAME: graphc.tiles
// CHECK: scf.if
// CHECK: memref.prefetch %[[X]]
// CHECK-COUNT-16: vector.load %[[X]]
// CHECK-COUNT-64: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK-NOT: vector.shuffle
// CHECK: vector.load %[[Y]]
// CHECK: vector.store %{{.*}}, %[[R]]
// CHECK: } else {
// CHECK-NOT: vector
// CHECK: memref.load %[[X]]
// CHECK: memref.store %{{.*}}, %[[R]]
// CHECK: return
kernel.func @turn(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 2>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 16, cost = 700>,
                shapes = [affine_map<()[s0, s1] -> (s1, s0)>, affine_map<()[s0, s1] -> (s0, s1)>, affine_map<()[s0, s1] -> (s0, s1)>]} {
  %a = kernel.load %x at #turned : tensor<?x?xf32> -> f32
  %b = kernel.load %y at #row : tensor<?x?xf32> -> f32
  %s = graph.add %a, %b : f32
  kernel.store %s, result 0 at #row : f32
  kernel.return
}

// Devices keep an element an item.
// CHECK-LABEL: func.func @item(
// CHECK-NOT: graphc.tiles
// CHECK-NOT: vector
// CHECK: return
kernel.func @item(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 2>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 1, cost = 700>,
                shapes = [affine_map<()[s0, s1] -> (s1, s0)>, affine_map<()[s0, s1] -> (s0, s1)>]} {
  %a = kernel.load %x at #turned : tensor<?x?xf32> -> f32
  kernel.store %a, result 0 at #row : f32
  kernel.return
}

// An expensive body is not repeated for every line of a block: turned blocks wait for a loop over the lines, and at the
// edges the lanes outside are masked off.
// CHECK-LABEL: func.func @expensive(
// CHECK-SAME: %[[X:[^:]*]]: memref<?xf32>, %[[R:[^:]*]]: memref<?xf32>
// CHECK: %[[WAIT:.*]] = memref.alloca() {alignment = 64 : i64} : memref<256xf32>
// CHECK: scf.if
// CHECK-COUNT-16: vector.load %[[X]]
// CHECK-COUNT-64: vector.shuffle
// CHECK-COUNT-16: vector.store %{{.*}}, %[[WAIT]]
// CHECK: scf.for
// CHECK: vector.load %[[WAIT]]
// CHECK: graph.exp
// CHECK: vector.store %{{.*}}, %[[R]]
// CHECK: } else {
// CHECK-COUNT-16: vector.maskedload %[[X]]
// CHECK: graph.exp
// CHECK: vector.maskedstore %[[R]]
// CHECK-NOT: graph.exp
// CHECK: return
kernel.func @expensive(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 2>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 16, cost = 700>,
                shapes = [affine_map<()[s0, s1] -> (s1, s0)>, affine_map<()[s0, s1] -> (s0, s1)>]} {
  %a = kernel.load %x at #turned : tensor<?x?xf32> -> f32
  %e = graph.exp %a : f32
  kernel.store %e, result 0 at #row : f32
  kernel.return
}
