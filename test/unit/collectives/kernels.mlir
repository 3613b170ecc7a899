// What the tests of collectives run: small chunks, so that rings wrap at small sizes.
heddle.kernel @gather(%x: tensor<?xbf16>) -> tensor<?x?xbf16>
    attributes {schedule = "ctas=3,chunk=256,stages=3,warps=2,packets=256"} {
  %0 = heddle.all_gather %x : tensor<?xbf16> to tensor<?x?xbf16>
  heddle.return %0 : tensor<?x?xbf16>
}
heddle.kernel @gather_bytes(%x: tensor<?xf8E4M3FN>) -> tensor<?x?xf8E4M3FN>
    attributes {schedule = "ctas=2,chunk=128,stages=2,warps=1,keep=stream,packets=128"} {
  %0 = heddle.all_gather %x : tensor<?xf8E4M3FN> to tensor<?x?xf8E4M3FN>
  heddle.return %0 : tensor<?x?xf8E4M3FN>
}
heddle.kernel @swap(%x: tensor<?x?xbf16>) -> tensor<?x?xbf16>
    attributes {schedule = "ctas=3,chunk=256,stages=3,warps=2,packets=256"} {
  %0 = heddle.all_to_all %x : tensor<?x?xbf16> to tensor<?x?xbf16>
  heddle.return %0 : tensor<?x?xbf16>
}
heddle.kernel @scatter(%x: tensor<?x?xf16>) -> tensor<?xf16>
    attributes {schedule = "ctas=3,chunk=256,stages=3,warps=2,packets=256"} {
  %0 = heddle.reduce_scatter %x : tensor<?x?xf16> to tensor<?xf16>
  heddle.return %0 : tensor<?xf16>
}
heddle.kernel @reduce(%x: tensor<?xbf16>) -> tensor<?xbf16>
    attributes {schedule = "ctas=3,chunk=256,stages=3,warps=2,packets=256"} {
  %0 = heddle.all_reduce %x : tensor<?xbf16> to tensor<?xbf16>
  heddle.return %0 : tensor<?xbf16>
}
heddle.kernel @reduce_wide(%x: tensor<?xf32>) -> tensor<?xf32>
    attributes {schedule = "ctas=2,chunk=512,stages=2,warps=1,packets=128"} {
  %0 = heddle.all_reduce %x : tensor<?xf32> to tensor<?xf32>
  heddle.return %0 : tensor<?xf32>
}
heddle.kernel @spread(%x: tensor<?xbf16>) -> tensor<?xbf16>
    attributes {schedule = "ctas=3,chunk=256,stages=3,warps=2,packets=256"} {
  %0 = heddle.rank_broadcast %x root 1 : tensor<?xbf16> to tensor<?xbf16>
  heddle.return %0 : tensor<?xbf16>
}
heddle.kernel @meet() {
  heddle.barrier
  heddle.return
}
