// The example of README.md: one function at every level. tools/checks/example.py holds the README to these lines.
// RUN: graphc-opt %s --graphc-pipeline=to=graph | FileCheck %s --check-prefix=GRAPH
// RUN: graphc-opt %s --graphc-pipeline=to=schedule | FileCheck %s --check-prefix=KERNEL
// RUN: graphc-opt %s --graphc-pipeline=to=plan | FileCheck %s --check-prefix=PLAN
// RUN: graphc compile %s --emit=llvm --cpu-features=avx2,fma,avx512f,avx512vl,avx512bw,avx512dq | FileCheck %s --check-prefix=LLVM
// RUN: graphc compile %s --emit=opencl --opencl-features=none | FileCheck %s --check-prefix=OPENCL

// @gc.jit
// def f(x, w): return gc.sum(gc.exp(x) * w, axis=1)
func.func @f(%x: tensor<?x256xf32>, %w: tensor<256xf32>) -> tensor<?xf32> {
  %n = graph.dim %x, 0 : tensor<?x256xf32>
  %0 = graph.exp %x : tensor<?x256xf32>
  %1 = graph.broadcast %w to (%n) dims [1] : tensor<256xf32> -> tensor<?x256xf32>
  %2 = graph.mul %0, %1 : tensor<?x256xf32>
  %3 = graph.reduce <sum> %2 axes [1] : tensor<?x256xf32> -> tensor<?xf32>
  return %3 : tensor<?xf32>
}

// GRAPH: func.func @f(%[[X:.*]]: tensor<?x256xf32>, %[[W:.*]]: tensor<256xf32>) -> tensor<?xf32> {
// GRAPH-NEXT: %[[N:.*]] = graph.dim %[[X]], 0 : tensor<?x256xf32>
// GRAPH-NEXT: %[[E:.*]] = graph.exp %[[X]] : tensor<?x256xf32>
// GRAPH-NEXT: %[[B:.*]] = graph.broadcast %[[W]] to(%[[N]]) dims [1] : tensor<256xf32> -> tensor<?x256xf32>
// GRAPH-NEXT: %[[M:.*]] = graph.mul %[[E]], %[[B]] : tensor<?x256xf32>
// GRAPH-NEXT: %[[S:.*]] = graph.reduce <sum> %[[M]] axes [1] : tensor<?x256xf32> -> tensor<?xf32>
// GRAPH-NEXT: return %[[S]] : tensor<?xf32>

// One kernel: 256 columns are reduced within a row, so its parallel domain is the rows.
// KERNEL-DAG: [[ELEMENT:#.*]] = affine_map<(d0, d1)[s0] -> (d0, d1)>
// KERNEL-DAG: [[COLUMN:#.*]] = affine_map<(d0, d1)[s0] -> (d1)>
// KERNEL-DAG: [[ROW:#.*]] = affine_map<(d0, d1)[s0] -> (d0)>
// KERNEL: kernel.func @f_0(%[[X:.*]]: tensor<?x256xf32>, %[[W:.*]]: tensor<256xf32>, %{{.*}}: index) -> tensor<?xf32>
// KERNEL-SAME: domain = #kernel.domain<()[s0] -> (s0, 256), parallel = 1>
// KERNEL-SAME: schedule = #kernel.schedule<rows, vector = 64
// KERNEL-NEXT: %[[LOADED:.*]] = kernel.load %[[X]] at [[ELEMENT]] : tensor<?x256xf32> -> f32
// KERNEL-NEXT: %[[E:.*]] = graph.exp %[[LOADED]] : f32
// KERNEL-NEXT: %[[WEIGHT:.*]] = kernel.load %[[W]] at [[COLUMN]] : tensor<256xf32> -> f32
// KERNEL-NEXT: %[[M:.*]] = graph.mul %[[E]], %[[WEIGHT]] : f32
// KERNEL-NEXT: %[[S:.*]] = kernel.reduce <sum> %[[M]] : f32 -> f32
// KERNEL-NEXT: kernel.store %[[S]], result 0 at [[ROW]] : f32
// KERNEL-NEXT: kernel.return

// PLAN: plan.program @f inputs [tensor<?x256xf32>, tensor<256xf32>] outputs [tensor<?xf32>] {
// PLAN-NEXT: ^bb0(%[[X:.*]]: !plan.buffer<f32>, %[[W:.*]]: !plan.buffer<f32>):
// PLAN-NEXT: %[[N:.*]] = plan.dim input 0, 0
// PLAN-NEXT: %[[O:.*]] = plan.alloc %[[N]] : <f32>
// PLAN-NEXT: %[[COLUMNS:.*]] = arith.constant 256 : index
// PLAN-NEXT: plan.launch @f_0(%[[X]], %[[W]], %[[O]] : !plan.buffer<f32>, !plan.buffer<f32>, !plan.buffer<f32>) sizes(%[[N]]) over %[[N]] work %[[COLUMNS]]
// PLAN-NEXT: plan.return %[[O]] : !plan.buffer<f32> sizes(%[[N]])

// Columns come in rows of 256 lanes, so each lane holds one product, and lanes fold by halves (docs/numerics.md).
// Each register of 16 has operations of its own.
// LLVM: load <16 x float>
// LLVM: call <16 x float> @llvm.fma.v16f32(
// LLVM: fmul <16 x float>
// LLVM: fadd <16 x float>
// LLVM: fadd <16 x float>
// LLVM: fadd <8 x float>
// LLVM: fadd <4 x float>
// LLVM: fadd <2 x float>
// LLVM: fadd float

// OPENCL: #pragma OPENCL FP_CONTRACT OFF
// OPENCL: __kernel void f_0(__global float *[[X:v[0-9]+]], __global float *[[W:v[0-9]+]], __global float *[[O:v[0-9]+]],
// OPENCL: [[WEIGHT:v[0-9]+]] = [[W]][{{.*}}];
// OPENCL: [[LOADED:v[0-9]+]] = [[X]][{{.*}}];
// OPENCL: = fma(
// OPENCL: [[M:v[0-9]+]] = {{v[0-9]+}} * [[WEIGHT]];
// OPENCL: + [[M]];
// OPENCL: [[O]][{{.*}}] = {{v[0-9]+}};
