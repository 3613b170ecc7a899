//===- main.cpp - heddle-run: runs and checks a kernel --------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Groups.h"
#include "Ranks.h"
#include "Report.h"
#include "heddle/Package/Select.h"
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>

using namespace heddle;
using namespace heddle::run;

/// Reads the files of --input or --reference for a rank.
static Failure readFiles(const std::map<std::string, std::string> &paths, size_t rank,
                         std::map<std::string, NpyArray> &files) {
  for (const auto &[name, path] : paths) {
    auto array = readNpy(fileOfRank(path, rank));
    if (!array)
      return {ExitUsage, array.takeError().message};
    files.emplace(name, std::move(*array));
  }
  return {};
}

/// Writes one tensor, row-major.
static Failure writeOutput(const TensorData &tensor, std::span<const uint8_t> device,
                           const std::string &path, bool widen) {
  pkg::DType type = tensor.arg->dtype();
  bool bits = type == pkg::DType::bf16 || type == pkg::DType::f8e4m3 || type == pkg::DType::f8e5m2;
  pkg::DType stored = widen && bits ? pkg::DType::f32 : type;
  NpyArray array;
  array.type = npyTypeFor(stored);
  array.shape = tensor.shape;
  unsigned bytes = npyTypeBytes(array.type);
  array.data.resize(uint64_t(tensor.elements()) * bytes);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    uint64_t at =
        tensor.begin + uint64_t(offsetOf(tensor.shape, tensor.strides, i)) * tensor.elementBytes();
    storeAs(type, device.data() + at, stored, array.data.data() + uint64_t(i) * bytes);
  }
  if (auto written = writeNpy(path, array); !written)
    return {ExitUsage, written.takeError().message};
  return {};
}

/// Downloads every tensor of a rank; compares, looks for stray writes, writes files.
static Failure collect(std::span<const Problem> problems, size_t rank, const Options &options,
                       const std::map<std::string, NpyArray> &references, Session &session,
                       Report &report) {
  const Problem &problem = problems[rank];
  const std::string suffix = options.ranks ? " of rank " + std::to_string(rank) : "";
  std::vector<std::vector<uint8_t>> device(problem.tensors.size());
  for (size_t i = 0; i < problem.tensors.size(); ++i) {
    const TensorData &tensor = problem.tensors[i];
    if (!tensor.arg)
      continue;
    if (Failure failure = session.download(i, device[i]))
      return failure;
    if (options.check != CheckMode::None)
      if (std::string outside = changedOutside(tensor, device[i]); !outside.empty())
        report.outside.push_back(outside + suffix);
    if (auto path = options.outputs.find(tensor.arg->name()->str()); path != options.outputs.end())
      if (Failure failure =
              writeOutput(tensor, device[i], fileOfRank(path->second, rank), options.widen))
        return failure;
  }
  if (options.check == CheckMode::None)
    return {};
  for (size_t i = 0; i < problem.tensors.size(); ++i) {
    const TensorData &tensor = problem.tensors[i];
    auto file = tensor.arg ? references.find(tensor.arg->name()->str()) : references.end();
    if (file == references.end())
      continue;
    auto check = checkAgainst(problem, i, device[i], file->second, options);
    if (!check)
      return {ExitUsage, check.takeError().message};
    check->output += suffix;
    report.checks.push_back(std::move(*check));
  }
  if (!references.empty())
    return {};
  if (!problem.kernel->outputs() || problem.kernel->outputs()->size() == 0) {
    std::string what = "the package holds no reference for kernel " +
                       problem.kernel->name()->str() + " to check the results against";
    if (options.check == CheckMode::Full || options.check == CheckMode::Sampled)
      return {ExitPackage, what};
    if (rank == 0)
      std::fprintf(stderr, "heddle-run: not checked: %s\n", what.c_str());
    return {};
  }
  for (uint32_t i = 0; i < problem.kernel->outputs()->size(); ++i) {
    uint32_t arg = problem.kernel->outputs()->Get(i)->arg();
    auto check =
        checkOutput(problems, rank, i, device[arg], options, report.device.multiprocessors);
    if (!check)
      return {ExitPackage, check.takeError().message};
    check->output += suffix;
    report.checks.push_back(std::move(*check));
  }
  return {};
}

static void measure(const Problem &problem, Report &report, int64_t multiprocessors) {
  if (problem.kernel->flops())
    if (auto flops =
            pkg::evaluateExpr(problem.kernel->flops(), {problem.symbols, multiprocessors,
                                                        int64_t(std::max(report.ranks, 1))}))
      report.operations = double(*flops) * usedOperations(problem);
  for (size_t i = 0; i < problem.tensors.size(); ++i)
    if (const TensorData &tensor = problem.tensors[i]; tensor.arg)
      report.bytes += double(tensor.elements()) * tensor.elementBytes() * usedBytes(problem, i);
}

/// Each rank writes a file of its own.
static Failure checkOutputFiles(const Options &options) {
  for (const auto &[name, path] : options.outputs)
    if (options.ranks > 1 && path.find("%r") == std::string::npos)
      return {ExitUsage,
              "--output " + name + ": expected %r for the rank in the name, got '" + path + "'"};
  return {};
}

static Failure checkReferences(const Problem &problem,
                               const std::map<std::string, NpyArray> &references) {
  for (const auto &[name, array] : references)
    if (std::none_of(problem.tensors.begin(), problem.tensors.end(), [&](const TensorData &t) {
          return t.arg && t.output && t.arg->name()->str() == name;
        }))
      return {ExitUsage, "expected --reference to name an output, got '" + name + "'"};
  return {};
}

/// Sizes that the kernel never takes are refused before gigabytes are filled; empty ones launch
/// nothing.
static Failure checkSizes(const Problem &problem, int64_t world) {
  if (std::find(problem.symbols.begin(), problem.symbols.end(), 0) != problem.symbols.end())
    return {};
  std::vector<uint64_t> addresses(problem.kernel->args()->size()); // nothing is placed yet
  if (auto taken =
          pkg::checkKernelConstraints(*problem.kernel, {{problem.symbols, 1, world}, addresses});
      !taken)
    return {ExitRefused, taken.takeError().message};
  return {};
}

/// What the options ask for at once must make sense.
static Failure checkRanks(const Options &options) {
  if (options.join && options.ranks)
    return {ExitUsage, "--join: expected no -n: the environment tells the number of ranks"};
  if (options.processes && !options.ranks)
    return {ExitUsage, "--processes: expected the number of ranks by -n"};
  if ((options.processes || options.join) && options.device.starts_with("emulator"))
    return {ExitUsage, "emulated devices of different processes cannot share memory: leave out " +
                           std::string(options.processes ? "--processes" : "--join")};
  return {};
}

static Failure runAll(Options options) {
  if (options.listDevices)
    return printDevices(options.json);
  if (options.topology)
    return printTopology(options);
  Failure processes;
  if (Failure failure = checkRanks(options))
    return failure;
  if (options.processes && startProcesses(options, processes))
    return processes;
  Ranks ranks;
  if (options.join)
    if (Failure failure = ranks.join(options))
      return failure;
  auto package = pkg::PackageFile::fromFile(options.package);
  if (!package)
    return failureOf(package.takeError());
  const pkg::Kernel *kernel = options.kernel.empty() && (*package)->kernels()->size() == 1
                                  ? (*package)->kernels()->Get(0)
                                  : package->findKernel(options.kernel);
  if (!kernel)
    return {ExitUsage, "expected --kernel to be one of " + package->kernelNames() + ", got '" +
                           options.kernel + "'"};

  const size_t world = size_t(std::max(options.ranks, 1));
  if (Failure failure = checkOutputFiles(options))
    return failure;
  std::vector<std::map<std::string, NpyArray>> files(world), references(world);
  for (size_t r = 0; r < world; ++r) {
    if (Failure failure = readFiles(options.inputs, r, files[r]))
      return failure;
    if (Failure failure = readFiles(options.references, r, references[r]))
      return failure;
  }
  if (Failure failure = ranks.open(options))
    return failure;
  std::vector<Problem> problems;
  for (size_t r = 0; r < world; ++r) {
    auto problem = makeProblem(*kernel, options, files[r]);
    if (!problem)
      return {ExitUsage, problem.takeError().message};
    problems.push_back(std::move(*problem));
  }
  if (Failure failure = checkReferences(problems[0], references[0]))
    return failure;
  if (Failure failure = checkSizes(problems[0], int64_t(world)))
    return failure;
  for (size_t r = 0; r < world; ++r) {
    fillInputs(problems[r], options, files[r], unsigned(r));
    const bool groupsFromFile =
        kernel->groups() &&
        files[r].count(kernel->args()->Get(kernel->groups()->arg())->name()->str());
    if (auto filled = fillGroups(problems[r], options, groupsFromFile); !filled)
      return {ExitUsage, filled.takeError().message};
  }
  if (Failure failure = ranks.load(*package, options))
    return failure;
  if (Failure failure = ranks.upload(problems, options))
    return failure;
  if (Failure failure = ranks.run(problems, options))
    return failure;

  Report report;
  Session &own = ranks[ranks.first()];
  report.problem = &problems[ranks.first()];
  report.rank = ranks.first();
  report.ranks = options.ranks;
  report.device = own.device();
  report.variant = own.variant();
  report.variantDescription = own.variantDescription();
  if (ranks.joined())
    if (auto info = own.rank()->info())
      report.transport = info->transport;
  measure(problems[0], report, report.device.multiprocessors);
  for (size_t r = ranks.first(); r < ranks.first() + ranks.size(); ++r)
    if (Failure failure = collect(problems, r, options, references[r], ranks[r], report))
      return failure;
  if (options.timeRuns && report.variant) {
    Timing timing;
    if (Failure failure = ranks.time(problems, options, timing))
      return failure;
    report.timing = timing;
  }
  if (Failure failure = ranks.leave())
    return failure;
  printReport(report, options.json);
  return report.wrong() ? Failure{ExitWrong, ""} : Failure{};
}

int main(int argc, char **argv) {
  int exitCode = ExitUsage;
  try {
    auto options = parseOptions(argc, argv, exitCode);
    if (!options)
      return exitCode;
    Failure failure = runAll(*options);
    if (!failure.message.empty())
      printFailure(failure, options->json);
    return failure.exitCode;
  } catch (const std::bad_alloc &) {
    std::fputs("heddle-run: error: out of host memory\n", stderr);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "heddle-run: error: %s\n", error.what());
  }
  return ExitDevice;
}
