//===- Lookup.cpp - which record is for which problem ---------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Tuning/Record.h"
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace heddle::tuning {

const target::Chip *chipOfDevice(std::string_view description) {
  // "NVIDIA GeForce RTX 4090", "NVIDIA A100-SXM4-80GB": the chip is a run of words.
  std::vector<std::string> words;
  for (size_t i = 0; i < description.size();) {
    size_t end = std::min(description.find_first_of(" -_", i), description.size());
    if (end > i)
      words.emplace_back(description.substr(i, end - i));
    i = end + 1;
  }
  const target::Chip *found = nullptr;
  for (size_t first = 0; first < words.size(); ++first) {
    std::string joined;
    for (size_t last = first; last < words.size(); ++last) {
      joined += words[last];
      const target::Chip *chip = target::findChip(joined);
      if (chip && (!found || chip->name.size() > found->name.size()))
        found = chip;
    }
  }
  return found;
}

/// m, n, k and batch, as the model sees them.
static std::array<int64_t, 4> sizesOf(const GemmProblem &p) {
  auto assumed = [](int64_t size, int64_t otherwise) { return size > 0 ? size : otherwise; };
  return {assumed(p.m, 4096), assumed(p.n, 4096), assumed(p.k, 4096), assumed(p.batch, 1)};
}

static bool sameForm(const GemmProblem &a, const GemmProblem &b) {
  return a.a == b.a && a.b == b.b && a.out == b.out && a.aKMajor == b.aKMajor &&
         a.bKMajor == b.bKMajor && a.epilogueReadBytes == b.epilogueReadBytes &&
         a.scaleRowsA == b.scaleRowsA && a.scaleRowsB == b.scaleRowsB && a.sms == b.sms;
}

bool sameProblem(const Record &a, const Record &b) {
  return a.kind == b.kind && a.chip == b.chip && sameForm(a.problem, b.problem) &&
         sizesOf(a.problem) == sizesOf(b.problem);
}

bool sameSizeClass(const GemmProblem &a, const GemmProblem &b) {
  auto x = sizesOf(a), y = sizesOf(b);
  for (size_t i = 0; i < x.size(); ++i)
    if (std::bit_width(uint64_t(x[i] - 1)) != std::bit_width(uint64_t(y[i] - 1)))
      return false;
  return true;
}

/// How far sizes are from each other; 0: equal.
static double distance(const GemmProblem &a, const GemmProblem &b) {
  auto x = sizesOf(a), y = sizesOf(b);
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i)
    sum += std::abs(std::log2(double(x[i]) / double(y[i])));
  return sum;
}

const Record *findRecord(std::span<const Record> records, std::string_view kind,
                         const GemmProblem &problem, const target::Target &target,
                         const target::Chip &chip) {
  const target::Target limits = target::limitsOn(target, chip);
  const Record *best = nullptr;
  double nearest = 0;
  for (const Record &r : records) {
    if (r.kind != kind || r.chip != chip.name || !sameForm(r.problem, problem) ||
        !sameSizeClass(r.problem, problem))
      continue;
    double far = distance(r.problem, problem);
    bool better = !best || far < nearest || (far == nearest && r.microseconds < best->microseconds);
    if (better && !check(r.schedule, problem, limits))
      best = &r, nearest = far;
  }
  return best;
}

std::vector<Record> bestOf(std::span<const Planned> plan, std::span<const Measured> results,
                           std::map<std::string, int> *leftOut) {
  std::vector<Record> best;
  auto skip = [&](const std::string &cause) {
    if (leftOut)
      ++(*leftOut)[cause];
  };
  // The last word about a candidate counts, as a rerun corrects what was before it.
  std::map<std::array<std::string, 3>, const Measured *> last;
  for (const Measured &m : results)
    last[{m.package, m.sizes, m.device}] = &m;
  std::vector<std::pair<Record, double>> models;
  for (const auto &[key, measured] : last) {
    const Measured &m = *measured;
    const target::Chip *chip = m.emulated ? nullptr : chipOfDevice(m.device);
    auto planned = std::find_if(plan.begin(), plan.end(), [&](const Planned &p) {
      return p.package == m.package && toString(p.sizes) == m.sizes;
    });
    if (m.emulated)
      skip("measured on the emulator");
    else if (m.outcome != Outcome::Ok)
      skip(std::string(outcomeName(m.outcome)));
    else if (!chip)
      skip("unknown chip: " + m.device);
    else if (planned == plan.end())
      skip("not in the plan any more");
    else if (planned->chip != chip->name)
      skip("planned for " + planned->chip + ", measured on " + std::string(chip->name));
    else {
      Record r;
      r.chip = chip->name, r.problem = planned->problem, r.schedule = planned->schedule;
      r.microseconds = m.microseconds, r.spread = m.spread, r.date = m.date;
      if (planned->rank == 0)
        models.emplace_back(r, m.microseconds);
      auto known = std::find_if(best.begin(), best.end(),
                                [&](const Record &b) { return sameProblem(b, r); });
      if (known == best.end())
        best.push_back(std::move(r));
      else if (r.microseconds < known->microseconds)
        *known = std::move(r);
    }
  }
  for (Record &r : best) {
    for (const auto &[model, microseconds] : models)
      if (sameProblem(model, r))
        r.model = model.schedule, r.modelMicroseconds = microseconds;
    // Not measured: the plan still tells what the model wanted.
    for (const Planned &p : plan)
      if (Record of{.chip = p.chip, .problem = p.problem};
          !r.model && p.rank == 0 && sameProblem(of, r))
        r.model = p.schedule;
  }
  return best;
}

int mergeRecords(std::vector<Record> &records, std::span<const Record> added, bool replace) {
  int taken = 0;
  for (const Record &r : added) {
    auto known = std::find_if(records.begin(), records.end(),
                              [&](const Record &other) { return sameProblem(other, r); });
    if (known == records.end())
      records.push_back(r);
    else if (replace || r.microseconds < known->microseconds)
      *known = r;
    else
      continue;
    ++taken;
  }
  return taken;
}

} // namespace heddle::tuning
