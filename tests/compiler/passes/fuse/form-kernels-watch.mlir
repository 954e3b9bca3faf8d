// In a module that asks for it, as few values are watched as show every infinity and every NaN.
// RUN: graphc-opt %s --graphc-form-kernels --split-input-file --mlir-print-local-scope | FileCheck %s

// A sum shows what the quotient gave; the divisor of a quotient does not show in it.
// CHECK-LABEL: kernel.func @passes_on_0(
// CHECK: %[[Q:.*]] = graph.div %{{.*}}, %{{.*}} : f32
// CHECK: graph.add %[[Q]], %{{.*}} {graphc.watch} : f32
// CHECK: kernel.call @passes_on_0{{.*}}faults = []
// CHECK: kernel.func @vanishes_0(
// CHECK: graph.exp %{{.*}} {graphc.watch} : f32
// CHECK: graph.div %{{.*}}, %{{.*}} {graphc.watch} : f32
// CHECK: kernel.func @compared_0(
// CHECK: graph.mul %{{.*}}, %{{.*}} {graphc.watch} : f32
// CHECK: kernel.func @integers_0(
// CHECK: graph.floor_divide %{{.*}}, %{{.*}} {graphc.watch} : i32
// CHECK: kernel.func @reduced_0(
// CHECK: graph.mul %{{[^ ]*}}, %{{[^ ]*}} : f32
// CHECK: kernel.reduce <sum> %{{.*}} {graphc.watch}
module attributes {graphc.watch} {
  func.func @passes_on(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
    %q = graph.div %a, %b : tensor<8xf32>
    %s = graph.add %q, %a : tensor<8xf32>
    return %s : tensor<8xf32>
  }
  func.func @vanishes(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
    %e = graph.exp %a : tensor<8xf32>
    %q = graph.div %b, %e : tensor<8xf32>
    return %q : tensor<8xf32>
  }
  func.func @compared(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xi1> {
    %m = graph.mul %a, %b : tensor<8xf32>
    %c = graph.less %m, %b : tensor<8xf32>
    return %c : tensor<8xi1>
  }
  func.func @integers(%a: tensor<8xi32>, %b: tensor<8xi32>) -> tensor<8xi32> {
    %q = graph.floor_divide %a, %b : tensor<8xi32>
    return %q : tensor<8xi32>
  }
  func.func @reduced(%a: tensor<8xf32>) -> tensor<f32> {
    %m = graph.mul %a, %a : tensor<8xf32>
    %s = graph.reduce <sum> %m axes [0] : tensor<8xf32> -> tensor<f32>
    return %s : tensor<f32>
  }
}

// -----

// Nothing here can become one: the kernel has no words for faults.
// CHECK-LABEL: kernel.func @moves_0(
// CHECK-NOT: graphc.watch
// CHECK: kernel.call @moves_0
// CHECK-NOT: {faults
module attributes {graphc.watch} {
  func.func @moves(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
    %n = graph.neg %a : tensor<8xf32>
    %m = graph.maximum %n, %b : tensor<8xf32>
    return %m : tensor<8xf32>
  }
}

// -----

// Each operation with its operands, but for what is looked at by its value alone: sums, complex numbers, quotients rounded down.
// CHECK-LABEL: kernel.func @each_0(
// CHECK: graph.div %{{.*}}, %{{.*}} {graphc.watch = "operations"} : f32
// CHECK: graph.add %{{.*}}, %{{.*}} {graphc.watch = "operations"} : f32
// CHECK: graph.minimum %{{[^ ]*}}, %{{[^ ]*}} : f32
// CHECK: graph.floor_divide %{{.*}}, %{{.*}} {graphc.watch} : f32
// CHECK: kernel.reduce <sum> %{{.*}} {graphc.watch}
// CHECK-LABEL: kernel.func @complex_numbers_0(
// CHECK: graph.mul %{{.*}}, %{{.*}} {graphc.watch} : complex<f32>
module attributes {graphc.watch = "operations"} {
  func.func @each(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<f32> {
    %q = graph.div %a, %b : tensor<8xf32>
    %s = graph.add %q, %a : tensor<8xf32>
    %m = graph.minimum %s, %b : tensor<8xf32>
    %f = graph.floor_divide %m, %b : tensor<8xf32>
    %r = graph.reduce <sum> %f axes [0] : tensor<8xf32> -> tensor<f32>
    return %r : tensor<f32>
  }
  func.func @complex_numbers(%a: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
    %m = graph.mul %a, %a : tensor<8xcomplex<f32>>
    return %m : tensor<8xcomplex<f32>>
  }
}

// -----

// Nobody asks.
// CHECK-LABEL: kernel.func @unasked_0(
// CHECK-NOT: graphc.watch
func.func @unasked(%a: tensor<8xf32>) -> tensor<8xf32> {
  %n = graph.exp %a : tensor<8xf32>
  return %n : tensor<8xf32>
}
