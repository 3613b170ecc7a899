//===- main.cpp - heddle-run: runs and checks a kernel --------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Groups.h"
#include "Report.h"
#include "heddle/Package/Select.h"
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>

using namespace heddle;
using namespace heddle::run;

/// Reads the files of --input or --reference.
static Failure readFiles(const std::map<std::string, std::string> &paths,
                         std::map<std::string, NpyArray> &files) {
  for (const auto &[name, path] : paths) {
    auto array = readNpy(path);
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

/// Downloads every tensor; compares, looks for stray writes, writes files.
static Failure collect(const Problem &problem, const Options &options,
                       const std::map<std::string, NpyArray> &references, Session &session,
                       Report &report) {
  std::vector<std::vector<uint8_t>> device(problem.tensors.size());
  for (size_t i = 0; i < problem.tensors.size(); ++i) {
    const TensorData &tensor = problem.tensors[i];
    if (!tensor.arg)
      continue;
    if (Failure failure = session.download(i, device[i]))
      return failure;
    if (options.check != CheckMode::None)
      if (std::string outside = changedOutside(tensor, device[i]); !outside.empty())
        report.outside.push_back(std::move(outside));
    if (auto path = options.outputs.find(tensor.arg->name()->str()); path != options.outputs.end())
      if (Failure failure = writeOutput(tensor, device[i], path->second, options.widen))
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
    report.checks.push_back(std::move(*check));
  }
  if (!references.empty())
    return {};
  if (!problem.kernel->outputs() || problem.kernel->outputs()->size() == 0) {
    std::string what = "the package holds no reference for kernel " +
                       problem.kernel->name()->str() + " to check the results against";
    if (options.check == CheckMode::Full || options.check == CheckMode::Sampled)
      return {ExitPackage, what};
    std::fprintf(stderr, "heddle-run: not checked: %s\n", what.c_str());
    return {};
  }
  for (uint32_t i = 0; i < problem.kernel->outputs()->size(); ++i) {
    uint32_t arg = problem.kernel->outputs()->Get(i)->arg();
    auto check = checkOutput(problem, i, device[arg], options, report.device.multiprocessors);
    if (!check)
      return {ExitPackage, check.takeError().message};
    report.checks.push_back(std::move(*check));
  }
  return {};
}

static void measure(const Problem &problem, Report &report, int64_t multiprocessors) {
  if (problem.kernel->flops())
    if (auto flops = pkg::evaluateExpr(problem.kernel->flops(), {problem.symbols, multiprocessors}))
      report.operations = double(*flops) * usedOperations(problem);
  for (size_t i = 0; i < problem.tensors.size(); ++i)
    if (const TensorData &tensor = problem.tensors[i]; tensor.arg)
      report.bytes += double(tensor.elements()) * tensor.elementBytes() * usedBytes(problem, i);
}

static Failure runAll(const Options &options) {
  if (options.listDevices)
    return printDevices(options.json);
  auto package = pkg::PackageFile::fromFile(options.package);
  if (!package)
    return failureOf(package.takeError());
  const pkg::Kernel *kernel = options.kernel.empty() && (*package)->kernels()->size() == 1
                                  ? (*package)->kernels()->Get(0)
                                  : package->findKernel(options.kernel);
  if (!kernel)
    return {ExitUsage, "expected --kernel to be one of " + package->kernelNames() + ", got '" +
                           options.kernel + "'"};

  std::map<std::string, NpyArray> files, references;
  if (Failure failure = readFiles(options.inputs, files))
    return failure;
  if (Failure failure = readFiles(options.references, references))
    return failure;
  Session session;
  if (Failure failure = session.open(options))
    return failure;
  auto problem = makeProblem(*kernel, options, files);
  if (!problem)
    return {ExitUsage, problem.takeError().message};
  for (const auto &[name, array] : references)
    if (std::none_of(problem->tensors.begin(), problem->tensors.end(), [&](const TensorData &t) {
          return t.arg && t.output && t.arg->name()->str() == name;
        }))
      return {ExitUsage, "expected --reference to name an output, got '" + name + "'"};
  // Sizes that the kernel never takes are refused before gigabytes are filled; empty ones launch
  // nothing.
  if (std::find(problem->symbols.begin(), problem->symbols.end(), 0) == problem->symbols.end()) {
    std::vector<uint64_t> addresses(kernel->args()->size()); // nothing is placed yet
    if (auto taken = pkg::checkKernelConstraints(*kernel, {{problem->symbols, 1}, addresses});
        !taken)
      return {ExitRefused, taken.takeError().message};
  }
  fillInputs(*problem, options, files);
  const bool groupsFromFile =
      kernel->groups() && files.count(kernel->args()->Get(kernel->groups()->arg())->name()->str());
  if (auto filled = fillGroups(*problem, options, groupsFromFile); !filled)
    return {ExitUsage, filled.takeError().message};
  if (Failure failure = session.load(*package, options))
    return failure;
  if (Failure failure = session.upload(*problem))
    return failure;
  if (Failure failure = session.run(*problem, options))
    return failure;

  Report report;
  report.problem = &*problem;
  report.device = session.device();
  report.variant = session.variant();
  report.variantDescription = session.variantDescription();
  measure(*problem, report, session.device().multiprocessors);
  if (Failure failure = collect(*problem, options, references, session, report))
    return failure;
  if (options.timeRuns && report.variant) {
    Timing timing;
    if (Failure failure = session.time(*problem, options, timing))
      return failure;
    report.timing = timing;
  }
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
