// Our own kernels with one thing broken in their roles: each is refused before any code is made.
// The same breakage in the PTX is what the emulator must report (test/unit/mutants).
// RUN: heddlec %s --arch=sm_90a --emit=roles -o %t.hopper
// RUN: heddlec %s --arch=sm_100a --emit=roles -o %t.blackwell
// RUN: heddlec %t.hopper --ptxas none --emit=ptx -o %t.ptx
// RUN: heddlec %t.blackwell --ptxas none --emit=ptx -o %t.ptx

// A fence is missing: the first, the last.
// RUN: sed '0,/warp.fence <proxy_async>/{/warp.fence <proxy_async>/d}' %t.hopper | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=PROXY
// RUN: sed '0,/warp.fence <proxy_async>/{/warp.fence <proxy_async>/d}' %t.blackwell | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=PROXY
// RUN: tac %t.hopper | sed '0,/warp.fence <proxy_async>/{/warp.fence <proxy_async>/d}' | tac | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=PROXY
// RUN: sed '0,/warp.fence <tmem_after>/{/warp.fence <tmem_after>/d}' %t.blackwell | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=AFTER
// RUN: sed '0,/warp.fence <tmem_before>/{/warp.fence <tmem_before>/d}' %t.blackwell | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: sed '/warp.fence/d' %t.blackwell | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=AFTER
// PROXY: 'warp.commit' op expected warp.fence <proxy_async> before it to order what is written
// AFTER: expected warp.fence <tmem_after> after it to order what is written to pipe "{{.*}}"
// BEFORE: expected warp.fence <tmem_before> before it to order what is written to pipe "accumulator"

// A wait for asynchronous multiplications is missing, or does not lag.
// RUN: sed '0,/%[0-9]* = warp.mma_wait.*/s///; s/warp.pack %[0-9]* columns/warp.pack %8 columns/' %t.hopper | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=MMAWAIT
// RUN: sed '0,/ lag 1 after/s// after/' %t.hopper | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=LAG
// MMAWAIT: 'warp.pack' op expected warp.mma_wait between the multiplications
// LAG: 'warp.release' op expected a warp.wait of pipe "operands" before it

// An arrival is missing, or there is one too many.
// RUN: sed '0,/warp.commit/{/warp.commit/d}' %t.hopper | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=COMMIT
// RUN: tac %t.hopper | sed '0,/warp.commit/{/warp.commit/d}' | tac | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=COMMIT
// RUN: sed '0,/warp.release/{/warp.release/d}' %t.hopper | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=RELEASE
// RUN: sed '0,/warp.release/{/warp.release/d}' %t.blackwell | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=RELEASE
// RUN: sed '0,/warp.release .* lag/{/warp.release .* lag/d}' %t.hopper | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=RELEASE
// RUN: sed '0,/\(warp.commit.*\)/s//\1\n\1/' %t.hopper | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=TWICE
// COMMIT: expected a warp.commit of pipe "{{.*}}" {{after it|between two}}
// RELEASE: expected a warp.release of pipe "{{.*}}" {{after it|between two}}
// TWICE: 'warp.commit' op expected a warp.acquire of pipe "operands" before it

// A count is wrong.
// RUN: sed '0,/consumers = [0-9]*/s//consumers = 3/' %t.hopper | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=CONSUMERS
// RUN: sed '0,/producers = [0-9]*/s//producers = 7/' %t.blackwell | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=PRODUCERS
// RUN: sed '0,/to %2 step/s//to %1 step/' %t.hopper | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=BOUNDS
// RUN: sed "s/<smem, [0-9]*, /<smem, 1, /g" %t.hopper | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=DEPTH
// CONSUMERS: expected consumers of pipe "operands" to be
// PRODUCERS: expected producers of pipe "operands" to be 1
// BOUNDS: expected loops of equal bounds around pipe "operands"
// DEPTH: deadlock: role "load" waits for an empty slot of pipe "operands"

// A slot is used after it went to the other side: the store releases it before its copy, the load
// commits it before its last copy.
// RUN: awk '/warp.role @store/{s=1} s&&/warp.copy/&&!d{c=$0; getline; print; print c; d=1; next} {print}' %t.hopper | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=USED
// RUN: awk '/warp.role @store/{s=1} s&&/warp.copy/&&!d{c=$0; getline; print; print c; d=1; next} {print}' %t.blackwell | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=USED
// RUN: awk '/warp.copy/&&!d{getline n; getline m; print; print m; print n; d=1; next} {print}' %t.hopper | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=USED
// USED: overwrite before read: expected role "{{.*}}" to use a slot of pipe

// Memory, barriers, warps and registers that two things claim.
// RUN: sed 's/barriers = [0-9]* /barriers = 0 /' %t.hopper | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=BARRIERS
// RUN: sed 's/offset = [0-9]* : i64, producers = \([^1]\)/offset = 2048 : i64, producers = \1/' %t.hopper | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=SLOTS
// RUN: sed 's/registers 232/registers 240/' %t.hopper | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=POOL
// RUN: sed '0,/warps 1 to 2/s//warps 0 to 1/' %t.blackwell | not heddlec - --ptxas none --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=WARPS
// BARRIERS: expected the barriers of "{{.*}}" apart from the barriers of "operands"
// SLOTS: expected the slots of "out" apart from the slots of "operands"
// POOL: expected the warpgroups to share 504 registers
// WARPS: expected warps of its own, got 0 to 1
heddle.kernel @plain(%A: tensor<?x2048xbf16>, %B: tensor<1024x2048xbf16>) -> tensor<?x1024xbf16> {
  %d = heddle.gemm %A, %B transpose_b accumulate f32
    : (tensor<?x2048xbf16>, tensor<1024x2048xbf16>) -> tensor<?x1024xbf16>
  heddle.return %d : tensor<?x1024xbf16>
}
