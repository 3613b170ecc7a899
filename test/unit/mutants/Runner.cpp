//===- Runner.cpp - runs changed kernels on the emulator -----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Runner.h"
#include "Check.h"
#include "Session.h"
#include "heddle/Package/Writer.h"

#include <gtest/gtest.h>

namespace heddle::mutants {

using namespace heddle::run;

std::unique_ptr<Form> loadForm(const std::string &path, const std::string &kernel,
                               const std::string &target, unsigned variant) {
  auto file = pkg::PackageFile::fromFile(path);
  if (!file) {
    ADD_FAILURE() << file.error().message;
    return nullptr;
  }
  std::unique_ptr<pkg::PackageT> whole = file->unpack();
  for (auto &k : whole->kernels) {
    if (k->name != kernel)
      continue;
    for (auto &v : k->variants) {
      if (v->target != target || variant-- > 0)
        continue;
      auto form = std::make_unique<Form>();
      form->package.compiler_version = whole->compiler_version;
      form->package.images.push_back(std::move(whole->images[v->image]));
      form->package.images[0]->cubin.clear();
      v->image = 0;
      auto only = std::move(v);
      k->variants.clear();
      k->variants.push_back(std::move(only));
      form->package.kernels.push_back(std::move(k));
      return form;
    }
    break;
  }
  ADD_FAILURE() << path << " has no such form of kernel " << kernel << " for " << target;
  return nullptr;
}

std::string runForm(const Form &form, const std::map<std::string, int64_t> &sizes, uint64_t seed) {
  auto bytes = pkg::packageBytes(form.package);
  if (!bytes)
    return "package: " + bytes.error().message;
  auto file = pkg::PackageFile::fromBytes(std::move(*bytes));
  if (!file)
    return "package: " + file.error().message;
  Options options;
  const pkg::VariantT &variant = *form.package.kernels[0]->variants[0];
  // One multiprocessor for each block of a cluster.
  const uint32_t sms = variant.cluster[0] * variant.cluster[1] * variant.cluster[2];
  options.device = "emulator:" + variant.target +
                   ",checks=races,limit=1000000,sms=" + std::to_string(sms) +
                   ",seed=" + std::to_string(seed);
  options.sizes = sizes;
  options.threads = 1;
  options.quiet = true;
  const std::map<std::string, NpyArray> noFiles;
  auto problem = makeProblem(*(*file)->kernels()->Get(0), options, noFiles);
  if (!problem)
    return "problem: " + problem.error().message;
  fillInputs(*problem, options, noFiles);
  Session session;
  if (Failure failure = session.open(options))
    return failure.message;
  if (Failure failure = session.load(*file, options))
    return failure.message;
  if (Failure failure = session.upload(*problem))
    return failure.message;
  if (Failure failure = session.run(*problem, options))
    return failure.message;
  for (uint32_t i = 0; i < problem->kernel->outputs()->size(); ++i) {
    uint32_t arg = problem->kernel->outputs()->Get(i)->arg();
    std::vector<uint8_t> result;
    if (Failure failure = session.download(arg, result))
      return failure.message;
    auto check = checkOutput(*problem, i, result, options, 1);
    if (!check)
      return check.error().message;
    if (!check->ok)
      return "wrong result: " + (check->problems.empty() ? "" : check->problems[0]);
  }
  return "";
}

} // namespace heddle::mutants
