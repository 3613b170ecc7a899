//===- Options.cpp - the command line of heddlec ---------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Options.h"
#include "heddle/Support/CommandLine.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

namespace heddle::tools {

namespace {

constexpr std::string_view emitNames[] = {"heddle", "warp",  "roles",   "nvvm", "llvm",
                                          "ptx",    "cubin", "package", "c"};

constexpr const char *footer = R"(Examples:
  heddlec gemm.mlir --arch=sm_90a,sm_100a -o gemm.hdl      a package for two targets
  heddlec gemm.mlir --arch=sm_90a --emit=roles             which warps do what
  heddlec gemm.mlir --arch=sm_80,sm_90a --emit=ptx -o out/ out/gemm.sm_80.ptx, out/gemm.sm_90a.ptx
  heddlec gemm.mlir --arch=sm_90a --emit=roles > r.mlir    edit r.mlir, then:
  heddlec r.mlir -o gemm.hdl                               go on from there
  heddlec gemm.mlir --chip=H800 --explain --emit=warp      why this schedule
  heddlec gemm.mlir --arch=sm_90a --schedule tile=128x128x64,stages=6 --emit=ptx
  heddlec gemm.mlir --arch=sm_80 --emit=c -o out/gemm.h    gemm.h, gemm.c, gemm.o
Exit codes: 0 done; 1 the input does not compile or a tool failed; 2 bad command line.)";

std::string join(const auto &names) {
  std::string text;
  for (const auto &name : names)
    text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

struct Raw {
  std::vector<std::string> archs;
  std::string chip, emit;
  bool noCache = false, noTuning = false;
  CLI::Option *kernel = nullptr, *schedule = nullptr;
  bool kernelGiven() const { return kernel->count() != 0; }
  bool scheduleGiven() const { return schedule->count() != 0; }
};

void addOptions(CLI::App &app, CompilerOptions &o, Raw &raw) {
  app.add_option("spec", o.input, "The spec (.mlir), at any level; - reads standard input")
      ->type_name("FILE");
  app.add_option("--arch", raw.archs, "Targets, joined by commas; see --list-targets")
      ->type_name("TARGETS")
      ->allow_extra_args(false);
  app.add_option("--chip", raw.chip, "The chip to plan for; see --list-chips")->type_name("CHIP");
  app.add_option(
         "-o,--output", o.output,
         "The file to write. A folder, or a name that ends in /, gets a file for each kernel and "
         "target; PTX, LLVM IR and cubins for several need one")
      ->type_name("FILE");
  app.add_option("--emit", raw.emit,
                 "What to write: " + join(emitNames) +
                     " (default: by the extension of -o, else package)")
      ->type_name("WHAT");
  raw.schedule = app.add_option("--schedule", o.schedule,
                                "Fix parts of the schedule, e.g. tile=128x256x64,stages=4");
  raw.schedule->type_name("KEY=VALUE,...");
  raw.kernel = app.add_option("--kernel", o.kernel, "Compile this kernel of the spec only");
  raw.kernel->type_name("NAME");
  app.add_option("--sms", o.sms,
                 "Plan for so many multiprocessors and use no more at launch, where others are to "
                 "run beside the kernels (default: all)")
      ->type_name("N")
      ->check(CLI::Range(1, 65536));
  app.add_flag("--explain", o.explain,
               "Print why this schedule, and what was rejected for which reason");
  app.add_flag("--list-targets", o.listTargets, "Print the targets and stop");
  app.add_flag("--list-chips", o.listChips, "Print the chips and stop");
  app.add_option("--ptxas", o.ptxas,
                 "The assembler; none: do without (default: $HEDDLE_PTXAS, the build's virtual "
                 "environment, $PATH, /usr/local/cuda)")
      ->type_name("PATH");
  app.add_option("--ptxas-timeout", o.ptxasSeconds, "Stop ptxas after so many seconds")
      ->type_name("SECONDS")
      ->check(CLI::Range(1u, 86400u));
  app.add_flag("--no-cache", raw.noCache,
               "Do not keep results of ptxas in $HEDDLE_CACHE or ~/.cache/heddle");
  auto *tuning =
      app.add_option("--tuning", o.tuning,
                     "The folder of tuned schedules (default: $HEDDLE_TUNING, the installed ones)");
  tuning->type_name("DIR");
  app.add_flag("--no-tuning", raw.noTuning, "Choose schedules by the model alone")
      ->excludes(tuning);
  app.add_flag("--save-temps", o.saveTemps,
               "Write every intermediate form to a folder (--save-temps=DIR; default: here)");
  app.add_flag("--lineinfo", o.lineInfo, "Let PTX and cubin name the lines of the input");
  app.add_flag("--timing", o.timing, "Print how long each step took");
  app.add_option("-j,--jobs", o.jobs, "Compile so many kernels at once (default: processors)")
      ->type_name("N")
      ->check(CLI::Range(1u, 1024u));
  app.add_flag("-v,--verbose", o.verbose, "Print registers, shared memory and warnings of ptxas");
  app.set_version_flag("--version", std::string("heddlec " HEDDLE_VERSION));
  app.footer(footer);
}

void addTarget(CompilerOptions &o, const std::string &name) {
  const target::Target *found = target::findTarget(name);
  if (!found)
    throw CLI::ValidationError("--arch", "expected one of " + target::knownTargetNames() +
                                             ", got '" + name + "'");
  if (std::find(o.targets.begin(), o.targets.end(), found) == o.targets.end())
    o.targets.push_back(found);
}

/// Names joined by commas.
void addTargets(CompilerOptions &o, const std::string &list) {
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    if (begin == end)
      throw CLI::ValidationError("--arch", "expected targets with one comma between them, got '" +
                                               list + "'");
    addTarget(o, list.substr(begin, end - begin));
    begin = end + 1;
  }
}

void addChip(CompilerOptions &o, const std::string &name) {
  o.chip = target::findChip(name);
  if (!o.chip)
    throw CLI::ValidationError("--chip", "expected one of " + target::knownChipNames() + ", got '" +
                                             name + "'");
  const target::Target *runs = target::findTarget(o.chip->target);
  if (o.targets.empty())
    o.targets.push_back(runs);
  else if (std::find(o.targets.begin(), o.targets.end(), runs) == o.targets.end())
    throw CLI::ValidationError("--chip", "expected --arch to include " + std::string(runs->name) +
                                             ", which " + std::string(o.chip->name) + " runs");
}

/// What the extension of -o asks for, when --emit does not say.
Emit emitOfExtension(const std::string &output) {
  static constexpr std::pair<std::string_view, Emit> extensions[] = {
      {".ll", Emit::LLVM}, {".ptx", Emit::Ptx}, {".cubin", Emit::Cubin},
      {".h", Emit::C},     {".c", Emit::C},     {".o", Emit::C}};
  for (auto [extension, emit] : extensions)
    if (output.ends_with(extension))
      return emit;
  return Emit::Package;
}

void interpret(CompilerOptions &o, const Raw &raw) {
  o.useCache = !raw.noCache, o.useTuning = !raw.noTuning;
  if (o.saveTemps == "true") // what a flag without a value gives
    o.saveTemps = ".";
  for (const std::string &list : raw.archs)
    addTargets(o, list);
  if (!raw.chip.empty())
    addChip(o, raw.chip);
  if (!raw.emit.empty()) {
    const auto *found = std::find(std::begin(emitNames), std::end(emitNames), raw.emit);
    if (found == std::end(emitNames))
      throw CLI::ValidationError("--emit",
                                 "expected one of " + join(emitNames) + ", got '" + raw.emit + "'");
    o.emit = static_cast<Emit>(found - std::begin(emitNames));
  } else {
    o.emit = emitOfExtension(o.output);
  }
  if (o.kernel.starts_with('@'))
    o.kernel.erase(0, 1);
  if (o.kernel.empty() && raw.kernelGiven())
    throw CLI::ValidationError("--kernel", "expected a name, got '@'");
  if (raw.scheduleGiven() && o.schedule.find_first_not_of(" \t\n") == std::string::npos)
    throw CLI::ValidationError("--schedule", "expected KEY=VALUE, got '" + o.schedule + "'");
  if (o.output == "-" && o.emit == Emit::C)
    throw CLI::ValidationError("--output", "expected a name for the files of --emit=c, got '-'");
  if (o.input.empty() && !o.listTargets && !o.listChips)
    throw CLI::RequiredError("expected a spec file; --help shows examples");
}

} // namespace

std::string_view emitName(Emit emit) { return emitNames[static_cast<size_t>(emit)]; }

std::optional<int> parseCommandLine(int argc, char **argv, CompilerOptions &options) {
  CLI::App app("Compiles specs of GEMM and communication kernels for NVIDIA GPUs.", "heddlec");
  Raw raw;
  try {
    addOptions(app, options, raw);
    if (auto empty = findEmptyArgument(argc, argv))
      throw CLI::ParseError(*empty, CLI::ExitCodes::InvalidError);
    app.parse(argc, argv);
    interpret(options, raw);
  } catch (const CLI::Success &success) {
    return app.exit(success);
  } catch (const CLI::Error &error) {
    std::cerr << "heddlec: error: " << error.what() << "\n";
    return 2;
  }
  return std::nullopt;
}

} // namespace heddle::tools
