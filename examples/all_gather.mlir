// Every rank's activations, on every rank: world x M x 7168. Run it with several ranks, e.g.
//   heddlec examples/all_gather.mlir --arch sm_90a -o all_gather.hdl
//   heddle-run all_gather.hdl -n 4 --device emulator:sm_90a --size M=8
heddle.kernel @all_gather(%x: tensor<?x7168xbf16> {heddle.dims = ["M", "K"]}) -> tensor<?x?x7168xbf16> {
  %0 = heddle.all_gather %x : tensor<?x7168xbf16> to tensor<?x?x7168xbf16>
  heddle.return %0 : tensor<?x?x7168xbf16>
}
