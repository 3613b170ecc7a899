// From spec to results of several emulated ranks, with race checks: parts of any size, odd ones
// and single rows.
// RUN: heddlec %s --arch=sm_80,sm_90a,sm_100a --ptxas none -o %t.hdl
// RUN: heddle-run %t.hdl --kernel gather -n 2 --size M=3 --device emulator:sm_90a --checks races | FileCheck %s --check-prefixes=TWO
// RUN: heddle-run %t.hdl --kernel gather -n 4 --size M=300 --device emulator:sm_100a --checks races | FileCheck %s --check-prefixes=FOUR
// RUN: heddle-run %t.hdl --kernel reduce -n 8 --size M=4099 --device emulator:sm_80 --checks races | FileCheck %s --check-prefixes=EIGHT
// RUN: heddle-run %t.hdl --kernel swap -n 4 --size M=77 --device emulator:sm_90a --checks races | FileCheck %s --check-prefixes=FOUR
// RUN: heddle-run %t.hdl --kernel scatter -n 2 --size M=1024 --device emulator:sm_90a --checks races | FileCheck %s --check-prefixes=TWO
// RUN: heddle-run %t.hdl --kernel meet -n 4 --device emulator:sm_90a --checks races
// A root that is no rank, and a world that is not there.
// RUN: not heddle-run %t.hdl --kernel spread -n 2 --size M=8 --device emulator:sm_90a 2>&1 | FileCheck %s --check-prefix=ROOT

// TWO-COUNT-2: passed: D of rank
// FOUR-COUNT-4: passed: D of rank
// EIGHT-COUNT-8: passed: D of rank
// ROOT: number of ranks, which the root is below

heddle.kernel @gather(%x: tensor<?x64xbf16> {heddle.dims = ["M", "K"]}) -> tensor<?x?x64xbf16> {
  %0 = heddle.all_gather %x : tensor<?x64xbf16> to tensor<?x?x64xbf16>
  heddle.return %0 : tensor<?x?x64xbf16>
}
heddle.kernel @reduce(%x: tensor<?xf16> {heddle.dims = ["M"]}) -> tensor<?xf16> {
  %0 = heddle.all_reduce %x : tensor<?xf16> to tensor<?xf16>
  heddle.return %0 : tensor<?xf16>
}
heddle.kernel @swap(%x: tensor<?x?xbf16> {heddle.dims = ["world", "M"]}) -> tensor<?x?xbf16> {
  %0 = heddle.all_to_all %x : tensor<?x?xbf16> to tensor<?x?xbf16>
  heddle.return %0 : tensor<?x?xbf16>
}
heddle.kernel @scatter(%x: tensor<?x?xbf16> {heddle.dims = ["world", "M"]}) -> tensor<?xbf16> {
  %0 = heddle.reduce_scatter %x : tensor<?x?xbf16> to tensor<?xbf16>
  heddle.return %0 : tensor<?xbf16>
}
heddle.kernel @spread(%x: tensor<?xbf16> {heddle.dims = ["M"]}) -> tensor<?xbf16> {
  %0 = heddle.rank_broadcast %x root 2 : tensor<?xbf16> to tensor<?xbf16>
  heddle.return %0 : tensor<?xbf16>
}
heddle.kernel @meet() {
  heddle.barrier
  heddle.return
}
