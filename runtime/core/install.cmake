# cmake --install: the library, its headers, a CMake package (find_package(heddle-rt), target
# heddle::rt) and a pkg-config file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS heddle_rt_shared EXPORT heddle-rt-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/heddle-rt
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT runtime FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

set(HEDDLE_RT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/heddle-rt)
install(EXPORT heddle-rt-targets NAMESPACE heddle:: DESTINATION ${HEDDLE_RT_CMAKE_DIR} COMPONENT runtime)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/heddle-rt-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/heddle-rt-config.cmake INSTALL_DESTINATION ${HEDDLE_RT_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/heddle-rt-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/heddle-rt-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/heddle-rt-config-version.cmake
  DESTINATION ${HEDDLE_RT_CMAKE_DIR} COMPONENT runtime)

# Relative to the file itself, so that an installed tree may be moved.
file(RELATIVE_PATH HEDDLE_RT_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" HEDDLE_RT_PC_PREFIX "${HEDDLE_RT_PC_PREFIX}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/heddle-rt.pc.in ${CMAKE_CURRENT_BINARY_DIR}/heddle-rt.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/heddle-rt.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)
