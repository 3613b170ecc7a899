# Shared by the commands of scripts/: words, phases and their times. To be sourced.
# shellcheck shell=bash

HEDDLE_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
HEDDLE_BUILD=${HEDDLE_BUILD:-$HEDDLE_ROOT/build}
HEDDLE_TARGETS=(sm_80 sm_89 sm_90a sm_100a sm_103a sm_120a)
heddle_command=$(basename "$0")
heddle_script=$(cd "$(dirname "$0")" && pwd)/$heddle_command
heddle_phases=()
heddle_phase=

say() { printf '%s\n' "$*"; }
warn() { printf '%s: warning: %s\n' "$heddle_command" "$*" >&2; }
die() {
  printf '%s: error: %s\n' "$heddle_command" "$*" >&2
  exit 1
}

# The comment at the head of the running command, from its second line to the first empty one.
usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "$heddle_script"; }

# phase NAME: ends the phase before and starts one.
phase() {
  end_phase
  heddle_phase=$1
  heddle_phase_start=$SECONDS
  printf '\n== %s\n' "$1"
}

end_phase() {
  [ -z "$heddle_phase" ] || heddle_phases+=("$(printf '%6d s  %s' $((SECONDS - heddle_phase_start)) "$heddle_phase")")
  heddle_phase=
}

print_phases() {
  end_phase
  printf '\n== Time\n'
  printf '%s\n' "${heddle_phases[@]}"
  printf '%6d s  together\n' "$SECONDS"
}
