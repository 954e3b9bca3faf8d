// The lane tree: 256 lanes, blocks of 8192, lanes fold by halves, block results by the same tree (docs/numerics.md).
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

#point = affine_map<(d0, d1)[s0, s1] -> (d0, d1)>
#row = affine_map<(d0, d1)[s0, s1] -> (d0)>
#extents = affine_map<()[s0, s1] -> (s0, s1)>
#rows = affine_map<()[s0, s1] -> (s0)>

// CHECK-LABEL: func.func @sum(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[R:.*]]: memref<?xf32>, %[[P:.*]]: memref<?xf32>, %{{.*}}: index, %[[K:.*]]: index, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<256xf32>
// Rows of up to 32 elements have a form of their own.
// CHECK: arith.cmpi ule, %[[K]]
// CHECK: scf.if
// CHECK: func.call @sum_short(%[[X]], %[[R]], %[[P]],
// CHECK: } else {
// CHECK: %[[BLOCK:.*]] = arith.constant 8192 : index
// CHECK: arith.ceildivui %[[K]], %[[BLOCK]]
// CHECK: scf.for %[[ITEM:.*]] = %[[BEGIN]] to %[[END]]
// CHECK: %[[ROW:.*]] = arith.divui %[[ITEM]]
// Rows of lanes are added in order, from the identity of addition.
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (vector<16xf32>)
// CHECK: %[[A:.*]] = vector.load %[[X]]
// CHECK: %[[S:.*]] = graph.add %[[ACC]], %[[A]] : vector<16xf32>
// CHECK: scf.yield %[[S]]
// Absent lanes of the last row keep what they had.
// CHECK: scf.if
// CHECK: %[[MASK:.*]] = vector.create_mask
// CHECK: vector.maskedload %[[X]]
// CHECK: %[[T:.*]] = graph.add
// CHECK: arith.select %[[MASK]], %[[T]],
// Halves from 128 on, where all lanes are present without loops; otherwise in memory down to the vector's width; then
// within the vector.
// CHECK: scf.if {{.*}} -> (vector<16xf32>)
// CHECK-COUNT-16: vector.load %alloca
// CHECK-COUNT-15: graph.add {{.*}} : vector<16xf32>
// CHECK: } else {
// CHECK: %[[HALF:.*]] = arith.constant 128 : index
// CHECK: arith.shrui %[[HALF]]
// CHECK: vector.extract_strided_slice %{{.*}} {offsets = [0], sizes = [8], strides = [1]}
// CHECK: vector.extract_strided_slice %{{.*}} {offsets = [8], sizes = [8], strides = [1]}
// CHECK: graph.add {{.*}} : vector<8xf32>
// CHECK: graph.add {{.*}} : vector<4xf32>
// CHECK: graph.add {{.*}} : vector<2xf32>
// CHECK: graph.add {{.*}} : f32
// A sum of nothing is +0, and so is one of negative zeros.
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[RESULT:.*]] = arith.addf %{{.*}}, %[[ZERO]] : f32
// CHECK: memref.store %[[RESULT]], %[[R]][%[[ROW]]]
// CHECK: memref.store %{{.*}}, %[[P]][%[[ITEM]]]
// Lanes are rows, whose elements are loaded one by one, and fold by halves of 16.
// CHECK-LABEL: func.func private @sum_short(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[R:.*]]: memref<?xf32>, %{{.*}}: memref<?xf32>,
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<512xf32>
// CHECK-COUNT-16: memref.load %[[X]]
// CHECK: vector.from_elements
// CHECK: graph.add {{.*}} : vector<16xf32>
// CHECK: vector.maskedstore %[[R]]
kernel.func @sum(%x: tensor<?x?xf32>, %n: index, %k: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<rows, vector = 16, cost = 700>, shapes = [#extents, #rows]} {
  %a = kernel.load %x at #point : tensor<?x?xf32> -> f32
  %s = kernel.reduce <sum> %a : f32 -> f32
  kernel.store %s, result 0 at #row : f32
  kernel.return
}

// One lane: the same tree, no vector.
// CHECK-LABEL: func.func @sum_item(
// CHECK-NOT: vector.
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (f32)
// CHECK: arith.constant 128 : index
// CHECK-NOT: vector.
// CHECK: return
kernel.func @sum_item(%x: tensor<?x?xf32>, %n: index, %k: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<rows, vector = 1, cost = 700>, shapes = [#extents, #rows]} {
  %a = kernel.load %x at #point : tensor<?x?xf32> -> f32
  %s = kernel.reduce <sum> %a : f32 -> f32
  kernel.store %s, result 0 at #row : f32
  kernel.return
}

// A reduction that needs another comes after it and visits the row again; so does what is stored for every point. The
// exponential is computed once: it waits in the thread's scratch memory, in the result where rows are long. The next row is
// asked for where this one takes longest.
// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[R:.*]]: memref<?xf32>{{.*}}, %[[SCRATCH:.*]]: memref<?xi8>)
// CHECK: %[[FITS:.*]] = arith.cmpi sge
// CHECK: %[[OWN:.*]] = memref.view %[[SCRATCH]]
// CHECK: } else {
// CHECK: vector.load %[[X]]
// CHECK-NOT: memref.prefetch
// CHECK: graph.maximum {{.*}} : vector<16xf32>
// CHECK: vector.load %[[X]]
// CHECK: graph.sub {{.*}} : vector<16xf32>
// CHECK: %[[E:.*]] = graph.exp {{.*}} : vector<16xf32>
// CHECK: %[[M:.*]] = arith.select %[[FITS]], %[[OWN]], %[[R]] : memref<?xf32>
// CHECK: vector.store %[[E]], %[[M]]
// CHECK: memref.prefetch %[[X]]
// CHECK: graph.add {{.*}} : vector<16xf32>
// CHECK: vector.maskedstore %{{.*}}
// CHECK: %[[M2:.*]] = arith.select %[[FITS]], %[[OWN]], %[[R]] : memref<?xf32>
// CHECK: %[[KEPT:.*]] = vector.load %[[M2]]
// CHECK-NOT: graph.exp
// CHECK: %[[Q:.*]] = graph.div %[[KEPT]], {{.*}} : vector<16xf32>
// CHECK: vector.store %[[Q]], %[[R]]
// CHECK: vector.maskedload
// CHECK: vector.maskedstore %[[R]]
// CHECK: return
kernel.func @softmax(%x: tensor<?x?xf32>, %n: index, %k: index) -> tensor<?x?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<rows, vector = 16, cost = 700>, shapes = [#extents, #extents]} {
  %a = kernel.load %x at #point : tensor<?x?xf32> -> f32
  %m = kernel.reduce <max> %a : f32 -> f32
  %c = graph.sub %a, %m : f32
  %e = graph.exp %c : f32
  %s = kernel.reduce <sum> %e : f32 -> f32
  %r = graph.div %e, %s : f32
  kernel.store %r, result 0 at #point : f32
  kernel.return
}

// Value and place. Within a lane elements come in order and are numbered in the element's width. Of all lanes the value is
// found first, then the first of its places, which no lane has where there is no element. Across blocks the index decides.
// CHECK-LABEL: func.func @argmax(
// CHECK-DAG: %[[VALUES:.*]] = memref.alloca() : memref<256xi32>
// CHECK-DAG: %[[NUMBERS:.*]] = memref.alloca() : memref<256xi32>
// CHECK-NOT: memref<256xi64>
// CHECK-DAG: arith.constant -2147483648 : i32
// CHECK: scf.for {{.*}} -> (i32, i32)
// CHECK: %[[NEW:.*]] = graph.greater
// CHECK: arith.select %[[NEW]]
// CHECK: arith.select %[[NEW]]
// CHECK: %[[BEST:.*]] = scf.for {{.*}} -> (i32) {
// CHECK: graph.greater
// CHECK: %[[PLACE:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[NONE:.*]]) -> (i32) {
// CHECK: %[[TIE:.*]] = graph.equal %{{.*}}, %[[BEST]]
// CHECK: %[[HERE:.*]] = arith.select %[[TIE]], %{{.*}}, %[[NONE]]
// CHECK: arith.minsi %{{.*}}, %[[HERE]]
// CHECK: arith.cmpi eq, %[[PLACE]], %[[NONE]]
// CHECK: arith.constant 9223372036854775807 : i64
// CHECK-LABEL: func.func @argmax_fold(
// CHECK: %[[EARLIER:.*]] = graph.less {{.*}} : i64
// CHECK: %[[EQUAL:.*]] = graph.equal
// CHECK: %[[BETTER:.*]] = graph.greater
// CHECK: %[[TIED:.*]] = arith.andi %[[EQUAL]], %[[EARLIER]]
// CHECK: arith.ori %[[BETTER]], %[[TIED]]
kernel.func @argmax(%x: tensor<?x?xi32>, %n: index, %k: index) -> tensor<?xi64>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<rows, vector = 1, cost = 700>, shapes = [#extents, #rows]} {
  %a = kernel.load %x at #point : tensor<?x?xi32> -> i32
  %s = kernel.reduce <argmax> %a : i32 -> i64
  kernel.store %s, result 0 at #row : i64
  kernel.return
}
