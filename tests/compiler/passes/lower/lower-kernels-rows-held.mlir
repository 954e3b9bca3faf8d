// Rows are read in the order in which they lie where registers hold all lanes of the tree.
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s
// RUN: graphc-opt %s --graphc-lower-kernels=reads-ahead=true --cse | FileCheck %s --check-prefixes=CHECK,NEAR

#point = affine_map<(d0, d1)[s0, s1] -> (d0, d1)>
#row = affine_map<(d0, d1)[s0, s1] -> (d0)>
#extents = affine_map<()[s0, s1] -> (s0, s1)>
#rows = affine_map<()[s0, s1] -> (s0)>

// CHECK-LABEL: func.func @held(
// CHECK-NOT: memref<256xf32>
// Four strips of 64 lanes are a row.
// CHECK: scf.for {{.*}} -> (vector<64xf32>, vector<64xf32>, vector<64xf32>, vector<64xf32>)
// NEAR-NOT: prefetch
// CHECK-COUNT-4: vector.load
// CHECK: scf.yield {{.*}} : vector<64xf32>, vector<64xf32>, vector<64xf32>, vector<64xf32>
// The last row by strips of which some lanes are present, and the fold of all lanes, of which absent ones hold the identity.
// CHECK-COUNT-4: vector.maskedload
// CHECK-COUNT-3: graph.add {{.*}} : vector<64xf32>
// CHECK: graph.add {{.*}} : vector<32xf32>
// CHECK: memref.store
kernel.func @held(%x: tensor<?x?xf32>, %n: index, %k: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<rows, vector = 64, cost = 700>, shapes = [#extents, #rows]} {
  %a = kernel.load %x at #point : tensor<?x?xf32> -> f32
  %s = kernel.reduce <sum> %a : f32 -> f32
  kernel.store %s, result 0 at #row : f32
  kernel.return
}

// Registers hold no 256 lanes of float64: they wait in memory, where the machine follows what is read in order.
// CHECK-LABEL: func.func @wide(
// NEAR: %[[LONG:.*]] = arith.constant 1024 : index
// NEAR: arith.cmpi sge, %{{.*}}, %[[LONG]]
// NEAR: scf.for
// NEAR: scf.for
// NEAR: scf.for
// NEAR: vector.load %arg0
// NEAR: vector.load %alloca
// NEAR: graph.add {{.*}} : vector<32xf64>
// NEAR: vector.store %{{.*}}, %alloca
// NEAR: } else {
// CHECK: scf.for {{.*}} -> (vector<32xf64>) {
kernel.func @wide(%x: tensor<?x?xf64>, %n: index, %k: index) -> tensor<?xf64>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<rows, vector = 32, cost = 700>, shapes = [#extents, #rows]} {
  %a = kernel.load %x at #point : tensor<?x?xf64> -> f64
  %s = kernel.reduce <sum> %a : f64 -> f64
  kernel.store %s, result 0 at #row : f64
  kernel.return
}

// A function is computed by other registers.
// CHECK-LABEL: func.func @busy(
// CHECK-NOT: vector<64xf32>, vector<64xf32>, vector<64xf32>
// CHECK: return
kernel.func @busy(%x: tensor<?x?xf32>, %n: index, %k: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<rows, vector = 64, cost = 700>, shapes = [#extents, #rows]} {
  %a = kernel.load %x at #point : tensor<?x?xf32> -> f32
  %e = graph.exp %a : f32
  %s = kernel.reduce <sum> %e : f32 -> f32
  kernel.store %s, result 0 at #row : f32
  kernel.return
}
