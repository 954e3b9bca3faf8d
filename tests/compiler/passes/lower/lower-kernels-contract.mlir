// Products: tiles of 6 rows by 4 vectors in registers, k in pieces of 512, fma chains of 2048, four chains a run
// (docs/numerics.md).
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

#x = affine_map<(d0, d1, d2)[s0, s1, s2] -> (d0, d2)>
#y = affine_map<(d0, d1, d2)[s0, s1, s2] -> (d2, d1)>
#z = affine_map<(d0, d1, d2)[s0, s1, s2] -> (d0, d1)>

// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32>, %[[R:.*]]: memref<?xf32>, %[[M:[^:]*]]: index, %[[N:[^:]*]]: index, %[[K:[^:]*]]: index, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index, %[[SCRATCH:.*]]: memref<?xi8>)
// CHECK-SAME: graphc.scratch = 7028736
// The packed panel, then sums, runs and totals of 352 row tiles by four strips.
// CHECK: %[[PACKED:.*]] = memref.view %[[SCRATCH]]
// CHECK: %[[SUMS:.*]] = memref.view %[[SCRATCH]]
// CHECK: memref.view %[[SCRATCH]]
// CHECK: memref.view %[[SCRATCH]]
// CHECK: %[[ROWTILES:.*]] = arith.ceildivui %[[M]], %{{.*}} : index
// CHECK: %[[STRIPS:.*]] = arith.ceildivui %[[N]], %{{.*}} : index
// A few rows and columns: three rows of each chain of a run, with what is left of the run by the chains that have more.
// CHECK: scf.if
// CHECK: vector.create_mask
// CHECK: scf.for {{.*}} %c8192
// CHECK: %{{.*}}:12 = scf.for
// CHECK-COUNT-12: graph.fma {{.*}} : vector<16xf32>
// CHECK: %{{.*}}:9 = scf.for
// CHECK-COUNT-9: graph.fma {{.*}} : vector<16xf32>
// CHECK: %{{.*}}:6 = scf.for
// CHECK-COUNT-6: graph.fma {{.*}} : vector<16xf32>
// CHECK: %{{.*}}:3 = scf.for
// CHECK-COUNT-3: graph.fma {{.*}} : vector<16xf32>
// CHECK-NOT: graph.fma
// CHECK-COUNT-3: vector.maskedstore %{{.*}}, %{{.*}} : memref<?xf32>
// CHECK: } else {
// Whole strips are packed row by row when that pays, a strip with an edge always, as many vectors as have columns.
// CHECK: scf.if
// CHECK-NOT: vector.create_mask
// CHECK-COUNT-4: vector.store %{{.*}}, %[[PACKED]]
// CHECK: vector.create_mask
// CHECK: vector.maskedload %[[Y]]
// CHECK: vector.store %{{.*}}, %[[PACKED]]
// A tile reads the packed strip or the operand itself.
// CHECK: %[[SOURCE:.*]] = arith.select %{{.*}}, %[[PACKED]], %[[Y]] : memref<?xf32>
// A whole tile: 24 accumulators, no mask.
// CHECK: scf.if
// CHECK: %{{.*}}:24 = scf.if
// CHECK-COUNT-24: vector.load %[[SUMS]]
// The rows of the next tile are asked for once a segment of k.
// CHECK: %{{.*}}:24 = scf.for
// CHECK-COUNT-6: memref.prefetch %[[X]]
// CHECK: %{{.*}}:24 = scf.for
// CHECK-NOT: vector.create_mask
// CHECK-COUNT-4: vector.load %[[SOURCE]]
// CHECK-COUNT-24: graph.fma {{.*}} : vector<16xf32>
// CHECK-NOT: graph.fma
// Done after one piece of k: straight from the registers.
// CHECK: scf.if
// CHECK-COUNT-24: vector.store %{{.*}}, %[[R]]
// CHECK: } else {
// CHECK-COUNT-24: vector.store %{{.*}}, %[[SUMS]]
// An edge: six rows by one vector at a time.
// CHECK: %{{.*}}:6 = scf.for
// CHECK-COUNT-6: graph.fma {{.*}} : vector<16xf32>
// CHECK-NOT: graph.fma
// The first chain of a run starts it, the first run starts the total; then the results, masked.
// CHECK: graph.add {{.*}} : vector<16xf32>
// CHECK: arith.select
// CHECK: graph.add {{.*}} : vector<16xf32>
// CHECK: arith.select
// CHECK: vector.create_mask
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

#v = affine_map<(d0, d1)[s0, s1] -> (d1)>
#av = affine_map<(d0, d1)[s0, s1] -> (d0, d1)>
#va = affine_map<(d0, d1)[s0, s1] -> (d1, d0)>
#w = affine_map<(d0, d1)[s0, s1] -> (d0)>

// A vector times a matrix: rows of the matrix are added to sums of columns, eight rows in a pass. Few columns stay in
// a register for each of four chains.
// CHECK-LABEL: func.func @stream(
// CHECK-SAME: %[[V:[^:]*]]: memref<?xf32>, %[[A:[^:]*]]: memref<?xf32>, %[[R:[^:]*]]: memref<?xf32>
// CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
// CHECK-COUNT-4: graph.fma {{.*}} : vector<16xf32>
// CHECK: %{{.*}}:3 = scf.for
// CHECK: %{{.*}}:2 = scf.for
// CHECK: scf.for {{.*}} -> (vector<16xf32>) {
// CHECK: vector.maskedstore %[[R]]
// CHECK: } else {
// CHECK-COUNT-8: memref.load %[[V]]
// CHECK: scf.for
// CHECK-NOT: vector.create_mask
// CHECK-COUNT-8: graph.fma {{.*}} : vector<16xf32>
// CHECK-NOT: graph.fma
// CHECK: vector.create_mask
// CHECK: vector.store %{{.*}}, %[[R]]
// CHECK: vector.maskedstore %[[R]]
// CHECK: return
kernel.func @stream(%x: tensor<?xf32>, %y: tensor<?x?xf32>, %n: index, %k: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<contract, vector = 16, cost = 320>,
                shapes = [affine_map<()[s0, s1] -> (s1)>, affine_map<()[s0, s1] -> (s1, s0)>, affine_map<()[s0, s1] -> (s0)>]} {
  %a = kernel.load %x at #v : tensor<?xf32> -> f32
  %b = kernel.load %y at #va : tensor<?x?xf32> -> f32
  %s = kernel.dot %a, %b : f32
  kernel.store %s, result 0 at #w : f32
  kernel.return
}

// A matrix times a vector: blocks of 16 by 16 are read along k and turned in registers, while what the next 16 columns
// read is asked for; of what is left of k as much is added as there is. At the last columns the blocks lie further back,
// and of their sums those are stored that were not yet.
// CHECK-LABEL: func.func @lanes(
// CHECK-SAME: %[[A:[^:]*]]: memref<?xf32>, %[[V:[^:]*]]: memref<?xf32>, %[[R:[^:]*]]: memref<?xf32>
// CHECK-SAME: graphc.scratch = 128
// CHECK: %[[TOTALS:.*]] = memref.view
// CHECK: scf.for {{.*}} -> (vector<16xf32>) {
// CHECK-COUNT-16: memref.prefetch %[[A]]
// CHECK-NOT: memref.prefetch
// CHECK-COUNT-16: vector.load %[[A]]
// CHECK-COUNT-64: vector.shuffle
// CHECK-NOT: vector.shuffle
// CHECK-COUNT-16: graph.fma {{.*}} : vector<16xf32>
// CHECK-NOT: graph.fma
// CHECK: scf.if
// CHECK-NOT: vector.load
// CHECK-COUNT-16: vector.maskedload %[[A]]
// CHECK-COUNT-63: vector.shuffle
// CHECK-COUNT-15: graph.fma {{.*}} : vector<16xf32>
// CHECK-NOT: graph.fma
// CHECK: vector.store %{{.*}}, %[[TOTALS]]
// CHECK: vector.load %[[TOTALS]]
// CHECK: vector.maskedstore %[[R]]
// CHECK-NOT: vector.gather
// CHECK: return
kernel.func @lanes(%x: tensor<?x?xf32>, %y: tensor<?xf32>, %n: index, %k: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<contract, vector = 16, cost = 320>,
                shapes = [affine_map<()[s0, s1] -> (s0, s1)>, affine_map<()[s0, s1] -> (s1)>, affine_map<()[s0, s1] -> (s0)>]} {
  %a = kernel.load %x at #av : tensor<?x?xf32> -> f32
  %b = kernel.load %y at #v : tensor<?xf32> -> f32
  %s = kernel.dot %a, %b : f32
  kernel.store %s, result 0 at #w : f32
  kernel.return
}

// Two vectors of sums side by side, each of which would wait for its own last one.
// CHECK-LABEL: func.func @lanes_wide(
// CHECK-SAME: %[[A:[^:]*]]: memref<?xf64>,
// CHECK: scf.for {{.*}} iter_args(%[[S:.*]] = %{{.*}}, %[[T:.*]] = %{{.*}}) -> (vector<8xf64>, vector<8xf64>) {
// CHECK-COUNT-8: vector.load %[[A]]
// CHECK-COUNT-24: vector.shuffle
// CHECK: graph.fma %{{.*}}, %{{.*}}, %[[S]] : vector<8xf64>
// CHECK-COUNT-7: graph.fma
// CHECK-COUNT-8: vector.load %[[A]]
// CHECK-COUNT-24: vector.shuffle
// CHECK: graph.fma %{{.*}}, %{{.*}}, %[[T]] : vector<8xf64>
// CHECK-COUNT-7: graph.fma
// CHECK: return
kernel.func @lanes_wide(%x: tensor<?x?xf64>, %y: tensor<?xf64>, %n: index, %k: index) -> tensor<?xf64>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<contract, vector = 8, cost = 320>,
                shapes = [affine_map<()[s0, s1] -> (s0, s1)>, affine_map<()[s0, s1] -> (s1)>, affine_map<()[s0, s1] -> (s0)>]} {
  %a = kernel.load %x at #av : tensor<?x?xf64> -> f64
  %b = kernel.load %y at #v : tensor<?xf64> -> f64
  %s = kernel.dot %a, %b : f64
  kernel.store %s, result 0 at #w : f64
  kernel.return
}
