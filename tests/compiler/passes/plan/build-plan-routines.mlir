// Groups of work-items sort, search and correlate; other targets, and numbers without an order of their bits, call the library.
// RUN: graphc-opt %s --graphc-build-plan=groups=true | FileCheck %s
// RUN: graphc-opt %s --graphc-build-plan | FileCheck %s --check-prefix=HOST
// HOST-NOT: kernel.
// HOST-COUNT-6: plan.call

// One line that one tile holds needs no other pass; what is equal is sorted by the same kernels.
// CHECK-DAG: kernel.sort @sort_f32 of f32{{$}}
// CHECK-DAG: kernel.sort @argsort_ui8_descending of ui8 places descending
// CHECK-DAG: kernel.search @searchsorted_f32_right of f32 right
// CHECK-DAG: kernel.correlate @correlate_f64 of f64
// CHECK-LABEL: plan.program @short
// CHECK-DAG: plan.launch @sort_f32_tiles
// CHECK-NOT: plan.launch
// CHECK: plan.return
func.func @short(%x: tensor<4x1000xf32>) -> tensor<4x1000xf32> {
  %0 = graph.library "sort" %x params [0] : tensor<4x1000xf32> -> tensor<4x1000xf32>
  return %0 : tensor<4x1000xf32>
}

// 5000 elements are three tiles: two passes, the second one the last.
// CHECK-LABEL: plan.program @long
// CHECK: plan.launch @argsort_ui8_descending_tiles({{.*}} !plan.buffer<ui8>, !plan.buffer<ui8>, !plan.buffer<i64>, !plan.buffer<i64>)
// CHECK: plan.launch @argsort_ui8_descending_splits
// CHECK: plan.launch @argsort_ui8_descending_merge
// CHECK: plan.launch @argsort_ui8_descending_splits
// CHECK: plan.launch @argsort_ui8_descending_merge
// CHECK-NOT: plan.launch
// CHECK: plan.return
func.func @long(%x: tensor<1x5000xui8>) -> tensor<1x5000xi64> {
  %0 = graph.library "argsort" %x params [1] : tensor<1x5000xui8> -> tensor<1x5000xi64>
  return %0 : tensor<1x5000xi64>
}

// Of a length that is not known memory has what either way needs; the launches of the other have no groups. Four digits are
// counted and moved after one another, each as the device finds that it must be.
// CHECK-LABEL: plan.program @open
// CHECK: plan.launch @sort_f32_tiles
// CHECK-COUNT-6: plan.launch @sort_f32_merge
// CHECK-NOT: plan.launch @sort_f32_merge
// CHECK: plan.launch @sort_f32_keys
// CHECK: plan.launch @sort_f32_passes
// CHECK-COUNT-4: plan.launch @sort_f32_scatter
// CHECK-NOT: plan.launch
// CHECK: plan.return
func.func @open(%x: tensor<1x?xf32>, %n: index) -> tensor<1x?xf32> {
  %0 = graph.library "sort" %x to (%n) params [0] : tensor<1x?xf32> -> tensor<1x?xf32>
  return %0 : tensor<1x?xf32>
}

// CHECK-LABEL: plan.program @digits
// CHECK: plan.launch @argsort_i16_keys({{.*}} !plan.buffer<i16>, !plan.buffer<ui16>, !plan.buffer<ui16>)
// CHECK: plan.launch @argsort_i16_passes
// CHECK: plan.launch @argsort_i16_count
// CHECK: plan.launch @argsort_i16_offsets
// CHECK: plan.launch @argsort_i16_scatter
// CHECK: plan.launch @argsort_i16_count
// CHECK: plan.launch @argsort_i16_offsets
// CHECK: plan.launch @argsort_i16_scatter
// CHECK-NOT: plan.launch
// CHECK: plan.return
func.func @digits(%x: tensor<2x131072xi16>) -> tensor<2x131072xi64> {
  %0 = graph.library "argsort" %x params [0] : tensor<2x131072xi16> -> tensor<2x131072xi64>
  return %0 : tensor<2x131072xi64>
}

// CHECK-LABEL: plan.program @complex
// CHECK: plan.call "sort"
func.func @complex(%x: tensor<1x5000xcomplex<f32>>) -> tensor<1x5000xcomplex<f32>> {
  %0 = graph.library "sort" %x params [0] : tensor<1x5000xcomplex<f32>> -> tensor<1x5000xcomplex<f32>>
  return %0 : tensor<1x5000xcomplex<f32>>
}

// Values are searched where they are.
// CHECK-LABEL: plan.program @searched
// CHECK: plan.launch @searchsorted_f32_right(
// CHECK-NOT: plan.call
// CHECK: plan.return
func.func @searched(%a: tensor<100xf32>, %v: tensor<5000xf32>) -> tensor<5000xi64> {
  %0 = graph.library "searchsorted" %a, %v params [1] : tensor<100xf32>, tensor<5000xf32> -> tensor<5000xi64>
  return %0 : tensor<5000xi64>
}

// Sums of shifted products are asked for by the number of the first one, which their parameter tells.
// CHECK-LABEL: plan.program @correlated
// CHECK: plan.launch @correlate_f64(
// CHECK-NOT: plan.call
// CHECK: plan.return
func.func @correlated(%x: tensor<5000xf64>, %w: tensor<50xf64>) -> tensor<5000xf64> {
  %0 = graph.library "correlate" %x, %w params [3] : tensor<5000xf64>, tensor<50xf64> -> tensor<5000xf64>
  return %0 : tensor<5000xf64>
}
