// What FP8 products need beside the multiplication: predicated loads of scales, conversions.
// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --convert-ptx-to-llvm | FileCheck %s --check-prefix=TEXT

// CHECK-LABEL: llvm.func @scales
// TEXT-LABEL: llvm.func @scales
llvm.func @scales(%address: !llvm.ptr<1>, %limit: i32) -> f32 {
  // CHECK: ptx.load_below %{{.*}} + 128, 8 of %{{.*}} : <1>
  // TEXT: llvm.inline_asm
  // TEXT-SAME: setp.gt.s32 p, $2, 8;
  // TEXT-SAME: mov.f32 $0, 0f00000000;
  // TEXT-SAME: @p ld.global.nc.f32 $0, [$1+128];
  // TEXT-SAME: "=f,l,r"
  %x = ptx.load_below %address + 128, 8 of %limit : !llvm.ptr<1>
  llvm.return %x : f32
}

// CHECK-LABEL: llvm.func @convert
// TEXT-LABEL: llvm.func @convert
llvm.func @convert(%high: f32, %low: f32) -> i16 {
  // CHECK: ptx.cvt_f8x2 %{{.*}}, %{{.*}} to "e4m3"
  // TEXT: llvm.inline_asm "cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "=h,f,f"
  %x = ptx.cvt_f8x2 %high, %low to "e4m3"
  llvm.return %x : i16
}
