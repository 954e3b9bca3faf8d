// No vector waits on the stack: elementwise chains, running sums, a transposition, and the loop over whole rows of lanes of a maximum.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=asm --cpu-features=avx,avx2,fma,avx512f,avx512vl,avx512bw,avx512dq,avx512cd > %t.s
// RUN: FileCheck %s < %t.s
// RUN: FileCheck %s --check-prefix=NONE < %t.s
// NONE-NOT: {{idiv|call.*(exp|tanh|mem(cpy|set))}}

// CHECK-LABEL: gelu_0:
// CHECK-NOT: {{rsp.*zmm|zmm.*rsp}}
// CHECK: vpermps {{.*}}zmm
// CHECK-NOT: {{rsp.*zmm|zmm.*rsp}}
// CHECK: .size gelu_0
func.func @gelu(%x: tensor<?x?xf32>, %bias: tensor<?xf32>) -> tensor<?x?xf32> {
  %rows = graph.dim %x, 0 : tensor<?x?xf32>
  %columns = graph.dim %x, 1 : tensor<?x?xf32>
  %b = graph.broadcast %bias to(%rows, %columns) dims [1] : tensor<?xf32> -> tensor<?x?xf32>
  %y = graph.add %x, %b : tensor<?x?xf32>
  %y2 = graph.mul %y, %y : tensor<?x?xf32>
  %y3 = graph.mul %y2, %y : tensor<?x?xf32>
  %c0 = graph.full 4.471500e-02 : f32 : tensor<f32>
  %c1 = graph.broadcast %c0 to(%rows, %columns) dims [] : tensor<f32> -> tensor<?x?xf32>
  %s = graph.mul %c1, %y3 : tensor<?x?xf32>
  %t = graph.add %y, %s : tensor<?x?xf32>
  %d0 = graph.full 0.797884583 : f32 : tensor<f32>
  %d1 = graph.broadcast %d0 to(%rows, %columns) dims [] : tensor<f32> -> tensor<?x?xf32>
  %u = graph.mul %d1, %t : tensor<?x?xf32>
  %v = graph.tanh %u : tensor<?x?xf32>
  %w = graph.mul %y, %v : tensor<?x?xf32>
  return %w : tensor<?x?xf32>
}

// CHECK-LABEL: running_0:
// CHECK-NOT: {{rsp.*zmm|zmm.*rsp}}
// CHECK: .size running_0
func.func @running(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.scan <sum> %x axis 0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Three operations a vector; where one of both is NaN the sum is taken.
// CHECK-LABEL: largest_0:
// CHECK: vcmpunordps
// CHECK-NEXT: vrangeps $5,
// CHECK-NEXT: vaddps {{.*}} {%k
// CHECK-NOT: {{rsp.*zmm|zmm.*rsp}}
// CHECK-COUNT-14: vrangeps
// CHECK-NOT: {{rsp.*zmm|zmm.*rsp}}
// CHECK: jl
func.func @largest(%x: tensor<?xf32>) -> tensor<f32> {
  %0 = graph.reduce <max> %x axes [0] : tensor<?xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: turned_0:
// CHECK-NOT: {{rsp.*zmm|zmm.*rsp}}
// CHECK: .size turned_0
func.func @turned(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = graph.transpose %x permutation [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
