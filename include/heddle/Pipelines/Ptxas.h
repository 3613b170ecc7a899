//===- Ptxas.h - from PTX to machine code ----------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs ptxas as a subprocess and reads what it says. ptxas reports spills, stack use
// and serialised tensor-core pipelines only as information, with exit status 0;
// here they are errors, with an explanation of what to change.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PIPELINES_PTXAS_H
#define HEDDLE_PIPELINES_PTXAS_H

#include "heddle/Pipelines/Cache.h"
#include "heddle/Support/Result.h"
#include "heddle/Target/Target.h"
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// What ptxas said about one entry of a module. Bytes and registers a thread, except `sharedBytes`
/// (a block, static).
struct PtxasReport {
  std::string entry;
  unsigned registers = 0, barriers = 0;
  int64_t stackBytes = 0, spillStoreBytes = 0, spillLoadBytes = 0, sharedBytes = 0;
  /// Lines with a code C75xx: code and text.
  struct Message {
    std::string code, text;
  };
  std::vector<Message> losses;
  std::vector<std::string> warnings;
};

/// Reads the output of `ptxas -v`: one report an entry, in its order.
std::vector<PtxasReport> parsePtxasOutput(std::string_view output);

/// Why a kernel with this report must not be used, with what to change; empty when it may be.
std::string explainLosses(const PtxasReport &report);

/// A ptxas that is there and answers.
struct Ptxas {
  std::string path;
  unsigned major = 0, minor = 0; ///< of its CUDA toolkit
  std::string identity;          ///< changes when the program does
};

/// The CUDA toolkit whose ptxas first knew a PTX version (90 for 9.0), as major * 10 + minor.
unsigned toolkitForPtx(unsigned ptxVersion);

/// Where to look for a ptxas, and what it must be able to do.
struct PtxasSearch {
  std::string explicitPath;                 ///< may be empty
  std::string buildFolder;                  ///< the virtual environment is in it
  unsigned ptxVersion = 0;                  ///< 90 for 9.0
  std::chrono::milliseconds timeout{20000}; ///< for each that is asked for its release
  const Cache &cache;
};

/// Finds a ptxas that is new enough: `explicitPath` if given, else $HEDDLE_PTXAS if set, else the
/// first that will do of the virtual environment beside the build (`buildFolder`/venv), $PATH,
/// /usr/local/cuda/bin. ErrorCode::NotFound when there is none at all.
Expected<Ptxas> findPtxas(const PtxasSearch &search);

struct Assembly {
  std::string cubin;
  std::string output; ///< of ptxas
  std::vector<PtxasReport> reports;
  /// Entries that must not be used (`explainLosses`), and why; a cubin with one is of no use.
  struct Loss {
    std::string entry, explanation;
  };
  std::vector<Loss> losses;
  bool cached = false;
};

struct AssembleOptions {
  bool lineInfo = false;
  std::chrono::milliseconds timeout{120000};
};

/// Assembles PTX. An Error when ptxas fails, dies, takes too long, or writes something that is no
/// cubin. Callers look at `losses`. Thread-safe.
Expected<Assembly> assemble(const Ptxas &ptxas, const std::string &ptx,
                            const target::Target &target, const AssembleOptions &options,
                            const Cache &cache);

} // namespace heddle

#endif // HEDDLE_PIPELINES_PTXAS_H
