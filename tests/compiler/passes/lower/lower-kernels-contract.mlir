// Products: tiles of 6 rows by 4 vectors in registers, fma chains of 2048, four chains a run (docs/numerics.md).
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

#x = affine_map<(d0, d1, d2)[s0, s1, s2] -> (d0, d2)>
#y = affine_map<(d0, d1, d2)[s0, s1, s2] -> (d2, d1)>
#z = affine_map<(d0, d1, d2)[s0, s1, s2] -> (d0, d1)>

// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32>, %[[R:.*]]: memref<?xf32>, %[[M:[^:]*]]: index, %[[N:[^:]*]]: index, %[[K:[^:]*]]: index, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK: scf.for %[[ITEM:.*]] = %[[BEGIN]] to %[[END]]
// CHECK: %[[ROWS:.*]] = arith.constant 6 : index
// CHECK: %[[ROWTILES:.*]] = arith.ceildivui %[[M]], %[[ROWS]]
// CHECK: %[[COLUMNS:.*]] = arith.constant 64 : index
// CHECK: arith.ceildivui %[[N]], %[[COLUMNS]]
// Row tiles vary fastest.
// CHECK: arith.remui %[[ITEM]], %[[ROWTILES]]
// A whole tile has 24 accumulators and no mask.
// CHECK: scf.if
// CHECK-NOT: vector.create_mask
// CHECK: %[[CHAIN:.*]] = arith.constant 2048 : index
// CHECK: arith.ceildivui %[[K]], %[[CHAIN]]
// CHECK: %{{.*}}:48 = scf.for
// CHECK: %{{.*}}:24 = scf.for
// CHECK-NOT: vector.create_mask
// CHECK-COUNT-24: graph.fma {{.*}} : vector<16xf32>
// CHECK-NOT: graph.fma
// CHECK: scf.yield
// The first chain of a run starts it, the first run starts the sum.
// CHECK: %[[THREE:.*]] = arith.constant 3 : index
// CHECK: %[[PLACE:.*]] = arith.andi %{{.*}}, %[[THREE]]
// CHECK: arith.cmpi eq, %[[PLACE]], %{{.*}} : index
// CHECK: %{{.*}}:24 = scf.if
// CHECK-COUNT-24: graph.add {{.*}} : vector<16xf32>
// CHECK-COUNT-24: graph.add {{.*}} : vector<16xf32>
// CHECK-COUNT-24: vector.store %{{.*}}, %[[R]]
// Edges: a row and a masked vector at a time.
// CHECK: } else {
// CHECK: vector.create_mask
// CHECK: vector.maskedload %[[Y]]
// CHECK: graph.fma {{.*}} : vector<16xf32>
// CHECK-NOT: graph.fma
// CHECK: vector.maskedstore %[[R]]
// CHECK: return
kernel.func @product(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %m: index, %n: index, %k: index) -> tensor<?x?xf32>
    attributes {domain = #kernel.domain<()[s0, s1, s2] -> (s0, s1, s2), parallel = 2>, inits = array<i64: -1>,
                schedule = #kernel.schedule<contract, vector = 16, cost = 700>,
                shapes = [affine_map<()[s0, s1, s2] -> (s0, s2)>, affine_map<()[s0, s1, s2] -> (s2, s1)>, affine_map<()[s0, s1, s2] -> (s0, s1)>]} {
  %a = kernel.load %x at #x : tensor<?x?xf32> -> f32
  %b = kernel.load %y at #y : tensor<?x?xf32> -> f32
  %s = kernel.dot %a, %b : f32
  kernel.store %s, result 0 at #z : f32
  kernel.return
}

// Devices: 4 by 4 elements an item, no vector.
// CHECK-LABEL: func.func @product_item(
// CHECK-NOT: vector.
// CHECK: %{{.*}}:16 = scf.for
// CHECK-COUNT-16: graph.fma {{.*}} : f64
// CHECK-NOT: vector.
// CHECK: return
kernel.func @product_item(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>, %m: index, %n: index, %k: index) -> tensor<?x?xf64>
    attributes {domain = #kernel.domain<()[s0, s1, s2] -> (s0, s1, s2), parallel = 2>, inits = array<i64: -1>,
                schedule = #kernel.schedule<contract, vector = 1, cost = 700>,
                shapes = [affine_map<()[s0, s1, s2] -> (s0, s2)>, affine_map<()[s0, s1, s2] -> (s2, s1)>, affine_map<()[s0, s1, s2] -> (s0, s1)>]} {
  %a = kernel.load %x at #x : tensor<?x?xf64> -> f64
  %b = kernel.load %y at #y : tensor<?x?xf64> -> f64
  %s = kernel.dot %a, %b : f64
  kernel.store %s, result 0 at #z : f64
  kernel.return
}

// The epilogue runs on the finished accumulators; bool is or of ands.
// CHECK-LABEL: func.func @bools(
// CHECK: arith.andi {{.*}} : i1
// CHECK: arith.ori {{.*}} : i1
// CHECK-NOT: graph.fma
// CHECK: graph.logical_not
// CHECK: memref.store
// CHECK: return
kernel.func @bools(%x: tensor<?x?xi1>, %y: tensor<?x?xi1>, %m: index, %n: index, %k: index) -> tensor<?x?xi1>
    attributes {domain = #kernel.domain<()[s0, s1, s2] -> (s0, s1, s2), parallel = 2>, inits = array<i64: -1>,
                schedule = #kernel.schedule<contract, vector = 1, cost = 700>,
                shapes = [affine_map<()[s0, s1, s2] -> (s0, s2)>, affine_map<()[s0, s1, s2] -> (s2, s1)>, affine_map<()[s0, s1, s2] -> (s0, s1)>]} {
  %a = kernel.load %x at #x : tensor<?x?xi1> -> i1
  %b = kernel.load %y at #y : tensor<?x?xi1> -> i1
  %s = kernel.dot %a, %b : i1
  %t = graph.logical_not %s : i1
  kernel.store %t, result 0 at #z : i1
  kernel.return
}
