// Sums of integers at places that points share are added in any order, each in one step, where the device has words for it:
// PTX for 32 and 64 bits, OpenCL C for 32. Sums of floats keep their order: their points are sorted, by digits that are counted in
// local memory.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=ptx --target=ptx --opencl-features=fp64,gpu,ordered,sm_90 | FileCheck %s --check-prefix=PTX
// RUN: graphc compile %s --emit=opencl --target=opencl --opencl-features=fp64,gpu,c | FileCheck %s --check-prefix=SOURCE
// RUN: graphc compile %s --emit=opencl --target=opencl --opencl-features=fp64,cpu,c | FileCheck %s --check-prefix=CORES

// PTX-COUNT-1: {{atom|red}}.global.add.u64
// PTX-COUNT-1: {{atom|red}}.global.add.u32
// PTX-NOT: {{atom|red}}.global
// SOURCE: void argsort_i64_scatter(
// SOURCE-NOT: atomic_add(
// SOURCE: void f_3(__global int *
// SOURCE: atomic_add(
// SOURCE-NOT: atomic_add(
// CORES-NOT: atomic_add(
func.func @f(%wide: tensor<?xi64>, %x: tensor<?xi64>, %i: tensor<?xi64>, %narrow: tensor<?xi32>, %y: tensor<?xi32>, %floats: tensor<?xf32>, %z: tensor<?xf32>) -> (tensor<?xi64>, tensor<?xi32>, tensor<?xf32>) {
  %0 = graph.scatter %x into %wide[%i] axes [0] at 0 combine "add" : tensor<?xi64> into tensor<?xi64>[tensor<?xi64>] -> tensor<?xi64>
  %1 = graph.scatter %y into %narrow[%i] axes [0] at 0 combine "add" : tensor<?xi32> into tensor<?xi32>[tensor<?xi64>] -> tensor<?xi32>
  %2 = graph.scatter %z into %floats[%i] axes [0] at 0 combine "add" : tensor<?xf32> into tensor<?xf32>[tensor<?xi64>] -> tensor<?xf32>
  return %0, %1, %2 : tensor<?xi64>, tensor<?xi32>, tensor<?xf32>
}
