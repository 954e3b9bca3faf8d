// Maps: whole vectors over the range of items, one masked vector for the rest; one element without a loop for devices.
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

#line = affine_map<(d0)[s0] -> (d0)>
#size = affine_map<()[s0] -> (s0)>

// Arguments: flat buffers, sizes, the range of items. The main loop has no mask.
// CHECK-LABEL: func.func @map(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[R:.*]]: memref<?xf32>, %[[N:.*]]: index, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK-SAME: graphc.buffers = 2 : i64, graphc.cost = 700 : i64, graphc.counted, graphc.family = "map", graphc.inputs = 1 : i64, graphc.kernel
// CHECK: %[[LENGTH:.*]] = arith.subi %[[END]], %[[BEGIN]]
// CHECK: %[[W:.*]] = arith.constant 16 : index
// CHECK: %[[COUNT:.*]] = arith.divui %[[LENGTH]], %[[W]]
// CHECK: %[[WHOLE:.*]] = arith.muli %[[COUNT]], %[[W]]
// CHECK: %[[STOP:.*]] = arith.addi %[[BEGIN]], %[[WHOLE]]
// CHECK: scf.for %[[I:.*]] = %[[BEGIN]] to %[[STOP]] step %[[W]] {
// CHECK-NEXT: %[[A:.*]] = vector.load %[[X]][%[[I]]] : memref<?xf32>, vector<16xf32>
// CHECK-NEXT: %[[B:.*]] = graph.neg %[[A]] : vector<16xf32>
// CHECK-NEXT: vector.store %[[B]], %[[R]][%[[I]]] : memref<?xf32>, vector<16xf32>
// CHECK: arith.addi %[[I]], %c512
// CHECK: memref.prefetch %[[X]][%{{.*}}], read, locality<3>, data
// CHECK-NEXT: }
// CHECK: %[[SOME:.*]] = arith.cmpi slt, %[[STOP]], %[[END]]
// CHECK: scf.if %[[SOME]] {
// CHECK-NEXT: %[[LEFT:.*]] = arith.subi %[[END]], %[[STOP]]
// CHECK-NEXT: %[[MASK:.*]] = vector.create_mask %[[LEFT]] : vector<16xi1>
// CHECK: %[[C:.*]] = vector.maskedload %[[X]][%[[STOP]]], %[[MASK]]
// CHECK: %[[D:.*]] = graph.neg %[[C]] : vector<16xf32>
// CHECK: vector.maskedstore %[[R]][%[[STOP]]], %[[MASK]], %[[D]]
// CHECK: return
kernel.func @map(%x: tensor<?xf32>, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 16, cost = 700>, shapes = [#size, #size]} {
  %a = kernel.load %x at #line : tensor<?xf32> -> f32
  %b = graph.neg %a : f32
  kernel.store %b, result 0 at #line : f32
  kernel.return
}

// A tensor of one element is read before the loops: a result might lie there.
// CHECK-LABEL: func.func @single(
// CHECK-SAME: %{{.*}}: memref<?xf32>, %[[D:.*]]: memref<?xf32>, %{{.*}}: memref<?xf32>, %{{.*}}: index,
// CHECK: memref.load %[[D]][%{{.*}}] : memref<?xf32>
// CHECK: scf.for
// CHECK-NOT: memref.load
// CHECK: return
kernel.func @single(%x: tensor<?xf32>, %d: tensor<f32>, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 16, cost = 700>, shapes = [#size, affine_map<()[s0] -> ()>, #size]} {
  %a = kernel.load %x at #line : tensor<?xf32> -> f32
  %b = kernel.load %d at affine_map<(d0)[s0] -> ()> : tensor<f32> -> f32
  %c = graph.div %a, %b : f32
  kernel.store %c, result 0 at #line : f32
  kernel.return
}

// A long body stands there once: every vector has a mask, what lies past the end is not written.
// CHECK-LABEL: func.func @once(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[R:.*]]: memref<?xf32>, %{{.*}}: index, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK: scf.for %[[I:.*]] = %[[BEGIN]] to %[[END]] step
// CHECK: %[[LEFT:.*]] = arith.subi %[[END]], %[[I]]
// CHECK: %[[MASK:.*]] = vector.create_mask %[[LEFT]] : vector<16xi1>
// CHECK: vector.maskedload %[[X]][%[[I]]], %[[MASK]]
// CHECK: graph.neg
// CHECK-NOT: graph.neg
// CHECK: vector.maskedstore %[[R]][%[[I]]], %[[MASK]]
// CHECK-NOT: graph.neg
// CHECK: return
kernel.func @once(%x: tensor<?xf32>, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 1>, graphc.once, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 16, cost = 700>, shapes = [#size, #size]} {
  %a = kernel.load %x at #line : tensor<?xf32> -> f32
  %b = graph.neg %a : f32
  kernel.store %b, result 0 at #line : f32
  kernel.return
}

// CHECK-LABEL: func.func @item(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[R:.*]]: memref<?xf32>, %{{.*}}: index, %[[I:.*]]: index, %{{.*}}: index)
// CHECK-NEXT: %[[A:.*]] = memref.load %[[X]][%[[I]]] : memref<?xf32>
// CHECK-NEXT: %[[B:.*]] = graph.neg %[[A]] : f32
// CHECK-NEXT: memref.store %[[B]], %[[R]][%[[I]]] : memref<?xf32>
// CHECK-NEXT: return
kernel.func @item(%x: tensor<?xf32>, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 1, cost = 700>, shapes = [#size, #size]} {
  %a = kernel.load %x at #line : tensor<?xf32> -> f32
  %b = graph.neg %a : f32
  kernel.store %b, result 0 at #line : f32
  kernel.return
}

// Adjacent dimensions that every access walks as one are one loop.
// CHECK-LABEL: func.func @merged(
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK-NOT: arith.remui
// CHECK: return
kernel.func @merged(%x: tensor<?x4x8xf32>, %n: index) -> tensor<?x4x8xf32>
    attributes {domain = #kernel.domain<()[s0] -> (s0, 4, 8), parallel = 3>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 16, cost = 700>,
                shapes = [affine_map<()[s0] -> (s0, 4, 8)>, affine_map<()[s0] -> (s0, 4, 8)>]} {
  %a = kernel.load %x at affine_map<(d0, d1, d2)[s0] -> (d0, d1, d2)> : tensor<?x4x8xf32> -> f32
  kernel.store %a, result 0 at affine_map<(d0, d1, d2)[s0] -> (d0, d1, d2)> : f32
  kernel.return
}

// Other walks stay loops: the first row, which may begin anywhere, the whole ones and the last, in one body with what
// rows of a kind share before it; then vectors within a row. What is equal in all lanes stays a scalar.
// CHECK-LABEL: func.func @broadcast(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32>, %[[R:.*]]: memref<?xf32>, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK: %[[ROW:.*]] = arith.constant 1000 : index
// CHECK: %[[FIRST:.*]] = arith.divui %[[BEGIN]], %[[ROW]]
// CHECK: %[[LAST:.*]] = arith.ceildivui %[[END]], %[[ROW]]
// CHECK: scf.for %[[PART:.*]] = %{{.*}} to %{{.*}} step
// CHECK: %[[HIGH:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : index
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
// CHECK: scf.for %[[J:.*]] =
// CHECK-DAG: vector.load %[[X]][
// CHECK-DAG: %[[S:.*]] = memref.load %[[Y]][%[[I]]] : memref<?xf32>
// CHECK-DAG: vector.broadcast %[[S]] : f32 to vector<16xf32>
// CHECK: vector.store
kernel.func @broadcast(%x: tensor<7x1000xf32>, %y: tensor<7xf32>) -> tensor<7x1000xf32>
    attributes {domain = #kernel.domain<() -> (7, 1000), parallel = 2>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 16, cost = 700>,
                shapes = [affine_map<() -> (7, 1000)>, affine_map<() -> (7)>, affine_map<() -> (7, 1000)>]} {
  %a = kernel.load %x at affine_map<(d0, d1) -> (d0, d1)> : tensor<7x1000xf32> -> f32
  %b = kernel.load %y at affine_map<(d0, d1) -> (d0)> : tensor<7xf32> -> f32
  %c = graph.add %a, %b : f32
  kernel.store %c, result 0 at affine_map<(d0, d1) -> (d0, d1)> : f32
  kernel.return
}

// Places that stay along a row are checked once for it, and a row some further on is asked for. Rows of at most half a
// register are one vector of half a register.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[P:.*]]: memref<?xi64>, %[[X:.*]]: memref<?xf32>, %[[R:.*]]: memref<?xf32>,
// CHECK: scf.for %{{.*}}
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[PLACE:.*]] = memref.load %[[P]][%[[I]]] : memref<?xi64>
// CHECK: arith.cmpi uge
// CHECK: %[[AHEAD:.*]] = arith.minsi
// CHECK: memref.load %[[P]][%[[AHEAD]]] : memref<?xi64>
// CHECK: memref.prefetch %[[X]]
// CHECK: scf.if
// CHECK-NOT: memref.load %[[P]]
// CHECK: vector.maskedstore %[[R]]{{.*}} vector<4xf32>
// CHECK-NOT: memref.load %[[P]]
// CHECK: vector.store %{{.*}}, %[[R]]{{.*}} vector<16xf32>
// CHECK-NOT: memref.load %[[P]]
// CHECK: return
kernel.func @rows(%p: tensor<?xi64>, %x: tensor<?x?xf32>, %n: index, %h: index, %w: index) -> tensor<?x?xf32>
    attributes {domain = #kernel.domain<()[s0, s1, s2] -> (s0, s2), parallel = 2>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 16, cost = 700>,
                shapes = [affine_map<()[s0, s1, s2] -> (s0)>, affine_map<()[s0, s1, s2] -> (s1, s2)>,
                          affine_map<()[s0, s1, s2] -> (s0, s2)>]} {
  %i = kernel.load %p at affine_map<(d0, d1)[s0, s1, s2] -> (d0)> : tensor<?xi64> -> i64
  %at = kernel.bound %i below affine_map<(d0, d1)[s0, s1, s2] -> (s1)> site 0
  %a = kernel.gather %x[%at] at affine_map<(d0, d1, d2)[s0, s1, s2] -> (d2, d1)> : tensor<?x?xf32> -> f32
  kernel.store %a, result 0 at affine_map<(d0, d1)[s0, s1, s2] -> (d0, d1)> : f32
  kernel.return
}

// Lanes a short step apart are picked from all elements between the first and the last; in the rest those that are
// beyond the end are masked off.
// CHECK-LABEL: func.func @strided(
// CHECK: scf.for
// CHECK: %[[AT:.*]] = vector.load %{{.*}}[%[[I:.*]]]
// CHECK: %[[LOW:.*]] = vector.shuffle %[[AT]], %[[AT]] [4, 6, 2, 3]
// CHECK: %[[J:.*]] = arith.addi %[[I]], %c3
// CHECK: %[[END:.*]] = vector.load %{{.*}}[%[[J]]]
// CHECK: vector.shuffle %[[LOW]], %[[END]] [0, 1, 5, 7]
// CHECK: vector.store
// CHECK: scf.if
// CHECK: %[[LEFT:.*]] = arith.subi
// CHECK: vector.create_mask %[[LEFT]]
// CHECK: arith.minsi %[[LEFT]], %c4
// CHECK: %[[FIRST:.*]] = vector.create_mask
// CHECK: vector.maskedload %{{.*}}, %[[FIRST]],
// CHECK: vector.shuffle {{.*}} [4, 6, 2, 3]
// CHECK: %[[SECOND:.*]] = vector.create_mask
// CHECK: vector.maskedload %{{.*}}, %[[SECOND]],
// CHECK: vector.shuffle {{.*}} [0, 1, 5, 7]
// CHECK: vector.maskedstore
kernel.func @strided(%x: tensor<64xf32>) -> tensor<32xf32>
    attributes {domain = #kernel.domain<() -> (32), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 4, cost = 700>, shapes = [affine_map<() -> (64)>, affine_map<() -> (32)>]} {
  %a = kernel.load %x at affine_map<(d0) -> (d0 * 2 + 1)> : tensor<64xf32> -> f32
  kernel.store %a, result 0 at affine_map<(d0) -> (d0)> : f32
  kernel.return
}

// bool is a byte in memory, unsigned types lose their sign there.
// CHECK-LABEL: func.func @memory_types(
// CHECK-SAME: memref<?xi16>, %[[R:.*]]: memref<?xi8>
// CHECK: %[[A:.*]] = memref.load %{{.*}} : memref<?xi16>
// CHECK: %[[U:.*]] = graph.cast %[[A]] : i16 -> ui16
// CHECK: %[[B:.*]] = graph.less %[[U]], %[[U]] : ui16
// CHECK: %[[C:.*]] = graph.cast %[[B]] : i1 -> i8
// CHECK: memref.store %[[C]], %[[R]]
kernel.func @memory_types(%x: tensor<?xui16>, %n: index) -> tensor<?xi1>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 1, cost = 700>, shapes = [#size, #size]} {
  %a = kernel.load %x at #line : tensor<?xui16> -> ui16
  %b = graph.less %a, %a : ui16
  kernel.store %b, result 0 at #line : i1
  kernel.return
}

// The numbers of the lanes.
// CHECK-LABEL: func.func @index(
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[F:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK: %[[S:.*]] = arith.constant dense<[0, 1, 2, 3]> : vector<4xi64>
// CHECK: %[[V:.*]] = vector.broadcast %[[F]] : i64 to vector<4xi64>
// CHECK: arith.addi %[[V]], %[[S]] : vector<4xi64>
kernel.func @index(%n: index) -> tensor<?xi64>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 4, cost = 700>, shapes = [#size]} {
  %a = kernel.index #line
  kernel.store %a, result 0 at #line : i64
  kernel.return
}

// Several outer loops are counted on from run to run: one division for the first, none in the loop.
// CHECK-LABEL: func.func @runs(
// CHECK: arith.remui
// CHECK: scf.for %{{.*}} iter_args(%[[FROM:.*]] = %{{.*}}, %[[AND:.*]] = %{{.*}}) -> (index, index) {
// CHECK: scf.for %{{.*}} iter_args(%[[I:.*]] = %[[FROM]], %[[J:.*]] = %[[AND]]) -> (index, index) {
// CHECK-NOT: arith.remui
// CHECK: %[[MORE:.*]] = arith.addi %[[J]], %{{.*}} : index
// CHECK: %[[WRAPS:.*]] = arith.cmpi eq, %[[MORE]], %{{.*}} : index
// CHECK: %[[NEXT:.*]] = arith.select %[[WRAPS]], %{{.*}}, %[[MORE]] : index
// CHECK: %[[ON:.*]] = arith.addi %[[I]], %{{.*}} : index
// CHECK: %[[OUTER:.*]] = arith.select %[[WRAPS]], %[[ON]], %[[I]] : index
// CHECK: scf.yield %[[OUTER]], %[[NEXT]] : index, index
kernel.func @runs(%x: tensor<7x9xf32>) -> tensor<9x7x80xf32>
    attributes {domain = #kernel.domain<() -> (9, 7, 80), parallel = 3>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 16, cost = 700>,
                shapes = [affine_map<() -> (7, 9)>, affine_map<() -> (9, 7, 80)>]} {
  %a = kernel.load %x at affine_map<(d0, d1, d2) -> (d1, d0)> : tensor<7x9xf32> -> f32
  kernel.store %a, result 0 at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : f32
  kernel.return
}

// Stores whose lanes alternate become whole vectors, each of two, masked in the rest.
// CHECK-LABEL: func.func @alternate(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[R:.*]]: memref<?xf32>
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[A:.*]] = vector.load %[[X]][%[[I]]] : memref<?xf32>, vector<4xf32>
// CHECK: %[[B:.*]] = graph.neg %[[A]] : vector<4xf32>
// CHECK: %[[FROM:.*]] = arith.muli %[[I]], %{{.*}} : index
// CHECK: %[[LOW:.*]] = vector.shuffle %[[A]], %[[B]] [0, 4, 1, 5] : vector<4xf32>, vector<4xf32>
// CHECK: %[[HIGH:.*]] = vector.shuffle %[[A]], %[[B]] [2, 6, 3, 7] : vector<4xf32>, vector<4xf32>
// CHECK: vector.store %[[LOW]], %[[R]][%[[FROM]]] : memref<?xf32>, vector<4xf32>
// CHECK: %[[NEXT:.*]] = arith.addi %[[FROM]], %{{.*}} : index
// CHECK: vector.store %[[HIGH]], %[[R]][%[[NEXT]]] : memref<?xf32>, vector<4xf32>
// CHECK: scf.if
// CHECK-COUNT-2: vector.maskedstore %[[R]][%{{.*}}], %{{.*}}, %{{.*}} : memref<?xf32>, vector<4xi1>, vector<4xf32>
kernel.func @alternate(%x: tensor<?xf32>, %n: index) -> tensor<?x2xf32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 4, cost = 700>, shapes = [#size, affine_map<()[s0] -> (s0, 2)>]} {
  %a = kernel.load %x at #line : tensor<?xf32> -> f32
  %b = graph.neg %a : f32
  kernel.store %a, result 0 at affine_map<(d0)[s0] -> (d0, 0)> : f32
  kernel.store %b, result 0 at affine_map<(d0)[s0] -> (d0, 1)> : f32
  kernel.return
}

// Three parts, a, -a, a: the first two, then the third one where it belongs.
// CHECK-LABEL: func.func @alternate_three(
// CHECK: %[[A:.*]] = vector.load
// CHECK: %[[B:.*]] = graph.neg %[[A]]
// CHECK: %[[TWO:.*]] = vector.shuffle %[[A]], %[[B]] [0, 4, 0, 1]
// CHECK: %[[FIRST:.*]] = vector.shuffle %[[TWO]], %[[A]] [0, 1, 4, 3]
// CHECK: vector.store %[[FIRST]]
// CHECK-COUNT-2: vector.store {{.*}} : memref<?xf32>, vector<4xf32>
// CHECK-COUNT-3: vector.maskedstore
kernel.func @alternate_three(%x: tensor<?xf32>, %n: index) -> tensor<?x3xf32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 4, cost = 700>, shapes = [#size, affine_map<()[s0] -> (s0, 3)>]} {
  %a = kernel.load %x at #line : tensor<?xf32> -> f32
  %b = graph.neg %a : f32
  kernel.store %a, result 0 at affine_map<(d0)[s0] -> (d0, 0)> : f32
  kernel.store %b, result 0 at affine_map<(d0)[s0] -> (d0, 1)> : f32
  kernel.store %a, result 0 at affine_map<(d0)[s0] -> (d0, 2)> : f32
  kernel.return
}

// Not neighbours: element 1 is missing. What lies between the lanes is left alone.
// CHECK-LABEL: func.func @apart(
// CHECK: vector.shuffle %[[X:.*]], %[[X]] [0, 0, 0, 1]
// CHECK: dense<[true, false, false, true]>
// CHECK: vector.maskedstore
// CHECK: dense<[false, false, true, false]>
// CHECK: vector.maskedstore
// CHECK: dense<[false, false, false, true]>
// CHECK: vector.maskedstore
kernel.func @apart(%x: tensor<?xf32>, %n: index) -> tensor<?x3xf32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 4, cost = 700>, shapes = [#size, affine_map<()[s0] -> (s0, 3)>]} {
  %a = kernel.load %x at #line : tensor<?xf32> -> f32
  kernel.store %a, result 0 at affine_map<(d0)[s0] -> (d0, 0)> : f32
  kernel.store %a, result 0 at affine_map<(d0)[s0] -> (d0, 2)> : f32
  kernel.return
}

// Nine streams: none is asked for ahead.
// CHECK-LABEL: func.func @nine_streams(
// CHECK-NOT: memref.prefetch
// CHECK: return
kernel.func @nine_streams(%x: tensor<?xf32>, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 16, cost = 700>, shapes = [affine_map<()[s0] -> (9 * s0)>, #size]} {
  %0 = kernel.load %x at affine_map<(d0)[s0] -> (d0)> : tensor<?xf32> -> f32
  %1 = kernel.load %x at affine_map<(d0)[s0] -> (d0 + 1 * s0)> : tensor<?xf32> -> f32
  %s1 = graph.add %0, %1 : f32
  %2 = kernel.load %x at affine_map<(d0)[s0] -> (d0 + 2 * s0)> : tensor<?xf32> -> f32
  %s2 = graph.add %s1, %2 : f32
  %3 = kernel.load %x at affine_map<(d0)[s0] -> (d0 + 3 * s0)> : tensor<?xf32> -> f32
  %s3 = graph.add %s2, %3 : f32
  %4 = kernel.load %x at affine_map<(d0)[s0] -> (d0 + 4 * s0)> : tensor<?xf32> -> f32
  %s4 = graph.add %s3, %4 : f32
  %5 = kernel.load %x at affine_map<(d0)[s0] -> (d0 + 5 * s0)> : tensor<?xf32> -> f32
  %s5 = graph.add %s4, %5 : f32
  %6 = kernel.load %x at affine_map<(d0)[s0] -> (d0 + 6 * s0)> : tensor<?xf32> -> f32
  %s6 = graph.add %s5, %6 : f32
  %7 = kernel.load %x at affine_map<(d0)[s0] -> (d0 + 7 * s0)> : tensor<?xf32> -> f32
  %s7 = graph.add %s6, %7 : f32
  %8 = kernel.load %x at affine_map<(d0)[s0] -> (d0 + 8 * s0)> : tensor<?xf32> -> f32
  %s8 = graph.add %s7, %8 : f32
  kernel.store %s8, result 0 at #line : f32
  kernel.return
}
