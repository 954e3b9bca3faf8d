// Reductions whose order means nothing: elements are combined as they lie, sums of small integers in lanes no wider than a block
// needs, and the best of a row is found before its place.
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

// 32 rows of ones fit a byte.
// CHECK-LABEL: func.func @count(
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<256xi8>
// CHECK: %[[MASK:.*]] = graph.less {{.*}} : vector<64xf32>
// CHECK: %[[ONES:.*]] = graph.cast %[[MASK]] : vector<64xi1> -> vector<64xui8>
// CHECK: graph.add %{{.*}}, %[[ONES]] : vector<64xui8>
// CHECK-NOT: vector<64xf64>
// CHECK: call @fold_lanes64_sum_f64_ui8(
// CHECK-LABEL: func.func private @fold_lanes64_sum_f64_ui8(
// CHECK: graph.add {{.*}} : vector<64xui32>
// CHECK: %[[ALL:.*]] = graph.cast %{{.*}} : ui32 -> f64
// CHECK: return %[[ALL]]
kernel.func @count(%x: tensor<?xf32>, %n: index) -> tensor<f64>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 0>, inits = array<i64: -1>,
                schedule = #kernel.schedule<full, vector = 64, cost = 700>,
                shapes = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> ()>]} {
  %a = kernel.load %x at affine_map<(d0)[s0] -> (d0)> : tensor<?xf32> -> f32
  %c = arith.constant 1.0 : f32
  %b = graph.less %a, %c : f32
  %d = graph.cast %b : i1 -> f64
  %s = kernel.reduce <sum> %d : f64 -> f64
  kernel.store %s, result 0 at affine_map<(d0)[s0] -> ()> : f64
  kernel.return
}

// What a float32 would round within a block stays as it is written.
// CHECK-LABEL: func.func @wide(
// CHECK: graph.add {{.*}} : vector<64xf32>
kernel.func @wide(%x: tensor<?xi16>, %n: index) -> tensor<f32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 0>, inits = array<i64: -1>,
                schedule = #kernel.schedule<full, vector = 64, cost = 700>,
                shapes = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> ()>]} {
  %a = kernel.load %x at affine_map<(d0)[s0] -> (d0)> : tensor<?xi16> -> i16
  %d = graph.cast %a : i16 -> f32
  %s = kernel.reduce <sum> %d : f32 -> f32
  kernel.store %s, result 0 at affine_map<(d0)[s0] -> ()> : f32
  kernel.return
}

// No lanes in memory.
// CHECK-LABEL: func.func @largest(
// CHECK-NOT: memref.alloca
// CHECK: scf.for {{.*}} step %c64 iter_args({{.*}}) -> (vector<64xi32>)
// CHECK: graph.maximum {{.*}} : vector<64xi32>
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xi32>)
// CHECK: vector.maskedload
// CHECK-LABEL: func.func @largest_fold(
kernel.func @largest(%x: tensor<?xi32>, %n: index) -> tensor<i32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 0>, inits = array<i64: -1>,
                schedule = #kernel.schedule<full, vector = 64, cost = 700>,
                shapes = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> ()>]} {
  %a = kernel.load %x at affine_map<(d0)[s0] -> (d0)> : tensor<?xi32> -> i32
  %s = kernel.reduce <max> %a : i32 -> i32
  kernel.store %s, result 0 at affine_map<(d0)[s0] -> ()> : i32
  kernel.return
}

// CHECK-LABEL: func.func @place(
// A part of the row has 8 vectors, and the place is in the first part whose lanes have the best value.
// CHECK: scf.for {{.*}} step %c512 iter_args({{.*}}) -> (vector<64xf32>, vector<64xi32>)
// CHECK: scf.for {{.*}} step %c64 iter_args({{.*}}) -> (vector<64xf32>)
// CHECK: graph.maximum {{.*}} : vector<64xf32>
// CHECK: vector.reduction <minsi>
// CHECK: scf.while
// CHECK: graph.equal {{.*}} : vector<64xf32>
// CHECK: vector.bitcast {{.*}} : vector<64xi1> to vector<1xi64>
// CHECK: math.cttz
kernel.func @place(%x: tensor<?x256xf32>, %n: index) -> tensor<?xi64>
    attributes {domain = #kernel.domain<()[s0] -> (s0, 256), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<rows, vector = 64, cost = 700>,
                shapes = [affine_map<()[s0] -> (s0, 256)>, affine_map<()[s0] -> (s0)>]} {
  %a = kernel.load %x at affine_map<(d0, d1)[s0] -> (d0, d1)> : tensor<?x256xf32> -> f32
  %s = kernel.reduce <argmax> %a : f32 -> i64
  kernel.store %s, result 0 at affine_map<(d0, d1)[s0] -> (d0)> : i64
  kernel.return
}

// Of everything only the first best block of a piece is searched.
// CHECK-LABEL: func.func @everywhere(
// CHECK: scf.for %{{.*}} = %[[BEGIN:.*]] to %[[END:.*]] step %c1 iter_args({{.*}}) -> (f32, index, index, index)
// CHECK: graph.maximum {{.*}} : vector<64xf32>
// CHECK: memref.store %c9223372036854775807
// CHECK-NOT: scf.while
// CHECK: arith.cmpi slt, %[[BEGIN]], %[[END]]
// CHECK: scf.while
// Places decide between equal results of blocks, in any order.
// CHECK-LABEL: func.func @everywhere_fold(
// CHECK-LABEL: func.func private @fold_blocks_argmax_
// CHECK-NOT: memref.alloca
// CHECK: return
kernel.func @everywhere(%x: tensor<?xf32>, %n: index) -> tensor<i64>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 0>, inits = array<i64: -1>,
                schedule = #kernel.schedule<full, vector = 64, cost = 700>,
                shapes = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> ()>]} {
  %a = kernel.load %x at affine_map<(d0)[s0] -> (d0)> : tensor<?xf32> -> f32
  %s = kernel.reduce <argmax> %a : f32 -> i64
  kernel.store %s, result 0 at affine_map<(d0)[s0] -> ()> : i64
  kernel.return
}
