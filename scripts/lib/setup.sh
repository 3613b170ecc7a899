# What a machine needs before it can build: Debian packages by name, and NVIDIA's assembler and
# disassembler as Python wheels. Only what is missing is installed. To be sourced after common.sh.
# shellcheck shell=bash

heddle_packages=(
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools # lit, FileCheck and not are in the last
  clang-22 lld-22 ccache cmake ninja-build
  flatbuffers-compiler libflatbuffers-dev nlohmann-json3-dev libcli11-dev libfmt-dev
  libgtest-dev libgmock-dev
  libssl-dev                                             # SHA-256, linked statically into the runtime
  libzstd-dev zlib1g-dev libxml2-dev                     # LLVM's CMake package asks for them
  gcc g++ libc6-dev make pkg-config binutils             # the embedding examples and their test
  python3 python3-venv                                   # lit, test/gpu/generate and the wheels
)

# Installs what is missing of heddle_packages.
install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    check_commands "this is no Debian system"
    return
  fi
  local missing
  missing=$(missing_packages)
  if [ -z "$missing" ]; then
    say "packages: all ${#heddle_packages[@]} are there"
    return
  fi
  say "packages: installing" $missing
  local become=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null ||
      die "cannot install packages: neither root nor sudo; as root: apt-get install" $missing
    become=(sudo)
  fi
  local log updated=
  log=$(mktemp)
  # A machine that never asked for the package lists knows no candidates.
  # shellcheck disable=SC2086 # the names are words
  if apt-cache policy $missing | grep -q 'Candidate: (none)' || [ "$(apt-cache policy $missing | grep -c Candidate:)" -lt "$(wc -w <<<"$missing")" ]; then
    apt_get update >"$log" 2>&1 || true
    updated=1
  fi
  # shellcheck disable=SC2086
  if ! apt_get install -y --no-install-recommends $missing >"$log" 2>&1; then
    { [ -z "$updated" ] && apt_get update >>"$log" 2>&1 && apt_get install -y --no-install-recommends $missing >"$log" 2>&1; } || true
  fi
  missing=$(missing_packages)
  if [ -n "$missing" ]; then
    tail -n 12 "$log" >&2
    rm -f "$log"
    die "cannot install" $missing "(offline? LLVM 22 is in Debian 12's security archive, bookworm-security)"
  fi
  rm -f "$log"
}

# apt-get as root, without questions. `become` is install_packages' own.
apt_get() { "${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" </dev/null; }

missing_packages() {
  local installed package missing=()
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${heddle_packages[@]}" 2>/dev/null |
    sed -n 's/^installed //p')
  for package in "${heddle_packages[@]}"; do
    grep -qxF "$package" <<<"$installed" || missing+=("$package")
  done
  echo "${missing[*]}"
}

# check_commands CAUSE: where nothing can be installed, the commands must be there.
check_commands() {
  local command missing=()
  for command in clang-22 clang++-22 cmake ninja flatc python3; do
    command -v "$command" >/dev/null || missing+=("$command")
  done
  command -v ld.lld ld.lld-22 >/dev/null || missing+=(ld.lld)
  [ ${#missing[@]} -eq 0 ] ||
    die "$1, and these commands are missing: ${missing[*]}; Debian 12 has them in: ${heddle_packages[*]}"
  warn "$1: no packages were installed"
}

# Puts ptxas and nvdisasm into build/venv. Without them everything builds, PTX comes out, and tests
# that need them are skipped.
install_wheels() {
  local venv=$HEDDLE_BUILD/venv log python=/usr/bin/python3
  if compgen -G "$venv/lib/python*/site-packages/nvidia/*/bin/ptxas" >/dev/null &&
    compgen -G "$venv/lib/python*/site-packages/nvidia/*/bin/nvdisasm" >/dev/null; then
    say "wheels: ptxas $(release_of "$(wheel_ptxas)") and nvdisasm are in build/venv"
    return
  fi
  say "wheels: installing nvidia-cuda-nvcc and nvidia-cuda-nvdisasm into build/venv"
  [ -x "$python" ] || python=python3
  log=$(mktemp)
  # Their dependencies serve nvcc; ptxas and nvdisasm stand alone.
  if "$python" -m venv "$venv" >"$log" 2>&1 &&
    "$venv/bin/pip" install --quiet --no-input --disable-pip-version-check --no-deps --retries 2 \
      nvidia-cuda-nvcc nvidia-cuda-nvdisasm </dev/null >"$log" 2>&1; then
    say "wheels: ptxas $(release_of "$(wheel_ptxas)")"
  else
    warn "no ptxas and nvdisasm from wheels: $(grep -q Retrying "$log" && echo "the package index cannot be reached: ")$(grep -v '^ *$' "$log" | tail -n 1)"
  fi
  rm -f "$log"
}

wheel_ptxas() { compgen -G "$HEDDLE_BUILD/venv/lib/python*/site-packages/nvidia/*/bin/ptxas" | head -n 1; }

# The toolkit's ptxas, if there is one.
toolkit_ptxas() {
  command -v ptxas || { [ -x /usr/local/cuda/bin/ptxas ] && echo /usr/local/cuda/bin/ptxas; }
}

release_of() { "$1" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p'; }
