// What a kernel of vectors would read one element a line is turned before, by a map of its own; the loads that share it
// share the copy, which takes the tensor's place where nothing else reads that. A product and a map turn what they read themselves, and devices read elements.
// RUN: graphc-opt %s --graphc-assign-schedules=vector-bytes=64 | FileCheck %s
// RUN: graphc-opt %s --graphc-assign-schedules=vector-bytes=0 | FileCheck %s --check-prefix=ITEM

// CHECK-DAG: #[[$TURN:.*]] = affine_map<(d0, d1)[s0, s1] -> (d1 + 1, d0)>
// CHECK-DAG: #[[$STRAIGHT:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0, d1)>
#turned = affine_map<(d0, d1)[s0, s1] -> (d1 + 1, d0)>
#straight = affine_map<(d0, d1)[s0, s1] -> (d0, d1)>
#every = affine_map<(d0, d1)[s0, s1] -> (d0, d1 * 2)>
#row = affine_map<(d0, d1)[s0, s1] -> (d0)>
// A window: an element is met several times.
#window = affine_map<(d0, d1)[s0, s1] -> (d0 + d1, d0)>

// ITEM-NOT: _turn
// CHECK-LABEL: kernel.func @sums_turn(
// CHECK-SAME: graphc.for_rows
// CHECK-SAME: graphc.last_read = array<i1: true>
// CHECK-SAME: schedule = #kernel.schedule<map
// CHECK: %[[V:.*]] = kernel.load %{{.*}} at #[[$TURN]]
// CHECK: kernel.store %[[V]], result 0 at #[[$STRAIGHT]]
// CHECK-LABEL: kernel.func @sums(
// CHECK-SAME: %[[T:[^:]*]]: tensor<?x?xf32>, %[[Y:[^:]*]]: tensor<?x?xf32>, %{{[^:]*}}: index
// CHECK: kernel.load %[[T]] at #[[$STRAIGHT]]
// CHECK: kernel.load %[[Y]]
// CHECK-NOT: kernel.load
// CHECK: kernel.return
kernel.func @sums(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                shapes = [affine_map<()[s0, s1] -> (s1 + 1, s0)>, affine_map<()[s0, s1] -> (s0, s1 * 2)>, affine_map<()[s0, s1] -> (s0)>]} {
  %a = kernel.load %x at #turned : tensor<?x?xf32> -> f32
  %b = kernel.load %y at #every : tensor<?x?xf32> -> f32
  %p = graph.mul %a, %b : f32
  %s = kernel.reduce <sum> %p : f32 -> f32
  kernel.store %s, result 0 at #row : f32
  kernel.return
}

// What any order gives needs no turn: rows that are neighbours in memory are columns.
// CHECK-LABEL: kernel.func @largest(
// CHECK-SAME: schedule = #kernel.schedule<columns
// CHECK: kernel.load %{{.*}} at #[[$TURN]]
// CHECK: kernel.reduce <max> %{{.*}} row_tree
// CHECK: kernel.reduce <argmin> %{{.*}} row_tree
// ITEM-LABEL: kernel.func @largest(
// ITEM-NOT: row_tree
// ITEM: kernel.return
kernel.func @largest(%x: tensor<?x?xf32>, %m: index, %n: index) -> (tensor<?xf32>, tensor<?xi64>)
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1, -1>,
                shapes = [affine_map<()[s0, s1] -> (s1 + 1, s0)>, affine_map<()[s0, s1] -> (s0)>, affine_map<()[s0, s1] -> (s0)>]} {
  %a = kernel.load %x at #turned : tensor<?x?xf32> -> f32
  %s = kernel.reduce <max> %a : f32 -> f32
  %t = kernel.reduce <argmin> %a : f32 -> i64
  kernel.store %s, result 0 at #row : f32
  kernel.store %t, result 1 at #row : i64
  kernel.return
}

// Of a sum the order means something: rows all the same, which are read as they lie.
// CHECK-LABEL: kernel.func @mixed(
// CHECK-SAME: graphc.far_rows
// CHECK-SAME: schedule = #kernel.schedule<rows
// CHECK: kernel.load %{{.*}} at #[[$TURN]]
// CHECK-NOT: row_tree
// CHECK: kernel.return
kernel.func @mixed(%x: tensor<?x?xf32>, %m: index, %n: index) -> (tensor<?xf32>, tensor<?xf32>)
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1, -1>,
                shapes = [affine_map<()[s0, s1] -> (s1 + 1, s0)>, affine_map<()[s0, s1] -> (s0)>, affine_map<()[s0, s1] -> (s0)>]} {
  %a = kernel.load %x at #turned : tensor<?x?xf32> -> f32
  %s = kernel.reduce <max> %a : f32 -> f32
  %t = kernel.reduce <sum> %a : f32 -> f32
  kernel.store %s, result 0 at #row : f32
  kernel.store %t, result 1 at #row : f32
  kernel.return
}

// CHECK-LABEL: kernel.func @both_turn(
// CHECK-LABEL: kernel.func @both(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x?xf32>, %[[T:[^:]*]]: tensor<?x?xf32>, %{{[^:]*}}: index
// CHECK: kernel.load %[[T]] at #[[$STRAIGHT]]
// CHECK: kernel.load %[[X]]
kernel.func @both(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                shapes = [affine_map<()[s0, s1] -> (s1 + 1, s0)>, affine_map<()[s0, s1] -> (s0)>]} {
  %a = kernel.load %x at #turned : tensor<?x?xf32> -> f32
  %b = kernel.load %x at #straight : tensor<?x?xf32> -> f32
  %p = graph.mul %a, %b : f32
  %s = kernel.reduce <sum> %p : f32 -> f32
  kernel.store %s, result 0 at #row : f32
  kernel.return
}

// CHECK-LABEL: kernel.func @windows(
// CHECK-SAME: %{{[^:]*}}: tensor<?x?xf32>, %{{[^:]*}}: index
kernel.func @windows(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                shapes = [affine_map<()[s0, s1] -> (s0 + s1, s0)>, affine_map<()[s0, s1] -> (s0)>]} {
  %a = kernel.load %x at #window : tensor<?x?xf32> -> f32
  %s = kernel.reduce <sum> %a : f32 -> f32
  kernel.store %s, result 0 at #row : f32
  kernel.return
}

// CHECK-LABEL: kernel.func @map(
// CHECK-SAME: %{{[^:]*}}: tensor<?x?xf32>, %{{[^:]*}}: index
kernel.func @map(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 2>, inits = array<i64: -1>,
                shapes = [affine_map<()[s0, s1] -> (s1 + 1, s0)>, affine_map<()[s0, s1] -> (s0, s1)>]} {
  %a = kernel.load %x at #turned : tensor<?x?xf32> -> f32
  %e = graph.exp %a : f32
  kernel.store %e, result 0 at #straight : f32
  kernel.return
}

// A scan over rows of neighbouring columns: its vectors are columns, which lie beside each other.
// CHECK-LABEL: kernel.func @columns(
// CHECK-SAME: %{{[^:]*}}: tensor<?x?xf32>, %{{[^:]*}}: index
kernel.func @columns(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                shapes = [affine_map<()[s0, s1] -> (s1 + 1, s0)>, affine_map<()[s0, s1] -> (s1 + 1, s0)>]} {
  %a = kernel.load %x at #turned : tensor<?x?xf32> -> f32
  %s = kernel.scan <sum> %a : f32
  kernel.store %s, result 0 at #turned : f32
  kernel.return
}

// CHECK-LABEL: func.func @main
// CHECK: %[[COPY:.*]] = kernel.call @sums_turn(%arg0) sizes(%arg2, %arg3) dims [0, 1]
// CHECK: kernel.call @sums(%[[COPY]], %arg1) sizes(%arg2, %arg3)
// CHECK: %[[OTHER:.*]] = kernel.call @both_turn(%arg0)
// CHECK: kernel.call @both(%arg0, %[[OTHER]])
func.func @main(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?xf32> {
  %s = kernel.call @sums(%x, %y) sizes(%m, %n) dims [0] lines "" : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?xf32>
  %b = kernel.call @both(%x) sizes(%m, %n) dims [0] lines "" : (tensor<?x?xf32>) -> tensor<?xf32>
  return %b : tensor<?xf32>
}

// The columns of a reduction turn what lies along their rows themselves, a vector of them at a time.
// CHECK-NOT: @down_turn
// CHECK-LABEL: kernel.func @down(
// CHECK-SAME: schedule = #kernel.schedule<columns, vector = 16
kernel.func @down(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                shapes = [affine_map<()[s0, s1] -> (s0, s1)>, affine_map<()[s0, s1] -> (s0)>]} {
  %a = kernel.load %x at #straight : tensor<?x?xf32> -> f32
  %s = kernel.reduce <sum> %a row_tree : f32 -> f32
  kernel.store %s, result 0 at #row : f32
  kernel.return
}

// CHECK-LABEL: kernel.func @down_across_turn(
// CHECK-LABEL: kernel.func @down_across(
kernel.func @down_across(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                shapes = [affine_map<()[s0, s1] -> (s0, s1)>, affine_map<()[s0, s1] -> (s1, s0)>, affine_map<()[s0, s1] -> (s0)>]} {
  %a = kernel.load %x at #straight : tensor<?x?xf32> -> f32
  %b = kernel.load %y at affine_map<(d0, d1)[s0, s1] -> (d1, d0)> : tensor<?x?xf32> -> f32
  %p = graph.mul %a, %b : f32
  %s = kernel.reduce <sum> %p row_tree : f32 -> f32
  kernel.store %s, result 0 at #row : f32
  kernel.return
}
