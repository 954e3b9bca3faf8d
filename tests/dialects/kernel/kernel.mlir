// Every op and attribute of the kernel dialect reads back what it printed.
// RUN: graphc-opt %s | graphc-opt | FileCheck %s
// RUN: graphc-opt %s --mlir-print-op-generic | graphc-opt | FileCheck %s

#elements = affine_map<(d0, d1)[s0] -> (d0, d1)>
#rows = affine_map<(d0, d1)[s0] -> (d0)>
#extents = affine_map<()[s0] -> (s0, 8)>
#first = affine_map<()[s0] -> (s0)>

// CHECK-DAG: [[$ELEMENTS:#.*]] = affine_map<(d0, d1)[s0] -> (d0, d1)>
// CHECK-DAG: [[$ROWS:#.*]] = affine_map<(d0, d1)[s0] -> (d0)>
// CHECK-DAG: [[$EXTENTS:#.*]] = affine_map<()[s0] -> (s0, 8)>
// CHECK-DAG: [[$FIRST:#.*]] = affine_map<()[s0] -> (s0)>
// CHECK-LABEL: kernel.func @rows
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>, %{{.*}}: index) -> (tensor<?xf32>, tensor<?x8xf32>)
// CHECK-SAME: domain = #kernel.domain<()[s0] -> (s0, 8), parallel = 1>
// CHECK-SAME: inits = array<i64: -1, 0>
// CHECK-SAME: schedule = #kernel.schedule<rows, vector = 16, cost = 700>
// CHECK-SAME: shapes = [[[$EXTENTS]], [[$FIRST]], [[$EXTENTS]]]
// CHECK: %[[A:.*]] = kernel.load %[[X]] at [[$ELEMENTS]] : tensor<?x8xf32> -> f32
// CHECK: %[[I:.*]] = kernel.index
// CHECK: %[[F:.*]] = graph.cast %[[I]] : i64 -> f32
// CHECK: %[[M:.*]] = graph.mul %[[A]], %[[F]] : f32
// CHECK: %[[S:.*]] = kernel.reduce <sum> %[[M]] : f32 -> f32
// CHECK: kernel.store %[[S]], result 0 at [[$ROWS]] : f32
// CHECK: kernel.store %[[M]], result 1 at [[$ELEMENTS]] : f32
// CHECK: kernel.return
kernel.func @rows(%x: tensor<?x8xf32>, %n: index) -> (tensor<?xf32>, tensor<?x8xf32>)
    attributes {domain = #kernel.domain<()[s0] -> (s0, 8), parallel = 1>, inits = array<i64: -1, 0>,
                schedule = #kernel.schedule<rows, vector = 16, cost = 700>, shapes = [#extents, #first, #extents]} {
  %a = kernel.load %x at #elements : tensor<?x8xf32> -> f32
  %i = kernel.index affine_map<(d0, d1)[s0] -> (d0 * 8 + d1)>
  %f = graph.cast %i : i64 -> f32
  %m = graph.mul %a, %f : f32
  %s = kernel.reduce <sum> %m : f32 -> f32
  kernel.store %s, result 0 at #rows : f32
  kernel.store %m, result 1 at #elements : f32
  kernel.return
}

// CHECK-LABEL: kernel.func @columns
// CHECK: kernel.reduce <argmax> %{{.*}} row_tree : f32 -> i64
kernel.func @columns(%x: tensor<4x8xf32>) -> tensor<8xi64>
    attributes {domain = #kernel.domain<() -> (8, 4), parallel = 1>, inits = array<i64: -1>,
                shapes = [affine_map<() -> (4, 8)>, affine_map<() -> (8)>]} {
  %a = kernel.load %x at affine_map<(d0, d1) -> (d1, d0)> : tensor<4x8xf32> -> f32
  %s = kernel.reduce <argmax> %a row_tree : f32 -> i64
  kernel.store %s, result 0 at affine_map<(d0, d1) -> (d0)> : i64
  kernel.return
}

// CHECK-LABEL: kernel.func @scan
// CHECK: schedule = #kernel.schedule<scan, vector = 16, cost = 700>
// CHECK: kernel.scan <prod> %{{.*}} : f32
kernel.func @scan(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
    attributes {domain = #kernel.domain<() -> (8, 4), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<scan, vector = 16, cost = 700>,
                shapes = [affine_map<() -> (4, 8)>, affine_map<() -> (4, 8)>]} {
  %a = kernel.load %x at affine_map<(d0, d1) -> (d1, d0)> : tensor<4x8xf32> -> f32
  %s = kernel.scan <prod> %a : f32
  kernel.store %s, result 0 at affine_map<(d0, d1) -> (d1, d0)> : f32
  kernel.return
}

// CHECK-LABEL: kernel.func @contract
// CHECK: %[[L:.*]] = kernel.load
// CHECK: %[[R:.*]] = kernel.load
// CHECK: kernel.dot %[[L]], %[[R]] : f64
kernel.func @contract(%x: tensor<4x8xf64>, %y: tensor<8x5xf64>) -> tensor<4x5xf64>
    attributes {domain = #kernel.domain<() -> (4, 5, 8), parallel = 2>, inits = array<i64: -1>,
                shapes = [affine_map<() -> (4, 8)>, affine_map<() -> (8, 5)>, affine_map<() -> (4, 5)>]} {
  %l = kernel.load %x at affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<4x8xf64> -> f64
  %r = kernel.load %y at affine_map<(d0, d1, d2) -> (d2, d1)> : tensor<8x5xf64> -> f64
  %s = kernel.dot %l, %r : f64
  kernel.store %s, result 0 at affine_map<(d0, d1, d2) -> (d0, d1)> : f64
  kernel.return
}

// CHECK-LABEL: kernel.func @places
// CHECK: %[[I:.*]] = kernel.load
// CHECK: %[[P:.*]] = kernel.bound %[[I]] below #{{.*}} site 0
// CHECK: %[[G:.*]] = kernel.inside %[[I]] below #{{.*}}
// CHECK: %[[E:.*]] = kernel.gather %{{.*}}[%[[P]]] at #{{.*}} : tensor<9xf32> -> f32
// CHECK: kernel.scatter %[[E]], result 0[%[[I]]] if %[[G]] combine "" at #{{.*}} unique : f32
// CHECK: kernel.scatter %[[E]], result 1[%[[P]]] combine "add" at #{{.*}} : f32
kernel.func @places(%x: tensor<9xf32>, %i: tensor<4xi64>, %y: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>)
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: 2, 2>,
                shapes = [affine_map<() -> (9)>, affine_map<() -> (4)>, affine_map<() -> (5)>, affine_map<() -> (5)>, affine_map<() -> (5)>]} {
  %0 = kernel.load %i at affine_map<(d0) -> (d0)> : tensor<4xi64> -> i64
  %1 = kernel.bound %0 below affine_map<(d0) -> (9)> site 0
  %2 = kernel.inside %0 below affine_map<(d0) -> (5)>
  %3 = kernel.gather %x[%1] at affine_map<(d0, d1) -> (d1)> : tensor<9xf32> -> f32
  kernel.scatter %3, result 0[%0] if %2 combine "" at affine_map<(d0, d1) -> (d1)> unique : f32
  kernel.scatter %3, result 1[%1] combine "add" at affine_map<(d0, d1) -> (d1)> : f32
  kernel.return
}

// CHECK-LABEL: func.func @f
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>, %[[M:.*]]: index)
// CHECK: %[[N:.*]] = graph.dim %[[X]], 0
// CHECK: kernel.check %[[N]] equals %[[M]], "axis 0 of the operands of graph.add"
// CHECK: %{{.*}}:2 = kernel.call @rows(%[[X]]) sizes(%[[N]]) dims [0, 0] lines "a.py:3; a.py:4" : (tensor<?x8xf32>) -> (tensor<?xf32>, tensor<?x8xf32>)
func.func @f(%x: tensor<?x8xf32>, %m: index) -> tensor<?xf32> {
  %n = graph.dim %x, 0 : tensor<?x8xf32>
  kernel.check %n equals %m, "axis 0 of the operands of graph.add"
  %0:2 = kernel.call @rows(%x) sizes(%n) dims [0, 0] lines "a.py:3; a.py:4" : (tensor<?x8xf32>) -> (tensor<?xf32>, tensor<?x8xf32>)
  return %0#0 : tensor<?xf32>
}
