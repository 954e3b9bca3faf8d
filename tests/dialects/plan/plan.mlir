// Every op and type of the plan dialect reads back what it printed.
// RUN: graphc-opt %s | graphc-opt | FileCheck %s
// RUN: graphc-opt %s --mlir-print-op-generic | graphc-opt | FileCheck %s

// CHECK-LABEL: plan.program @f inputs [tensor<?x8xf32>, tensor<4xui8>] outputs [tensor<?x8xf32>, tensor<4xui8>] {
// CHECK-NEXT: ^bb0(%[[X:.*]]: !plan.buffer<f32>, %[[Y:.*]]: !plan.buffer<ui8>):
// CHECK: %[[N:.*]] = plan.dim input 0, 0
// CHECK: %[[S:.*]] = plan.size 2
// CHECK: plan.check %[[N]] equals %[[S]], "axis 0"
// CHECK: %[[A:.*]] = plan.alloc %[[N]] : <f32>
// CHECK: plan.launch @k(%[[X]], %[[A]] : !plan.buffer<f32>, !plan.buffer<f32>) sizes(%[[N]]) over %[[N]] work %[[S]] lines "a.py:1"
// CHECK: %[[B:.*]] = plan.alloc %[[S]] : <ui8>
// CHECK: plan.copy %[[Y]] to %[[B]] : <ui8>, <ui8>
// CHECK: plan.call "sort"(%[[A]] : !plan.buffer<f32>) to %{{.*}} : <f32> sizes(%[[N]], %[[S]], %[[N]], %[[S]]) ranks [2, 2] params [1] node 3 lines "a.py:2"
// CHECK: plan.return %[[A]], %[[B]] : !plan.buffer<f32>, !plan.buffer<ui8> sizes(%[[N]])
plan.program @f inputs [tensor<?x8xf32>, tensor<4xui8>] outputs [tensor<?x8xf32>, tensor<4xui8>] {
^bb0(%x: !plan.buffer<f32>, %y: !plan.buffer<ui8>):
  %n = plan.dim input 0, 0
  %s = plan.size 2
  plan.check %n equals %s, "axis 0"
  %a = plan.alloc %n : <f32>
  plan.launch @k(%x, %a : !plan.buffer<f32>, !plan.buffer<f32>) sizes(%n) over %n work %s lines "a.py:1"
  %b = plan.alloc %s : <ui8>
  %c = plan.alloc %n : <f32>
  plan.copy %y to %b : <ui8>, <ui8>
  plan.call "sort"(%a : !plan.buffer<f32>) to %c : !plan.buffer<f32> sizes(%n, %s, %n, %s) ranks [2, 2] params [1] node 3 lines "a.py:2"
  plan.return %a, %b : !plan.buffer<f32>, !plan.buffer<ui8> sizes(%n)
}

// CHECK-LABEL: plan.program @checked
// CHECK: plan.faults [{axis = 0 : i64, line = "a.py:1", place = 2 : i64}] : <i64>
plan.program @checked inputs [] outputs [] {
  %0 = plan.faults [{axis = 0 : i64, line = "a.py:1", place = 2 : i64}] : <i64>
  plan.return sizes()
}

// CHECK-LABEL: plan.program @nothing inputs [] outputs []
// CHECK: plan.return sizes()
plan.program @nothing inputs [] outputs [] {
  plan.return sizes()
}

// CHECK-LABEL: func.func private @types(!plan.buffer<i1>, !plan.buffer<f64>)
func.func private @types(!plan.buffer<i1>, !plan.buffer<f64>)
