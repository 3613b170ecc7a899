// RUN: heddle-opt %s --convert-math-to-nvvm | FileCheck %s

// The rounding error of the exponent comes back as a factor; large arguments overflow.
// CHECK-LABEL: @exp
func.func @exp(%x: f32) -> f32 {
  // CHECK: %[[C:.*]] = arith.maximumf %arg0, %{{.*}} : f32
  // CHECK: %[[T:.*]] = arith.mulf %[[C]], %{{.*}} : f32
  // CHECK: %[[Y:.*]] = ptx.ex2_approx %[[T]]
  // CHECK: %[[R:.*]] = math.fma %[[Y]], %{{.*}}, %[[Y]] : f32
  // CHECK: %[[BIG:.*]] = arith.cmpf ogt, %arg0, %{{.*}} : f32
  // CHECK: arith.select %[[BIG]], %{{.*}}, %[[R]] : f32
  // CHECK-NOT: math.exp
  %0 = math.exp %x : f32
  return %0 : f32
}

// CHECK-LABEL: @exp2
func.func @exp2(%x: f32) -> f32 {
  // CHECK: ptx.ex2_approx %arg0
  %0 = math.exp2 %x : f32
  return %0 : f32
}

// Exponent and mantissa come from the bits; zero, negative numbers and infinity are put right.
// CHECK-LABEL: @log
func.func @log(%x: f32) -> f32 {
  // CHECK: arith.bitcast %{{.*}} : f32 to i32
  // CHECK: arith.shrsi
  // CHECK: arith.bitcast %{{.*}} : i32 to f32
  // CHECK-COUNT-3: arith.select
  // CHECK-NOT: math.log
  %0 = math.log %x : f32
  return %0 : f32
}

// A polynomial near zero, exponentials elsewhere, the sign last.
// CHECK-LABEL: @tanh
func.func @tanh(%x: f32) -> f32 {
  // CHECK: %[[A:.*]] = math.absf %arg0
  // CHECK: ptx.ex2_approx
  // CHECK: ptx.div_full
  // CHECK: math.copysign %{{.*}}, %arg0
  // CHECK: %[[NEAR:.*]] = arith.cmpf olt, %[[A]],
  // CHECK: arith.select %[[NEAR]]
  // CHECK-NOT: math.tanh
  %0 = math.tanh %x : f32
  return %0 : f32
}

// CHECK-LABEL: @erf
func.func @erf(%x: f32) -> f32 {
  // CHECK: arith.minimumf
  // CHECK: ptx.ex2_approx
  // CHECK: math.copysign %{{.*}}, %arg0
  // CHECK-NOT: math.erf
  %0 = math.erf %x : f32
  return %0 : f32
}

// CHECK-LABEL: @rsqrt
func.func @rsqrt(%x: f32) -> f32 {
  // CHECK: ptx.rsqrt_approx %arg0
  %0 = math.rsqrt %x : f32
  return %0 : f32
}

// Only divisions that may be approximate change.
// CHECK-LABEL: @division
func.func @division(%x: f32, %y: f32) -> (f32, f32) {
  // CHECK: arith.divf %arg0, %arg1 : f32
  %0 = arith.divf %x, %y : f32
  // CHECK: ptx.div_full %arg0, %arg1
  %1 = arith.divf %x, %y fastmath<afn> : f32
  return %0, %1 : f32, f32
}

// What is well done by LLVM, and other types, stay.
// CHECK-LABEL: @others
func.func @others(%x: f32, %h: f16) -> (f32, f32, f16) {
  // CHECK: math.sqrt
  %0 = math.sqrt %x : f32
  // CHECK: math.absf
  %1 = math.absf %x : f32
  // CHECK: math.exp %{{.*}} : f16
  %2 = math.exp %h : f16
  return %0, %1, %2 : f32, f32, f16
}
