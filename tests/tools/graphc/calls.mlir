// REQUIRES: compiler, graphc
// RUN: rm -rf %t && mkdir -p %t
// RUN: graphc compile --target=cpu %s -o %t/calls.gco
// RUN: %python -c "import numpy as np; np.save(r'%t/x.npy', np.array([0.5, -3.0, 7.0]))"
// RUN: graphc run %t/calls.gco %t/x.npy -o %t/y.npy -o %t/z.npy
// RUN: %python -c "import numpy as np; print(*np.load(r'%t/y.npy'), *np.load(r'%t/z.npy'))" | FileCheck %s --check-prefix=VALUES
// VALUES: 0.0625 81.0 2401.0 -0.25 -9.0 -49.0
// RUN: graphc compile --emit=kernel %s | FileCheck %s

// What is called is written out where it is called, and fused there; the line is the callee's own.
// CHECK: kernel.func @my_program_0
// CHECK-NOT: kernel.func
// CHECK: lines "{{.*}}calls.mlir:[[@LINE+5]]; {{.*}}calls.mlir:[[@LINE+17]]"
// CHECK-NOT: func
// RUN: graphc compile --target=opencl,spirv,ptx --opencl-features=fp64,sm_90 %s -o %t/device.gco

func.func private @square(%x: tensor<?xf64>) -> tensor<?xf64> {
  %0 = graph.mul %x, %x : tensor<?xf64>
  return %0 : tensor<?xf64>
}

func.func private @twice(%x: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %0 = func.call @square(%x) : (tensor<?xf64>) -> tensor<?xf64>
  %1 = func.call @square(%0) : (tensor<?xf64>) -> tensor<?xf64>
  return %1, %0 : tensor<?xf64>, tensor<?xf64>
}

func.func @"my-program"(%x: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %0:2 = func.call @twice(%x) : (tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>)
  %1 = graph.neg %0#1 : tensor<?xf64>
  return %0#0, %1 : tensor<?xf64>, tensor<?xf64>
}

// RUN: printf 'func.func @f() { return }\nfunc.func @g() { return }\n' > %t/two.mlir
// RUN: not graphc compile %t/two.mlir -o %t/bad.gco 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: two.mlir:2:1: error: a program is one public function, and 'f' is one already; what it calls is private
// RUN: printf 'func.func private @f() { return }\n' > %t/none.mlir
// RUN: not graphc compile %t/none.mlir -o %t/bad.gco 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: none.mlir:{{.*}}: error: the module has no public function
// RUN: printf 'func.func private @f()\nfunc.func @g() {\n func.call @f() : () -> ()\n return }\n' > %t/outside.mlir
// RUN: not graphc compile --emit=kernel %t/outside.mlir 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// OUTSIDE: outside.mlir:3:2: error: 'f' has no body
// RUN: printf 'func.func private @f() {\n func.call @g() : () -> ()\n return }\nfunc.func private @g() {\n func.call @f() : () -> ()\n return }\nfunc.func @h() {\n func.call @f() : () -> ()\n return }\n' > %t/loop.mlir
// RUN: not graphc compile --emit=kernel %t/loop.mlir 2>&1 | FileCheck %s --check-prefix=LOOP
// LOOP: loop.mlir:5:2: error: 'f' calls itself
// RUN: printf 'func.func @"f.x"(%%%%a: tensor<4xf32>) -> tensor<4xf32> {\n %%%%0 = graph.neg %%%%a : tensor<4xf32>\n return %%%%0 : tensor<4xf32> }\nfunc.func @f_x(%%%%a: tensor<4xf32>) -> tensor<4xf32> {\n %%%%0 = graph.exp %%%%a : tensor<4xf32>\n return %%%%0 : tensor<4xf32> }\n' > %t/alike.mlir
// RUN: graphc compile --emit=kernel %t/alike.mlir | FileCheck %s --check-prefix=ALIKE
// ALIKE: kernel.func @f_x_0
// ALIKE: kernel.func @f_x__0
// RUN: printf 'func.func private @g(%%%%a: tensor<4xf32>) -> tensor<4xf32> {\n return %%%%a : tensor<4xf32> }\nfunc.func @f(%%%%a: tensor<4xf32>) -> tensor<4xf32> {\n %%%%f = func.constant @g : (tensor<4xf32>) -> tensor<4xf32>\n %%%%0 = func.call_indirect %%%%f(%%%%a) : (tensor<4xf32>) -> tensor<4xf32>\n return %%%%0 : tensor<4xf32> }\n' > %t/indirect.mlir
// RUN: not graphc compile %t/indirect.mlir -o %t/bad.gco 2>&1 | FileCheck %s --check-prefix=INDIRECT
// INDIRECT: indirect.mlir:4:7: error: 'func.constant' op has no place in a program: functions are called by their names
