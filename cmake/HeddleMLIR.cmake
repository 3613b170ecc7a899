# Finds MLIR and LLVM 22 (Debian's packages) and sets up TableGen and the precompiled header.
# An executable links either the shared libMLIR and libLLVM or the archives of both, never some of each: that
# registers command-line options twice and aborts at start. heddlec links the archives: loading the shared
# libraries takes 30 ms of a compilation, and a compiler in one file is easier to carry.

find_package(MLIR REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "expected LLVM 22, found ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")
endif()
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND ${LLVM_DEFINITIONS})

# One precompiled header for every translation unit that uses MLIR: parsing NVVMDialect.h alone
# costs 11 s, with the header 1 to 3 s.
add_library(heddle_mlir_pch OBJECT ${CMAKE_SOURCE_DIR}/cmake/pch.cpp)
target_include_directories(heddle_mlir_pch SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_definitions(heddle_mlir_pch PUBLIC ${LLVM_DEFINITIONS_LIST})
set(HEDDLE_MLIR_FLAGS -fno-exceptions -Wno-deprecated-declarations)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  list(APPEND HEDDLE_MLIR_FLAGS -fpch-instantiate-templates)
endif()
target_compile_options(heddle_mlir_pch PUBLIC ${HEDDLE_MLIR_FLAGS})
target_precompile_headers(heddle_mlir_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.h)

# MLIR and LLVM for whatever is linked: as archives where the executable has the property HEDDLE_STATIC_MLIR.
option(HEDDLE_STATIC_HEDDLEC "Link heddlec with the archives of MLIR and LLVM" ON)
file(GLOB HEDDLE_MLIR_ARCHIVES ${LLVM_LIBRARY_DIR}/libMLIR*.a)
file(GLOB HEDDLE_LLVM_ARCHIVES ${LLVM_LIBRARY_DIR}/libLLVM*.a)
if(HEDDLE_STATIC_HEDDLEC AND (NOT HEDDLE_MLIR_ARCHIVES OR NOT HEDDLE_LLVM_ARCHIVES))
  message(STATUS "no archives of MLIR and LLVM in ${LLVM_LIBRARY_DIR}: heddlec links the shared libraries")
  set(HEDDLE_STATIC_HEDDLEC OFF)
endif()
find_package(Threads REQUIRED)
add_library(heddle_mlir_archives INTERFACE)
target_link_libraries(heddle_mlir_archives INTERFACE
  ${HEDDLE_MLIR_ARCHIVES} ${HEDDLE_LLVM_ARCHIVES} z zstd Threads::Threads ${CMAKE_DL_LIBS})
add_library(heddle_mlir INTERFACE)
target_link_libraries(heddle_mlir INTERFACE
  "$<$<BOOL:$<TARGET_PROPERTY:HEDDLE_STATIC_MLIR>>:heddle_mlir_archives>"
  "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:HEDDLE_STATIC_MLIR>>>:MLIR;LLVM>")

# heddle_mlir_library(name SOURCES... DEPENDS... LIBS...): a static library of the compiler.
function(heddle_mlir_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  heddle_use_mlir(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LIBS} heddle_mlir)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# Gives a target MLIR's headers, flags and the shared precompiled header.
function(heddle_use_mlir name)
  target_include_directories(${name} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  target_compile_definitions(${name} PRIVATE ${LLVM_DEFINITIONS_LIST})
  target_compile_options(${name} PRIVATE ${HEDDLE_MLIR_FLAGS})
  target_precompile_headers(${name} REUSE_FROM heddle_mlir_pch)
endfunction()

# heddle_tool(name [STATIC] SOURCES... LIBS...): an executable of the compiler, with MLIR's archives if STATIC. Its sources are a main
# function that sees none of MLIR (the precompiled header is not for position-independent
# executables).
function(heddle_tool name)
  cmake_parse_arguments(ARG "STATIC" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  if(ARG_STATIC AND HEDDLE_STATIC_HEDDLEC)
    set_target_properties(${name} PROPERTIES HEDDLE_STATIC_MLIR ON)
    target_link_options(${name} PRIVATE -Wl,--gc-sections $<$<CONFIG:Release>:-Wl,-s>)
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} heddle_mlir)
  # Debian keeps libMLIR outside the loader's path.
  set_target_properties(${name} PROPERTIES INSTALL_RPATH ${LLVM_LIBRARY_DIR})
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()
