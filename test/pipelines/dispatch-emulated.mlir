// heddle.dispatch, heddle.expert_lists and heddle.combine from a spec to results on emulated ranks,
// compared with the reference, with race checks. Ids are small integers of both signs: duplicates,
// numbers of no expert, tokens that go nowhere. With 8 ranks there are more experts than ids.
//
// RUN: heddlec %s --arch=sm_80,sm_90a,sm_100a --ptxas=none -o %t.hdl
//
// RUN: heddle-run %t.hdl --kernel there -n 2 --size T=37 --random integers --checks races --device=emulator:sm_80 | FileCheck %s --check-prefix=THERE
// RUN: heddle-run %t.hdl --kernel there -n 4 --size T=21 --random integers --checks races --device=emulator:sm_90a | FileCheck %s --check-prefix=THERE
// RUN: heddle-run %t.hdl --kernel there -n 8 --size T=13 --random integers --checks races --device=emulator:sm_100a | FileCheck %s --check-prefix=THERE
// RUN: heddle-run %t.hdl --kernel there --size T=13 --random integers --device=emulator:sm_90a | FileCheck %s --check-prefix=THERE
// THERE: passed: rows
// THERE: passed: row_ids
// THERE: passed: row_weights
//
// RUN: heddle-run %t.hdl --kernel lists -n 2 --size T=137 --random integers --checks races --device=emulator:sm_80 | FileCheck %s --check-prefix=LISTS
// RUN: heddle-run %t.hdl --kernel lists -n 3 --size T=37 --random integers --device=emulator:sm_90a | FileCheck %s --check-prefix=LISTS
// LISTS: passed: offsets
// LISTS: passed: list
//
// RUN: heddle-run %t.hdl --kernel back -n 2 --size T=37 --random integers --checks races --device=emulator:sm_80 | FileCheck %s --check-prefix=BACK
// RUN: heddle-run %t.hdl --kernel back -n 4 --size T=21 --random integers --checks races --device=emulator:sm_90a | FileCheck %s --check-prefix=BACK
// RUN: heddle-run %t.hdl --kernel back -n 8 --size T=13 --random integers --checks races --device=emulator:sm_100a | FileCheck %s --check-prefix=BACK
// BACK: passed: sums

heddle.kernel @there(%x: tensor<?x72xbf16>, %ids: tensor<?x4xi32>, %weights: tensor<?x4xf32>)
    -> (tensor<?x?x72xbf16> {heddle.name = "rows"}, tensor<?x?x4xi32> {heddle.name = "row_ids"},
        tensor<?x?x4xf32> {heddle.name = "row_weights"}) {
  %rows, %i, %w = heddle.dispatch %x by %ids, %weights experts 2
    : (tensor<?x72xbf16>, tensor<?x4xi32>, tensor<?x4xf32>)
    -> (tensor<?x?x72xbf16>, tensor<?x?x4xi32>, tensor<?x?x4xf32>)
  heddle.return %rows, %i, %w : tensor<?x?x72xbf16>, tensor<?x?x4xi32>, tensor<?x?x4xf32>
}

heddle.kernel @lists(%ids: tensor<?x?x4xi32>)
    -> (tensor<3xi32> {heddle.name = "offsets"}, tensor<?x?x4xi32> {heddle.name = "list"}) {
  %offsets, %list = heddle.expert_lists %ids experts 2 : tensor<?x?x4xi32> -> (tensor<3xi32>, tensor<?x?x4xi32>)
  heddle.return %offsets, %list : tensor<3xi32>, tensor<?x?x4xi32>
}

heddle.kernel @back(%rows: tensor<?x?x72xbf16>, %ids: tensor<?x4xi32>) -> (tensor<?x72xbf16> {heddle.name = "sums"}) {
  %y = heddle.combine %rows by %ids experts 2 : (tensor<?x?x72xbf16>, tensor<?x4xi32>) -> tensor<?x72xbf16>
  heddle.return %y : tensor<?x72xbf16>
}
