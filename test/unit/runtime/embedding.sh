#!/bin/bash
# Installs the runtime, builds both embedding examples outside the tree against it (CMake and
# pkg-config), moves the installation and runs them.
# usage: embedding.sh BUILD_DIR SOURCE_DIR [HEDDLEC]
set -eu
build=$1 source=$2 heddlec=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --component runtime --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix" # an installation may be moved
libdir=$(dirname "$(find "$work/prefix" -name libheddle-rt.so)")
export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir

bytes=$(cp "$(readlink -f "$libdir/libheddle-rt.so")" "$work/stripped.so" && strip "$work/stripped.so" && stat -c %s "$work/stripped.so")
echo "libheddle-rt.so: $bytes bytes stripped"
[ "$bytes" -le $((2 << 20)) ] || { echo "expected at most 2 MiB"; exit 1; }
foreign=$(nm -D --defined-only "$work/stripped.so" | awk '{print $3}' | grep -v '^heddle_' || true)
[ -z "$foreign" ] || { echo "expected only heddle_* symbols, got $foreign"; exit 1; }

for example in embed_c embed_cpp; do
  cp -r "$source/examples/$example" "$work/"
  cmake -S "$work/$example" -B "$work/$example/build" -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
  cmake --build "$work/$example/build" >/dev/null
  make -s -C "$work/$example"
done

run() { # run PROGRAM PACKAGE DEVICE: prints the exit code and what it said
  set +e
  out=$("$@" 2>&1)
  code=$?
  set -e
  echo "$(basename "$1") on $3: $code: $out"
}

if [ -n "$heddlec" ] && [ -x "$heddlec" ]; then
  "$heddlec" "$source/examples/embed_c/gemm.mlir" --arch=sm_80,sm_90a -o "$work/gemm.hdl"
else
  echo "no heddlec: the examples run without a package"
fi
for program in "$work"/embed_c/{build/,}embed_c "$work"/embed_cpp/{build/,}embed_cpp; do
  run "$program" "$work/absent.hdl" nowhere:0
  [ $code -eq 2 ] && [[ $out == *"got 'nowhere:0'"* ]] || { echo "expected an error about the device"; exit 1; }
  [ -e "$work/gemm.hdl" ] || continue
  for device in emulator:sm_80 emulator:sm_90a cuda:0; do
    run "$program" "$work/gemm.hdl" $device
    [ $code -eq 0 ] && continue
    [[ $out == *"unavailable"* || $out == *"expected a device like"* ]] || { echo "expected it to run"; exit 1; }
  done
done
echo "embedding: passed"
