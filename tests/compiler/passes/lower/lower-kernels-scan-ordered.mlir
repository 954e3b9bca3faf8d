// Scans whose pieces begin in order: a piece scans its blocks, tells their results and keeps their values; then it waits for
// what precedes them, and stores.
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

#point = affine_map<(d0)[s0] -> (d0)>

// CHECK-LABEL: func.func @along(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[R:.*]]: memref<?xf32>, %[[WORDS:.*]]: memref<?xi64>, %[[N:.*]]: index, %[[BEGIN:.*]]: index, %[[END:.*]]: index, %[[SCRATCH:.*]]: memref<?xi8>)
// CHECK-SAME: graphc.piece = 8 : i64, graphc.scratch = 131520 : i64
// CHECK-DAG: %[[YIELDS:.*]] = memref.view %[[SCRATCH]]{{.*}} to memref<?xi64>
// CHECK-DAG: %[[KEPT:.*]] = memref.view %[[SCRATCH]][%c448{{.*}} to memref<?xf32>
// CHECK: scf.if
// Who has to ask looks at all the words that it would wait for, and waits for none.
// CHECK: %[[KNOWS:.*]] = scf.if %{{.*}} -> (i1) {
// CHECK: } else {
// CHECK: memref.load %[[WORDS]]{{.*}} {graphc.volatile}
// CHECK-NOT: scf.while
// CHECK: scf.yield %{{.*}} : i1
// Who knows what precedes its blocks stores them as they are scanned.
// CHECK: scf.if %[[KNOWS]] {
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step {{.*}} iter_args
// CHECK: scf.while
// CHECK-NOT: vector.store %{{.*}}, %[[KEPT]]
// CHECK: vector.load %[[X]]
// CHECK: vector.store %{{.*}}, %[[R]]
// CHECK: memref.store %{{.*}}, %[[WORDS]]{{.*}} {graphc.volatile}
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step
// CHECK: vector.load %[[X]]
// CHECK: vector.store %{{.*}}, %[[KEPT]]
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step
// CHECK: memref.store %{{.*}}, %[[WORDS]]{{.*}} {graphc.volatile}
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step {{.*}} iter_args
// CHECK: scf.while
// CHECK: memref.load %[[WORDS]]{{.*}} {graphc.volatile}
// CHECK: llvm.x86.sse2.pause
// CHECK: memref.load %[[YIELDS]]
// CHECK: llvm.call %{{.*}}() : !llvm.ptr, () -> ()
// CHECK: vector.load %[[KEPT]]
// CHECK: vector.store %{{.*}}, %[[R]]
// CHECK: vector.maskedstore %[[R]]
// A line of one block.
// CHECK: } else {
// CHECK-NOT: %[[WORDS]]
// CHECK-NOT: %[[KEPT]]
// CHECK: vector.store %{{.*}}, %[[R]]
// CHECK: return
// CHECK-LABEL: func.func @along_clear(
// CHECK: memref.store %c0{{.*}}, %arg2[
// CHECK-NOT: func.func @along_
kernel.func @along(%x: tensor<?xf32>, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 0>, inits = array<i64: -1>, graphc.handed,
                schedule = #kernel.schedule<scan, vector = 64, cost = 700>,
                shapes = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>]} {
  %a = kernel.load %x at #point : tensor<?xf32> -> f32
  %s = kernel.scan <sum> %a : f32
  kernel.store %s, result 0 at #point : f32
  kernel.return
}

// Columns, and lines that fit one block, tell nobody anything.
// CHECK-LABEL: func.func @short(
// CHECK-NOT: graphc.volatile
// CHECK: return
kernel.func @short(%x: tensor<100xf32>) -> tensor<100xf32>
    attributes {domain = #kernel.domain<() -> (100), parallel = 0>, inits = array<i64: -1>, graphc.handed,
                schedule = #kernel.schedule<scan, vector = 64, cost = 700>,
                shapes = [affine_map<() -> (100)>, affine_map<() -> (100)>]} {
  %a = kernel.load %x at affine_map<(d0) -> (d0)> : tensor<100xf32> -> f32
  %s = kernel.scan <sum> %a : f32
  kernel.store %s, result 0 at affine_map<(d0) -> (d0)> : f32
  kernel.return
}
