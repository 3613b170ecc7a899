//===- PlanOptions.cpp - the command line of heddle-tune plan --------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PlanOptions.h"
#include "heddle/Support/CommandLine.h"
#include <CLI/CLI.hpp>
#include <iostream>

namespace heddle::tools {

void printTuneHelp() {
  std::cout << R"(Finds the fastest schedules of kernels, by measuring what the model ranks best.

  heddle-tune plan SPEC --chip H200 --size M=4096 -o DIR   compile candidates; needs no GPU
  heddle-tune measure DIR --device cuda:0                  check and time them; needs no LLVM
  heddle-tune record DIR -o tuning                         keep the fastest for heddlec

Each has a --help of its own. On a machine without LLVM, heddle-tune-measure, one file, does what
heddle-tune measure does.
)";
}

std::optional<int> parsePlanOptions(int argc, char **argv, PlanOptions &o) {
  CLI::App app("Compiles the best candidates of the model, to be measured on a GPU",
               "heddle-tune plan");
  app.footer(R"(DIR gets a package a schedule, and index.jsonl, which names them.
Examples:
  heddle-tune plan gemm.mlir --chip H200 --size M=4096 --size M=8192 -o plan
  heddle-tune plan gemm.mlir --arch sm_90a --size M=64,N=512 --candidates 32 -o plan --explain
Exit codes: 0 done; 1 the input does not compile or a tool failed; 2 bad command line.)");
  CompilerOptions &c = o.compiler;
  std::string arch, chip;
  std::vector<std::string> sizes;
  bool noCache = false;
  app.add_option("spec", c.input, "The spec (.mlir); - reads standard input")
      ->type_name("FILE")
      ->required();
  app.add_option("--arch", arch, "The target")->type_name("TARGET");
  app.add_option("--chip", chip, "The chip to plan for (default: the target's usual one)");
  app.add_option("--size", sizes, "Run-time sizes to tune for; may be repeated")
      ->type_name("NAME=N,...")
      ->allow_extra_args(false);
  app.add_option("--sms", c.sms,
                 "Tune for so many multiprocessors of the chip (default: all)")
      ->type_name("N")
      ->check(CLI::Range(1, 65536));
  app.add_option("--candidates", o.candidates, "Schedules of each kernel and size")
      ->type_name("K")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("-o,--output", c.output, "The folder to write")->type_name("DIR")->required();
  app.add_option("--kernel", c.kernel, "Plan this kernel of the spec only")->type_name("NAME");
  app.add_option("--ptxas", c.ptxas, "The assembler (default: as heddlec finds it)")
      ->type_name("PATH");
  app.add_flag("--no-cache", noCache, "Do not keep results of ptxas");
  app.add_option("-j,--jobs", c.jobs, "Compile so many at once (default: processors)")
      ->check(CLI::Range(1u, 1024u));
  app.add_flag("--explain", o.explain, "Count the rejected schedules by reason");
  app.add_flag("--quiet", o.quiet, "Print no progress");
  try {
    if (auto empty = findEmptyArgument(argc, argv))
      throw CLI::ParseError(*empty, CLI::ExitCodes::InvalidError);
    app.parse(argc, argv);
    c.useCache = !noCache, c.emit = Emit::Package;
    if (c.kernel.starts_with('@'))
      c.kernel.erase(0, 1);
    const target::Target *target = target::findTarget(arch);
    if (!arch.empty() && !target)
      throw CLI::ValidationError("--arch", "expected one of " + target::knownTargetNames() +
                                               ", got '" + arch + "'");
    c.chip = target::findChip(chip);
    if (!chip.empty() && !c.chip)
      throw CLI::ValidationError("--chip", "expected one of " + target::knownChipNames() +
                                               ", got '" + chip + "'");
    if (!target && !c.chip)
      throw CLI::RequiredError("expected --arch or --chip");
    if (!target)
      target = target::findTarget(c.chip->target);
    if (!c.chip)
      c.chip = &target::defaultChip(*target);
    if (c.chip->target != target->name)
      throw CLI::ValidationError("--chip", "expected a chip of " + std::string(target->name) +
                                               ", got " + std::string(c.chip->name) + " of " +
                                               std::string(c.chip->target));
    c.targets = {target};
    for (const std::string &text : sizes) {
      auto parsed = tuning::parseSizes(text);
      if (!parsed)
        throw CLI::ValidationError("--size", parsed.error().message);
      o.sizes.push_back(std::move(*parsed));
    }
  } catch (const CLI::Success &success) {
    return app.exit(success);
  } catch (const CLI::Error &error) {
    std::cerr << "heddle-tune plan: error: " << error.what() << "\n";
    return 2;
  }
  return std::nullopt;
}

} // namespace heddle::tools
