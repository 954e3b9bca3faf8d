// A gather checks its indices a vector at a time: those from 0 on that are inside go past all else, with one branch for all
// lanes, and are read again from memory; behind it they are wrapped and checked. Its elements are loaded one by one, but on
// Intel's processors from Sapphire Rapids on.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=asm --cpu-features=avx,avx2,fma,avx512f,avx512vl,avx512bw,avx512dq | FileCheck %s
// RUN: graphc compile %s --emit=llvm --cpu-features=avx,avx2,fma,avx512f,avx512vl,avx512bw,avx512dq | FileCheck %s --check-prefix=LLVM
// RUN: graphc compile %s --emit=opencl | FileCheck %s --check-prefix=OPENCL

// RUN: graphc compile %s --emit=asm --cpu-features=avx,avx2,fma,avx512f,avx512vl,avx512bw,avx512dq,avx512fp16 | FileCheck %s --check-prefix=FAST
// RUN: graphc compile %s --emit=asm --cpu-features=avx,avx2,fma,avx512f,avx512vl,avx512bw,avx512dq,avx512fp16,sse4a | FileCheck %s

// FAST-LABEL: f_0:
// FAST: kortest
// FAST: vgather{{.*}}ps (%r{{.*}},%{{[yz]}}mm{{.*}},4)
// FAST-NOT: vinsertps $48

// CHECK-LABEL: f_0:
// CHECK: kortest
// CHECK-NOT: vgather
// CHECK: vinsertps $48, (%r{{.*}},%r{{.*}},4)
// CHECK-NOT: vgather
// CHECK-NOT: call

// LLVM: icmp ule <[[W:[0-9]+]] x i64>
// LLVM: br i1 %{{.*}}, label %[[INSIDE:[^,]*]], label
// LLVM: icmp slt <[[W]] x i32>
// LLVM: %[[BAD:.*]] = icmp uge <[[W]] x i64>
// LLVM: bitcast <[[W]] x i1> %[[BAD]] to i[[W]]
// LLVM: select <[[W]] x i1> %[[BAD]], <[[W]] x i64> zeroinitializer
// LLVM: extractelement <8 x i64>
// LLVM: {{^}}[[INSIDE]]:
// LLVM-NOT: extractelement
// LLVM: load i32
// LLVM-NOT: llvm.masked.gather

// OPENCL: __global long *[[FAULTS:v[0-9]+]], const long
// OPENCL: if (
// OPENCL: [[FAULTS]][
func.func @f(%x: tensor<?xf32>, %i: tensor<?xi32>) -> tensor<?xf32> {
  %j = graph.cast %i : tensor<?xi32> -> tensor<?xi64>
  %g = graph.gather %x[%j] axes [0] at 0 : tensor<?xf32>[tensor<?xi64>] -> tensor<?xf32>
  %r = graph.add %g, %g : tensor<?xf32>
  return %r : tensor<?xf32>
}
