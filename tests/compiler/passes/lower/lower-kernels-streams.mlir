// A sum over two operands. A machine that follows them by itself gets row after row and is told the next strip; another one
// four rows of a strip at a time, and what is 2 KiB ahead.
// RUN: graphc-opt %s --graphc-lower-kernels=reads-ahead=true | FileCheck %s --check-prefixes=CHECK,NEAR
// RUN: graphc-opt %s --graphc-lower-kernels | FileCheck %s --check-prefixes=CHECK,FAR
// RUN: graphc-opt %s --graphc-lower-kernels="reads-ahead=true bytes-ahead=8192" | FileCheck %s --check-prefix=BYTES

// CHECK-LABEL: func.func @sum(
// FAR: %[[ROWS:.*]] = arith.constant 4 : index
// FAR: scf.for {{.*}} step %[[ROWS]]
// NEAR-NOT: arith.constant 4 : index
// CHECK: vector.load
// CHECK: vector.load
// NEAR: %[[AHEAD:.*]] = arith.constant 64 : index
// FAR: %[[AHEAD:.*]] = arith.constant 512 : index
// CHECK-NEXT: arith.addi %{{.*}}, %[[AHEAD]]
// CHECK: memref.prefetch
// CHECK: return
#extents = affine_map<()[s0] -> (s0)>
#point = affine_map<(d0)[s0] -> (d0)>
#one = affine_map<()[s0] -> ()>
#all = affine_map<(d0)[s0] -> ()>
kernel.func @sum(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index) -> tensor<f32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 0>, inits = array<i64: -1>,
                schedule = #kernel.schedule<full, vector = 64, cost = 700>, shapes = [#extents, #extents, #one]} {
  %a = kernel.load %x at #point : tensor<?xf32> -> f32
  %b = kernel.load %y at #point : tensor<?xf32> -> f32
  %p = graph.mul %a, %b : f32
  %s = kernel.reduce <sum> %p : f32 -> f32
  kernel.store %s, result 0 at #all : f32
  kernel.return
}

// Of a row that is visited twice the next one is fetched meanwhile, into the second cache or the first.
// CHECK-LABEL: func.func @norm(
// NEAR: memref.prefetch {{.*}} locality<2>
// FAR: memref.prefetch {{.*}} locality<3>
// CHECK: return
#rows = affine_map<()[s0, s1] -> (s0, s1)>
#cell = affine_map<(d0, d1)[s0, s1] -> (d0, d1)>
kernel.func @norm(%x: tensor<?x?xf32>, %n: index, %k: index) -> tensor<?x?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<rows, vector = 64, cost = 700>, shapes = [#rows, #rows]} {
  %a = kernel.load %x at #cell : tensor<?x?xf32> -> f32
  %s = kernel.reduce <sum> %a : f32 -> f32
  %d = graph.sub %a, %s : f32
  kernel.store %d, result 0 at #cell : f32
  kernel.return
}

// One operand that is read straight on is not asked for where the machine follows it.
// CHECK-LABEL: func.func @place(
// NEAR-NOT: memref.prefetch
// FAR: memref.prefetch
// CHECK: return
// A machine that looks less far ahead the more is done with an element is told what 8 KiB are ahead, in the first cache, but
// where registers of float32 are added.
// BYTES-LABEL: func.func @place(
// BYTES: arith.constant 2048 : index
// BYTES-NEXT: arith.addi
// BYTES: memref.prefetch {{.*}} locality<3>
// BYTES: return
kernel.func @place(%x: tensor<?xf32>, %n: index) -> tensor<i64>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 0>, inits = array<i64: -1>,
                schedule = #kernel.schedule<full, vector = 64, cost = 700>, shapes = [#extents, #one]} {
  %a = kernel.load %x at #point : tensor<?xf32> -> f32
  %p = kernel.reduce <argmax> %a : f32 -> i64
  kernel.store %p, result 0 at #all : i64
  kernel.return
}

// BYTES-LABEL: func.func @largest(
// BYTES: arith.constant 2048 : index
// BYTES-NEXT: arith.addi
// BYTES: memref.prefetch {{.*}} locality<3>
// BYTES: return
kernel.func @largest(%x: tensor<?xf32>, %n: index) -> tensor<f32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 0>, inits = array<i64: -1>,
                schedule = #kernel.schedule<full, vector = 64, cost = 700>, shapes = [#extents, #one]} {
  %a = kernel.load %x at #point : tensor<?xf32> -> f32
  %m = kernel.reduce <max> %a : f32 -> f32
  kernel.store %m, result 0 at #all : f32
  kernel.return
}

// BYTES-LABEL: func.func @single(
// BYTES-NOT: memref.prefetch
// BYTES-LABEL: func.func @single_fold(
kernel.func @single(%x: tensor<?xf32>, %n: index) -> tensor<f32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 0>, inits = array<i64: -1>,
                schedule = #kernel.schedule<full, vector = 64, cost = 700>, shapes = [#extents, #one]} {
  %a = kernel.load %x at #point : tensor<?xf32> -> f32
  %s = kernel.reduce <sum> %a : f32 -> f32
  kernel.store %s, result 0 at #all : f32
  kernel.return
}

// BYTES-LABEL: func.func @wide(
// BYTES: arith.constant 1024 : index
// BYTES-NEXT: arith.addi
// BYTES: memref.prefetch {{.*}} locality<3>
// BYTES: return
kernel.func @wide(%x: tensor<?xf64>, %n: index) -> tensor<f64>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 0>, inits = array<i64: -1>,
                schedule = #kernel.schedule<full, vector = 32, cost = 700>, shapes = [#extents, #one]} {
  %a = kernel.load %x at #point : tensor<?xf64> -> f64
  %s = kernel.reduce <sum> %a : f64 -> f64
  kernel.store %s, result 0 at #all : f64
  kernel.return
}

// The next row of a variance is fetched while the second sum reads, as nothing reads afterwards. Where rows may have fewer
// bytes than such a machine is asked ahead for it is a later one, and vectors that are masked ask for it as well.
// CHECK-LABEL: func.func @variance(
// NEAR: memref.prefetch {{.*}} locality<2>
// FAR: memref.prefetch {{.*}} locality<3>
// CHECK: return
// BYTES-LABEL: func.func @variance(
// BYTES: arith.divui %c2048
// BYTES: memref.prefetch {{.*}} locality<2>
// BYTES: vector.maskedload
// BYTES: vector.maskedload
// BYTES: memref.prefetch {{.*}} locality<2>
// BYTES: return
kernel.func @variance(%x: tensor<?x?xf32>, %n: index, %k: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<rows, vector = 64, cost = 700>,
                shapes = [#rows, affine_map<()[s0, s1] -> (s0)>]} {
  %a = kernel.load %x at #cell : tensor<?x?xf32> -> f32
  %s = kernel.reduce <sum> %a : f32 -> f32
  %d = graph.sub %a, %s : f32
  %q = graph.mul %d, %d : f32
  %v = kernel.reduce <sum> %q : f32 -> f32
  kernel.store %v, result 0 at affine_map<(d0, d1)[s0, s1] -> (d0)> : f32
  kernel.return
}

// Rows that are sums of products ask by masked vectors alone, and for rows, which need not lie one after the other; what all
// rows share is not asked for.
// BYTES-LABEL: func.func @weighed(
// BYTES: %[[SKIPPED:.*]] = arith.divui %c2048
// BYTES: vector.maskedload %arg0
// BYTES: arith.addi %{{.*}}, %[[SKIPPED]]
// BYTES-COUNT-4: memref.prefetch %arg0{{.*}} locality<3>
// BYTES-NOT: memref.prefetch %arg1{{.*}} locality<3>
// BYTES: vector.maskedload %arg0
// BYTES-COUNT-4: memref.prefetch %arg0{{.*}} locality<3>
// BYTES: return
kernel.func @weighed(%x: tensor<?x?xf32>, %w: tensor<?xf32>, %n: index, %k: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<rows, vector = 64, cost = 700>,
                shapes = [#rows, affine_map<()[s0, s1] -> (s1)>, affine_map<()[s0, s1] -> (s0)>]} {
  %a = kernel.load %x at #cell : tensor<?x?xf32> -> f32
  %b = kernel.load %w at affine_map<(d0, d1)[s0, s1] -> (d1)> : tensor<?xf32> -> f32
  %p = graph.mul %a, %b : f32
  %s = kernel.reduce <sum> %p : f32 -> f32
  kernel.store %s, result 0 at affine_map<(d0, d1)[s0, s1] -> (d0)> : f32
  kernel.return
}

// Where the machine sees one operand alone coming, the next eight rows of columns are asked for.
// CHECK-LABEL: func.func @columns(
// NEAR: scf.for {{.*}} -> (vector<64xf32>)
// NEAR: vector.load
// NEAR: scf.if
// NEAR-NEXT: %[[ROWS:.*]] = arith.constant 8 : index
// NEAR: arith.addi %{{.*}}, %[[ROWS]]
// NEAR-COUNT-4: memref.prefetch {{.*}} locality<2>
// FAR-NOT: memref.prefetch
// CHECK: return
kernel.func @columns(%x: tensor<?x?xf32>, %n: index, %k: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<columns, vector = 64, cost = 700>,
                shapes = [affine_map<()[s0, s1] -> (s1, s0)>, affine_map<()[s0, s1] -> (s0)>]} {
  %a = kernel.load %x at affine_map<(d0, d1)[s0, s1] -> (d1, d0)> : tensor<?x?xf32> -> f32
  %s = kernel.reduce <sum> %a row_tree : f32 -> f32
  kernel.store %s, result 0 at affine_map<(d0, d1)[s0, s1] -> (d0)> : f32
  kernel.return
}

// Of neighbours and rows of one tensor those further on are asked for, which the others read after them.
// CHECK-LABEL: func.func @stencil(
// CHECK-COUNT-4: vector.load
// FAR: memref.prefetch
// CHECK-NOT: memref.prefetch
// CHECK: return
kernel.func @stencil(%x: tensor<?x?xf32>, %n: index, %k: index) -> tensor<?x?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1 - 2), parallel = 2>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 16, cost = 700>,
                shapes = [affine_map<()[s0, s1] -> (s0 + 2, s1)>, affine_map<()[s0, s1] -> (s0, s1 - 2)>]} {
  %a = kernel.load %x at affine_map<(d0, d1)[s0, s1] -> (d0 + 1, d1)> : tensor<?x?xf32> -> f32
  %b = kernel.load %x at affine_map<(d0, d1)[s0, s1] -> (d0 + 1, d1 + 2)> : tensor<?x?xf32> -> f32
  %c = kernel.load %x at affine_map<(d0, d1)[s0, s1] -> (d0, d1 + 1)> : tensor<?x?xf32> -> f32
  %d = kernel.load %x at affine_map<(d0, d1)[s0, s1] -> (d0 + 2, d1 + 1)> : tensor<?x?xf32> -> f32
  %e = graph.add %a, %b : f32
  %f = graph.add %c, %d : f32
  %g = graph.add %e, %f : f32
  kernel.store %g, result 0 at affine_map<(d0, d1)[s0, s1] -> (d0, d1)> : f32
  kernel.return
}

// A map that such a machine follows is asked ahead for only where its result passes the caches by.
// CHECK-LABEL: func.func @map(
// CHECK: vector.store {{.*}}nontemporal = true
// CHECK-NEXT: } else {
// NEAR: scf.if
// FAR-NOT: scf.if
// CHECK: memref.prefetch
// CHECK: return
kernel.func @map(%x: tensor<?xf32>, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 1>, inits = array<i64: -1>, graphc.last_read = array<i1: true>,
                schedule = #kernel.schedule<map, vector = 16, cost = 700>, shapes = [#extents, #extents]} {
  %a = kernel.load %x at #point : tensor<?xf32> -> f32
  %b = graph.mul %a, %a : f32
  kernel.store %b, result 0 at #point : f32
  kernel.return
}

// Complex results pass the caches as well; with two operands as large, from 40 MiB together: 873,813 elements of 48 bytes.
// CHECK-LABEL: func.func @pairs(
// CHECK: arith.constant 873813 : index
// CHECK: vector.store {{.*}}nontemporal = true{{.*}}vector<16xf64>
// CHECK: return
kernel.func @pairs(%x: tensor<?xcomplex<f64>>, %y: tensor<?xcomplex<f64>>, %n: index) -> tensor<?xcomplex<f64>>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 1>, inits = array<i64: -1>, graphc.last_read = array<i1: true>,
                schedule = #kernel.schedule<map, vector = 8, cost = 700>, shapes = [#extents, #extents, #extents]} {
  %a = kernel.load %x at #point part 0 : tensor<?xcomplex<f64>> -> f64
  %b = kernel.load %y at #point part 1 : tensor<?xcomplex<f64>> -> f64
  kernel.store %a imaginary %b : f64, result 0 at #point : f64
  kernel.return
}
