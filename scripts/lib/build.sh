# Configure and build with the default preset. To be sourced after common.sh and setup.sh.
# shellcheck shell=bash

# prepare INSTALL JOBS: set-up (unless INSTALL is "no"), configure, build.
prepare() {
  phase "Set-up"
  if [ "$1" = no ]; then
    check_commands "--no-install"
  else
    install_packages
    install_wheels
  fi
  phase "Configure"
  if [ -f "$HEDDLE_BUILD/build.ninja" ]; then
    say "$HEDDLE_BUILD is configured"
  else
    cmake --preset default -S "$HEDDLE_ROOT" -B "$HEDDLE_BUILD"
  fi
  phase "Build"
  # Without this ccache keeps nothing that uses a precompiled header.
  export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros,include_file_mtime,include_file_ctime}
  NINJA_STATUS='[%f/%t, %e s] ' cmake --build "$HEDDLE_BUILD" --parallel "$2"
}
