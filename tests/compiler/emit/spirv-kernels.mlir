// SPIR-V of a map and of a reduction: one module, an entry point a kernel, no contraction, buffers as pointers, no zero
// that an old translator stops at; 1.0 on request.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=spirv --opencl-features=fp64 | FileCheck %s
// RUN: graphc compile %s --emit=spirv --opencl-features=fp64,spirv1.0 | FileCheck %s --check-prefix=OLD
// RUN: graphc compile %s --target=opencl,spirv,ptx --opencl-features=fp64 -o %t.gco
// RUN: graphc inspect %t.gco | FileCheck %s --check-prefix=FORMS

// CHECK: Version: 1.2
// CHECK: OpMemoryModel Physical64 OpenCL
// CHECK-DAG: OpEntryPoint Kernel %f_0 "f_0"
// CHECK-DAG: OpEntryPoint Kernel %f_1 "f_1"
// CHECK: OpExecutionMode %f_0 LocalSize 64 1 1
// CHECK: OpExecutionMode %f_0 ContractionOff
// CHECK-NOT: OpConstantNull
// CHECK: OpFunctionParameter %_ptr_CrossWorkgroup_float
// CHECK: OpFOrdLessThan
// OLD: Version: 1.0

// FORMS: program @f for opencl in OpenCL C,
// FORMS: program @f for opencl in SPIR-V,
// FORMS: program @f for opencl in PTX,
func.func @f(%x: tensor<?xf32>, %n: tensor<?x?xi32>) -> (tensor<?xf32>, tensor<?xi32>) {
  %0 = graph.exp %x : tensor<?xf32>
  %1 = graph.reduce <sum> %n axes [1] : tensor<?x?xi32> -> tensor<?xi32>
  return %0, %1 : tensor<?xf32>, tensor<?xi32>
}
