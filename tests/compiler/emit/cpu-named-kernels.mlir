// Of kernels that are measured (the others are in cpu-loops and cpu-spills): whole vectors in the main loops, none of which waits on the stack
// within them, no integer division, no call of a function.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=asm --cpu-features=avx,avx2,fma,avx512f,avx512vl,avx512bw,avx512dq,avx512cd > %t.s
// RUN: FileCheck %s < %t.s
// RUN: FileCheck %s --check-prefix=NONE < %t.s
// NONE-NOT: {{idiv|call.*(exp|tanh|sin|log|pow|fmod|mem(cpy|set))}}

// What is kept of the exponentials and their sum come of one loop, which asks for the next row.
// CHECK-LABEL: softmax_0:
// CHECK: vfmsub213ps {{.*}}, %zmm{{[0-9]+}}, %zmm{{[0-9]+$}}
// CHECK-NOT: {{rsp.*zmm|zmm.*rsp}}
// CHECK-COUNT-4: vscalefps %zmm{{[0-9]+}}, %zmm{{[0-9]+}}, %zmm{{[0-9]+$}}
// CHECK-NOT: {{rsp.*zmm|zmm.*rsp|{%k}}
// CHECK-COUNT-4: prefetch
// CHECK-NOT: {{rsp.*zmm|zmm.*rsp|{%k}}
// CHECK-COUNT-4: vaddps
// CHECK-NEXT: incq
// CHECK-NEXT: cmpq
// CHECK-NEXT: jl
// CHECK: .size softmax_0
func.func @softmax(%arg0: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = graph.dim %arg0, 0 : tensor<?x?xf32>
  %1 = graph.dim %arg0, 1 : tensor<?x?xf32>
  %2 = graph.reduce <max> %arg0 axes [1] : tensor<?x?xf32> -> tensor<?xf32>
  %3 = graph.reshape %2 to(%0) : tensor<?xf32> -> tensor<?x1xf32>
  %4 = graph.broadcast %3 to(%0, %1) dims [0, 1] : tensor<?x1xf32> -> tensor<?x?xf32>
  %5 = graph.sub %arg0, %4 : tensor<?x?xf32>
  %6 = graph.exp %5 : tensor<?x?xf32>
  %7 = graph.reduce <sum> %6 axes [1] : tensor<?x?xf32> -> tensor<?xf32>
  %8 = graph.reshape %7 to(%0) : tensor<?xf32> -> tensor<?x1xf32>
  %9 = graph.broadcast %8 to(%0, %1) dims [0, 1] : tensor<?x1xf32> -> tensor<?x?xf32>
  %10 = graph.div %6, %9 : tensor<?x?xf32>
  return %10 : tensor<?x?xf32>
}

// CHECK-LABEL: layernorm_0:
// CHECK-COUNT-16: vaddps {{.*}}), %zmm{{[0-9]+}}, %zmm{{[0-9]+$}}
// CHECK-NOT: {{rsp.*zmm|zmm.*rsp}}
// CHECK: .size layernorm_0
func.func @layernorm(%arg0: tensor<?x?xf32>, %arg1: tensor<?xf32>) -> tensor<?x?xf32> {
  %0 = graph.dim %arg0, 0 : tensor<?x?xf32>
  %1 = graph.dim %arg0, 1 : tensor<?x?xf32>
  %2 = graph.reduce <mean> %arg0 axes [1] : tensor<?x?xf32> -> tensor<?xf32>
  %3 = graph.reshape %2 to(%0) : tensor<?xf32> -> tensor<?x1xf32>
  %4 = graph.broadcast %3 to(%0, %1) dims [0, 1] : tensor<?x1xf32> -> tensor<?x?xf32>
  %5 = graph.sub %arg0, %4 : tensor<?x?xf32>
  %6 = graph.mul %5, %5 : tensor<?x?xf32>
  %7 = graph.reduce <mean> %6 axes [1] : tensor<?x?xf32> -> tensor<?xf32>
  %8 = graph.reshape %7 to(%0) : tensor<?xf32> -> tensor<?x1xf32>
  %9 = graph.full 9.99999974E-6 : f32 : tensor<f32>
  %10 = graph.broadcast %9 to(%0) dims [] : tensor<f32> -> tensor<?x1xf32>
  %11 = graph.add %8, %10 : tensor<?x1xf32>
  %12 = graph.sqrt %11 : tensor<?x1xf32>
  %13 = graph.broadcast %12 to(%0, %1) dims [0, 1] : tensor<?x1xf32> -> tensor<?x?xf32>
  %14 = graph.div %5, %13 : tensor<?x?xf32>
  %15 = graph.broadcast %arg1 to(%0, %1) dims [1] : tensor<?xf32> -> tensor<?x?xf32>
  %16 = graph.mul %14, %15 : tensor<?x?xf32>
  %17 = graph.broadcast %arg1 to(%0, %1) dims [1] : tensor<?xf32> -> tensor<?x?xf32>
  %18 = graph.add %16, %17 : tensor<?x?xf32>
  return %18 : tensor<?x?xf32>
}

// CHECK-LABEL: logistic_0:
// CHECK-NOT: {{rsp.*zmm|zmm.*rsp}}
// CHECK: vfmadd{{.*}}pd {{.*}}zmm
// CHECK-NOT: {{rsp.*zmm|zmm.*rsp}}
// CHECK: .size logistic_0
func.func @logistic(%x: tensor<?xi64>) -> tensor<?xi64> {
  %n = graph.dim %x, 0 : tensor<?xi64>
  %a0 = graph.full 22 : i64 : tensor<i64>
  %a = graph.broadcast %a0 to(%n) dims [] : tensor<i64> -> tensor<?xi64>
  %b0 = graph.full 1 : i64 : tensor<i64>
  %b = graph.broadcast %b0 to(%n) dims [] : tensor<i64> -> tensor<?xi64>
  %p0 = graph.full 6700417 : i64 : tensor<i64>
  %p = graph.broadcast %p0 to(%n) dims [] : tensor<i64> -> tensor<?xi64>
  %m0 = graph.mul %a, %x : tensor<?xi64>
  %s0 = graph.add %x, %b : tensor<?xi64>
  %q0 = graph.mul %m0, %s0 : tensor<?xi64>
  %y0 = graph.remainder %q0, %p : tensor<?xi64>
  %m1 = graph.mul %a, %y0 : tensor<?xi64>
  %s1 = graph.add %y0, %b : tensor<?xi64>
  %q1 = graph.mul %m1, %s1 : tensor<?xi64>
  %y1 = graph.remainder %q1, %p : tensor<?xi64>
  %m2 = graph.mul %a, %y1 : tensor<?xi64>
  %s2 = graph.add %y1, %b : tensor<?xi64>
  %q2 = graph.mul %m2, %s2 : tensor<?xi64>
  %y2 = graph.remainder %q2, %p : tensor<?xi64>
  %m3 = graph.mul %a, %y2 : tensor<?xi64>
  %s3 = graph.add %y2, %b : tensor<?xi64>
  %q3 = graph.mul %m3, %s3 : tensor<?xi64>
  %y3 = graph.remainder %q3, %p : tensor<?xi64>
  return %y3 : tensor<?xi64>
}

// Six rows by four vectors of sums.
// CHECK-LABEL: matmul_0:
// CHECK-NOT: {{rsp.*zmm|zmm.*rsp}}
// CHECK-COUNT-24: vfmadd231ps {{.*}}%zmm{{[0-9]+}}, %zmm{{[0-9]+$}}
// CHECK-NOT: {{rsp.*zmm|zmm.*rsp}}
// CHECK: .size matmul_0
func.func @matmul(%arg0: tensor<?x?xf32>, %arg1: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = graph.dim %arg0, 0 : tensor<?x?xf32>
  %1 = graph.dim %arg0, 1 : tensor<?x?xf32>
  %2 = graph.dim %arg1, 1 : tensor<?x?xf32>
  %3 = graph.matmul %arg0, %arg1 : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  return %3 : tensor<?x?xf32>
}

// An exponential beside a tanh needs more than 32 registers for four vectors, which ports and not the stack bound; no mask.
// CHECK-LABEL: products_0:
// CHECK: vmovups 192({{.*}}), %zmm
// CHECK-NOT: {{vmovup.*\{%k}}
// CHECK: vpermps {{.*}}zmm
// CHECK-NOT: {{vmovup.*\{%k}}
// CHECK-COUNT-4: vmovntps %zmm
// CHECK: .size products_0
func.func @products(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.mul %a, %b : tensor<?xf32>
  %1 = graph.neg %a : tensor<?xf32>
  %2 = graph.exp %1 : tensor<?xf32>
  %3 = graph.tanh %b : tensor<?xf32>
  %4 = graph.mul %2, %3 : tensor<?xf32>
  %5 = graph.add %0, %4 : tensor<?xf32>
  return %5 : tensor<?xf32>
}

// Lanes of the tree are added to in memory, four vectors at a time; the sines of ordinary arguments stay in registers.
// CHECK-LABEL: sines_0:
// CHECK-COUNT-4: vaddps {{[0-9]+}}(%rsp,%[[I:[a-z0-9]+]],4), %zmm
// CHECK: addq $64, %[[I]]
// CHECK-NEXT: [[ROW:.LBB[0-9]+_[0-9]+]]:
// CHECK: vmovups 192({{.*}}), %zmm
// CHECK-NOT: {{\(%rsp\)|vmov.*\{%k}}
// CHECK: vfmsub213ps
// CHECK-NOT: {{\(%rsp\)|vmov.*\{%k}}
// CHECK: kortestw
// CHECK-NEXT: je
// CHECK: .size sines_0
func.func @sines(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<f32> {
  %n = graph.dim %a, 0 : tensor<?xf32>
  %c = graph.full 2.0 : f32 : tensor<f32>
  %w = graph.broadcast %c to(%n) dims [] : tensor<f32> -> tensor<?xf32>
  %0 = graph.sin %a : tensor<?xf32>
  %1 = graph.mul %0, %w : tensor<?xf32>
  %2 = graph.add %1, %b : tensor<?xf32>
  %3 = graph.reduce <sum> %2 axes [0] : tensor<?xf32> -> tensor<f32>
  return %3 : tensor<f32>
}
