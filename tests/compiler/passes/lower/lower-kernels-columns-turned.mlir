// A reduction by the row tree of an operand that lies along the rows: blocks of 8 by 8 are read as they lie and turned in
// registers, where the sums are too. What has fewer rows or columns is masked.
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

#along = affine_map<(d0, d1)[s0, s1] -> (d0, d1)>
#across = affine_map<(d0, d1)[s0, s1] -> (d1, d0)>
#column = affine_map<(d0, d1)[s0, s1] -> (d0)>

// CHECK-LABEL: func.func @along(
// CHECK-SAME: %[[X:[^:]*]]: memref<?xf64>, %[[R:[^:]*]]: memref<?xf64>, %[[P:[^:]*]]: memref<?xf64>
// CHECK-NOT: memref<1024xf64>
// CHECK: %[[KEPT:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64xf64>
// Groups of 32 rows, of which 8 are a block.
// CHECK: %[[GROUPS:.*]] = scf.for {{.*}} step %c32 iter_args(%[[TOTAL:.*]] = {{.*}}) -> (vector<8xf64>)
// CHECK: %[[GROUP:.*]] = scf.for {{.*}} step %c8 iter_args({{.*}}) -> (vector<8xf64>)
// CHECK: scf.if
// CHECK-COUNT-8: vector.load %[[X]]
// CHECK-COUNT-24: vector.shuffle {{.*}} : vector<8xf64>, vector<8xf64>
// CHECK-NOT: vector.shuffle
// CHECK-COUNT-8: graph.add
// Columns outside are the last one again.
// CHECK: } else {
// CHECK: arith.minsi
// CHECK-COUNT-8: vector.maskedload %[[X]]
// CHECK-COUNT-24: vector.shuffle
// CHECK-COUNT-8: vector.store {{.*}}, %[[KEPT]]
// CHECK: scf.for
// CHECK: vector.load %[[KEPT]]
// CHECK: graph.add
// CHECK: graph.add %[[TOTAL]], %[[GROUP]]
// CHECK: vector.maskedstore %[[R]]
// CHECK: vector.maskedstore %[[P]]
// CHECK-LABEL: func.func @along_fold(
kernel.func @along(%x: tensor<?x?xf64>, %n: index, %k: index) -> tensor<?xf64>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<columns, vector = 8, cost = 700>,
                shapes = [affine_map<()[s0, s1] -> (s0, s1)>, affine_map<()[s0, s1] -> (s0)>]} {
  %a = kernel.load %x at #along : tensor<?x?xf64> -> f64
  %s = kernel.reduce <sum> %a row_tree : f64 -> f64
  kernel.store %s, result 0 at #column : f64
  kernel.return
}

// Beside an operand that lies across them rows stream past many columns; a work-item of a device has a column.
// CHECK-LABEL: func.func @mixed(
// CHECK: memref<2048xf64>
// CHECK-LABEL: func.func @item(
// CHECK-NOT: vector
// CHECK: return
kernel.func @mixed(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>, %n: index, %k: index) -> tensor<?xf64>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<columns, vector = 8, cost = 700>,
                shapes = [affine_map<()[s0, s1] -> (s0, s1)>, affine_map<()[s0, s1] -> (s1, s0)>, affine_map<()[s0, s1] -> (s0)>]} {
  %a = kernel.load %x at #along : tensor<?x?xf64> -> f64
  %b = kernel.load %y at #across : tensor<?x?xf64> -> f64
  %p = graph.mul %a, %b : f64
  %s = kernel.reduce <sum> %p row_tree : f64 -> f64
  kernel.store %s, result 0 at #column : f64
  kernel.return
}

kernel.func @item(%x: tensor<?x?xf64>, %n: index, %k: index) -> tensor<?xf64>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<columns, vector = 1, cost = 700>,
                shapes = [affine_map<()[s0, s1] -> (s0, s1)>, affine_map<()[s0, s1] -> (s0)>]} {
  %a = kernel.load %x at #along : tensor<?x?xf64> -> f64
  %s = kernel.reduce <sum> %a row_tree : f64 -> f64
  kernel.store %s, result 0 at #column : f64
  kernel.return
}
