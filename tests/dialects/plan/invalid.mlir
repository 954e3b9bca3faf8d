// What the plan dialect's types and forms refuse.
// RUN: graphc-opt %s -split-input-file -verify-diagnostics

plan.program @alloc_type inputs [] outputs [] {
  %n = arith.constant 4 : index
  // expected-error @+1 {{'plan.alloc' op result #0 must be Flat storage of elements of one type}}
  %0 = "plan.alloc"(%n) : (index) -> memref<?xf32>
  plan.return sizes()
}

// -----

plan.program @copy_buffers inputs [tensor<4xf32>] outputs [] {
^bb0(%x: !plan.buffer<f32>):
  %n = arith.constant 4 : index
  // expected-error @+1 {{'plan.copy' op operand #1 must be Flat storage of elements of one type}}
  "plan.copy"(%x, %n) : (!plan.buffer<f32>, index) -> ()
  plan.return sizes()
}

// -----

plan.program @return_last inputs [] outputs [] {
  // expected-error @+1 {{'plan.return' op must be the last operation in the parent block}}
  plan.return sizes()
  %n = arith.constant 4 : index
  plan.return sizes()
}

// -----

%n = arith.constant 4 : index
// expected-note @+1 {{required by region isolation constraints}}
plan.program @isolated inputs [] outputs [] {
  // expected-error @+1 {{using value defined outside the region}}
  %0 = plan.alloc %n : <f32>
  plan.return sizes()
}

// -----

plan.program @call_ranks inputs [tensor<4xf32>] outputs [] {
^bb0(%x: !plan.buffer<f32>):
  %n = arith.constant 4 : index
  %y = plan.alloc %n : <f32>
  // expected-error @+1 {{'plan.call' op needs one rank for each operand and the result, and their sizes}}
  plan.call "sort"(%x : !plan.buffer<f32>) to %y : !plan.buffer<f32> sizes(%n, %n) ranks [1] params [] node -1 lines ""
  plan.return sizes()
}
