// Compiles the precompiled header; see HeddleMLIR.cmake.
