// Where the next kernel may begin early, every kernel waits for the one before it: first of all, and also in work-items that
// have nothing to do, so that a kernel which has ended says that all before it have.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64,gpu,sm_90,dependent --target=ptx | FileCheck %s
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64,gpu,sm_90 --target=ptx | FileCheck %s --check-prefix=PLAIN

// PLAIN: .entry main_0(
// PLAIN-NOT: griddepcontrol
// CHECK-LABEL: .entry main_0(
// CHECK-NOT: {{ld.global|bra|ret;}}
// CHECK: griddepcontrol.wait;
// CHECK-NEXT: griddepcontrol.launch_dependents;
// CHECK: ld.global
// CHECK-LABEL: .entry main_0_fold(
// CHECK-NOT: {{ld.global|bra|ret;}}
// CHECK: griddepcontrol.wait;
// CHECK-NEXT: griddepcontrol.launch_dependents;
// CHECK: ld.global
func.func @main(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %0 = graph.reduce <sum> %x axes [0] : tensor<?x?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
