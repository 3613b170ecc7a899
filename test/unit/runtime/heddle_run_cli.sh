#!/bin/bash
# heddle-run as its user meets it, on the emulated device: exit codes, messages, files.
# usage: heddle_run_cli.sh HEDDLE_RUN WRITE_TEST_PACKAGES
set -u
tool=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
"$2" . || exit 1
passed=0 failed=0

# expect CODE PATTERN ARGUMENTS...: the exit code, and a pattern of grep -E in what it prints.
expect() {
  local code=$1 pattern=$2 out got
  shift 2
  out=$("$tool" "$@" 2>&1)
  got=$?
  if [ $got -eq "$code" ] && grep -qE -- "$pattern" <<<"$out"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'heddle-run %s\n  expected exit code %s and "%s", got %s:\n%s\n' "$*" "$code" "$pattern" $got "$out"
  fi
}
on="--device emulator:sm_80,sms=2 --quiet"

expect 0 'passed: D relative error 0 .* 300 of 300 points' $on vector_add.hdl --size N=300
expect 0 'passed: D .* a sample of' $on vector_add.hdl --size N=3000 --check sampled
expect 0 'time: median' $on vector_add.hdl --size N=10 --time 3
expect 0 '"ok": true' $on vector_add.hdl --size N=10 --json
expect 0 'passed: D is empty, there was nothing to compute' $on vector_add.hdl --size N=0
expect 0 'emulator:sm_80' --list-devices
expect 0 'heddle-run [0-9]' --version
expect 0 'passed: Y of rank 3 relative error 0' $on all_gather.hdl --size N=300 -n 4 --checks races
expect 0 'passed: Y of rank 0 relative error 0' $on all_gather.hdl --size N=30 -n 1
expect 0 'ranks: 1, nvlink' $on all_gather.hdl --size N=30
expect 0 'ranks: 2, nvlink, all ranks in one process' $on all_gather.hdl --size N=30 -n 2
expect 0 '"ranks": 2' $on all_gather.hdl --size N=30 -n 2 --json
expect 0 'time: median' $on all_gather.hdl --size N=30 -n 2 --time 3
expect 0 'passed: D of rank 1' $on vector_add.hdl --size N=30 -n 2
expect 0 'passed: Y of rank 1' $on all_gather.hdl --size N=5 -n 2 --output Y=y%r.npy
expect 0 'passed: Y of rank 1' $on all_gather.hdl --size N=5 -n 2 --reference Y=y%r.npy
expect 2 'expected %r for the rank in the name' $on all_gather.hdl --size N=5 -n 2 --output Y=y.npy
expect 2 'size world: expected the number of ranks to be given by -n' $on all_gather.hdl --size N=5 --size world=2
expect 2 'ranks-per-device: expected 1 on emulated devices' $on all_gather.hdl --size N=5 -n 2 --ranks-per-device 2
expect 0 'ranks: 2, host, all ranks in one process' $on all_gather.hdl --size N=300 -n 2 --transport host
expect 0 'passed: Y of rank 2' $on all_gather.hdl --size N=300 -n 3 --transport host
expect 2 'expected a transport of nvlink, host or auto' $on all_gather.hdl --size N=300 -n 2 --transport pigeon
expect 2 'processes cannot share memory' $on all_gather.hdl --size N=300 -n 2 --processes
expect 2 'expected the number of ranks by -n' all_gather.hdl --processes
expect 2 'RANK and WORLD_SIZE' all_gather.hdl --join --size N=3
expect 0 'nvlink: kernels load and store' --topology --device emulator:sm_80,group=t
expect 0 'no: expected emulated devices of one group' --topology --device emulator:sm_80
expect 6 'data race on global memory' $on no_credit.hdl --size N=300 -n 4 --checks races --time 4
expect 1 'FAILED: D relative error' $on wrong.hdl --size N=300
expect 1 '"ok": false' $on wrong.hdl --size N=300 --json
expect 0 'variant 1' $on wrong.hdl --size N=300 --no-check
expect 2 '^heddle-run: error: expected a package to run'
expect 2 '^heddle-run: error: The following argument was not expected: --frob' vector_add.hdl --frob
expect 2 "^heddle-run: error: --device: expected a value after '='" --device= vector_add.hdl
expect 2 '^heddle-run: error: --kernel: expected a value, got an empty text' --kernel "" vector_add.hdl
expect 2 "expected a finite number over 0, got 'nan'" $on vector_add.hdl --size N=3 --tolerance nan
expect 2 "expected a finite number over 0, got 'inf'" $on vector_add.hdl --size N=3 --tolerance inf
expect 2 "expected a finite number over 0, got '-1'" $on vector_add.hdl --size N=3 --tolerance -1
expect 0 'passed: D' $on vector_add.hdl --size N=3 --tolerance 1e-3
expect 2 "expected NAME=VALUE, got 'A='" $on vector_add.hdl --size N=3 --input A=
expect 2 'expected NAME=VALUE' $on vector_add.hdl --size 300
expect 2 'expected a number' $on vector_add.hdl --size N=x
expect 2 'expected --size N=<number>' $on vector_add.hdl
expect 2 'one of the sizes N, got M' $on vector_add.hdl --size M=3
expect 2 "error: --random: expected normal.uniform.integers, got 'gauss'" $on vector_add.hdl --size N=3 --random gauss
expect 2 "error: --check: expected auto.full.sampled, got 'all'" $on vector_add.hdl --size N=3 --check all
expect 0 passed $on vector_add.hdl --size N=3 --random integers --check full
expect 2 'argument [AB]: needs, with those before it, [0-9]* MiB of host memory for two copies, the machine has' $on vector_add.hdl --size N=100000000000
expect 2 'is given twice' $on vector_add.hdl --size N=3 --size N=4
expect 2 'No such file' $on absent.hdl
expect 2 'absent.npy: No such file' $on vector_add.hdl --input A=absent.npy
expect 2 "expected --kernel to be one of vector_add, got 'conv'" $on vector_add.hdl --kernel conv --size N=3
expect 2 'expected a variant from 1 to 1' $on vector_add.hdl --size N=3 --variant 2
expect 3 'expected emulator:<target> with one of' --device emulator:none vector_add.hdl --size N=3
expect 3 "got 'tpu:0'" --device tpu:0 vector_add.hdl --size N=3
expect 4 'the package holds sm_120a' $on other_gpu.hdl --size N=3
expect 5 'expected stride 0 to be 1 .contiguous., got 2' $on vector_add.hdl --size N=300 --strides A=2
echo 'this is no package, whatever its name says' >damaged.hdl
expect 4 'damaged.hdl' $on damaged.hdl --size N=3
head -c 700 vector_add.hdl >cut.hdl
expect 4 'cut.hdl' $on cut.hdl --size N=3
: >empty.hdl
expect 4 'empty.hdl' $on empty.hdl --size N=3

# What one run writes another reads.
expect 0 passed $on vector_add.hdl --size N=7 --output D=d.npy --output A=a.npy
expect 0 'passed: D .* 7 of 7 points' $on vector_add.hdl --input A=d.npy --input B=a.npy
head -c 40 d.npy >cut.npy
expect 2 'cut.npy: the file ends in its header' $on vector_add.hdl --input A=cut.npy
expect 2 'no/where.npy' $on vector_add.hdl --size N=7 --output D=no/where.npy
printf '\223NUMPY\001\000\106\000%-69s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1,7)}" >flat.npy
head -c 28 /dev/zero >>flat.npy
expect 2 'input A: expected 1 dimensions, the file has 2 \(1x7\)' $on vector_add.hdl --input A=flat.npy
if python3 -c 'import numpy' 2>/dev/null; then
  python3 -c 'import numpy as n; assert n.load("d.npy").shape == (7,); n.save("f.npy", n.arange(6, dtype="f8"))' || failed=$((failed + 1))
  expect 0 passed $on vector_add.hdl --input A=f.npy
fi

# What the emulated device finds and shows.
expect 0 passed $on vector_add.hdl --size N=300 --checks races --trace trace.json
expect 0 passed $on vector_add.hdl --size N=300 --checks none --trace again.json --time 3
for trace in trace.json again.json; do
  python3 -c 'import json, sys; t = json.load(open(sys.argv[1])); assert any(e["ph"] == "X" and e["cat"] == "role" for e in t["traceEvents"])' $trace ||
    { echo "$trace is no trace"; failed=$((failed + 1)); }
done
expect 6 'cannot write the trace to' $on vector_add.hdl --size N=7 --trace no/where.json
expect 2 'expected an emulated device' --device cuda:0 vector_add.hdl --size N=3 --checks races
expect 2 'checks' $on vector_add.hdl --size N=3 --checks everything
expect 2 'expected seed=<number>' --device emulator:sm_80,checks=all vector_add.hdl --size N=3
expect 6 "more than the limit of 1000 warp instructions" --device emulator:sm_80,sms=1,limit=1000 --quiet vector_add.hdl --size N=1000000 --no-check

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
