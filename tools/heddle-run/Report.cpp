//===- Report.cpp - what heddle-run prints --------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace heddle::run {

using Json = nlohmann::ordered_json;

namespace {

std::string shapeText(const TensorData &tensor) {
  std::string text = tensor.arg->name()->str() + ":";
  for (int64_t size : tensor.shape)
    text += std::to_string(size) + "x";
  return text + pkg::EnumNameDType(tensor.arg->dtype());
}

/// JSON has no NaN and no infinity.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json deviceJson(const heddle_device_info &info) {
  return {{"name", info.name},
          {"description", info.description},
          {"capability", std::to_string(info.major) + "." + std::to_string(info.minor)},
          {"multiprocessors", info.multiprocessors},
          {"memory_bytes", info.memory_bytes},
          {"shared_bytes", info.shared_bytes},
          {"l2_bytes", info.l2_bytes},
          {"driver", info.driver_version},
          {"emulated", info.emulated != 0}};
}

Json checkJson(const CheckResult &check) {
  return {{"output", check.output},       {"ok", check.ok},
          {"sampled", check.sampled},     {"points", check.points},
          {"total", check.total},         {"relative_error", number(check.relativeError)},
          {"tolerance", check.tolerance}, {"max_abs_error", number(check.maxAbsError)},
          {"problems", check.problems}};
}

Json reportJson(const Report &report) {
  Json json{{"ok", !report.wrong()},
            {"kernel", report.problem->kernel->name()->str()},
            {"device", deviceJson(report.device)},
            {"variant", report.variant},
            {"variant_description", report.variantDescription}};
  if (!report.transport.empty()) {
    json["rank"] = report.rank;
    json["ranks"] = std::max(report.ranks, 1);
    json["transport"] = report.transport;
  }
  for (size_t i = 0; i < report.problem->symbols.size(); ++i)
    json["sizes"][report.problem->kernel->symbols()->Get(uint32_t(i))->str()] =
        report.problem->symbols[i];
  if (const auto &groups = report.problem->groups)
    json["groups"] = {{"count", groups->ranges.size()},
                      {"rows", groups->rows()},
                      {"first_bad", groups->firstBad}};
  json["checks"] = Json::array();
  for (const CheckResult &check : report.checks)
    json["checks"].push_back(checkJson(check));
  json["outside"] = report.outside;
  if (report.timing) {
    const Timing &t = *report.timing;
    json["time"] = {{"runs", t.runs},      {"copies", t.copies},
                    {"min_us", t.minUs},   {"median_us", t.medianUs},
                    {"mean_us", t.meanUs}, {"back_to_back_us", t.backToBackUs}};
    if (report.operations > 0)
      json["time"]["tflops"] = report.operations / t.medianUs * 1e-6;
    json["time"]["gb_per_s"] = report.bytes / t.medianUs * 1e-3;
  }
  return json;
}

void printTiming(const Report &report) {
  const Timing &t = *report.timing;
  std::printf("time: median %.2f us, min %.2f us, mean %.2f us, back to back %.2f us (%d runs over "
              "%d copies)\n",
              t.medianUs, t.minUs, t.meanUs, t.backToBackUs, t.runs, t.copies);
  if (report.operations > 0)
    std::printf("rate: %.1f TFLOP/s and %.0f GB/s at the median, %.1f TFLOP/s back to back\n",
                report.operations / t.medianUs * 1e-6, report.bytes / t.medianUs * 1e-3,
                report.operations / t.backToBackUs * 1e-6);
}

void printCheck(const CheckResult &check) {
  if (check.ok && check.total == 0) {
    std::printf("passed: %s is empty, there was nothing to compute\n", check.output.c_str());
    return;
  }
  std::printf("%s: %s relative error %.3g (at most %.3g), largest absolute error %.3g, %s%lld of "
              "%lld points\n",
              check.ok ? "passed" : "FAILED", check.output.c_str(), check.relativeError,
              check.tolerance, check.maxAbsError, check.sampled ? "a sample of " : "",
              static_cast<long long>(check.points), static_cast<long long>(check.total));
  for (const std::string &problem : check.problems)
    std::printf("  %s: %s\n", check.output.c_str(), problem.c_str());
}

void printResults(const Report &report) {
  for (const CheckResult &check : report.checks)
    printCheck(check);
  for (const std::string &what : report.outside)
    std::printf("FAILED: %s\n", what.c_str());
  if (report.timing)
    printTiming(report);
}

} // namespace

bool Report::wrong() const {
  return !outside.empty() ||
         std::any_of(checks.begin(), checks.end(), [](const CheckResult &c) { return !c.ok; });
}

void printReport(const Report &report, bool json) {
  if (json) {
    std::printf("%s\n", reportJson(report).dump(2).c_str());
    return;
  }
  if (report.rank) {
    printResults(report);
    return;
  }
  std::string shapes;
  for (const TensorData &tensor : report.problem->tensors)
    if (tensor.arg)
      shapes += " " + shapeText(tensor);
  std::printf("%s on %s (%s):%s\n", report.problem->kernel->name()->c_str(), report.device.name,
              report.device.description, shapes.c_str());
  std::printf("variant %d: %s\n", report.variant, report.variantDescription.c_str());
  if (!report.transport.empty())
    std::printf("ranks: %d, %s\n", std::max(report.ranks, 1), report.transport.c_str());
  printResults(report);
}

void printFailure(const Failure &failure, bool json) {
  if (json)
    std::printf("%s\n",
                Json{{"ok", false}, {"error", failure.message}, {"exit_code", failure.exitCode}}
                    .dump(2)
                    .c_str());
  else
    std::fprintf(stderr, "heddle-run: error: %s\n", failure.message.c_str());
}

Failure printDevices(bool json) {
  auto devices = Device::list();
  if (!devices)
    return failureOf(devices.status());
  Json list = Json::array();
  for (const heddle_device_info &info : *devices) {
    list.push_back(deviceJson(info));
    if (!json)
      std::printf("%-20s %s, compute capability %d.%d, %d multiprocessors, %.1f GiB\n", info.name,
                  info.description, info.major, info.minor, info.multiprocessors,
                  double(info.memory_bytes) / (1 << 30));
  }
  if (json)
    std::printf("%s\n", list.dump(2).c_str());
  else if (devices->empty())
    std::printf("no devices: %s\n", Device::open("cuda:0").status().text().c_str());
  return {};
}

Failure printTopology(const Options &options) {
  std::vector<Device> devices;
  if (options.device.starts_with("cuda")) {
    auto list = Device::list();
    if (!list)
      return failureOf(list.status());
    for (const heddle_device_info &info : *list)
      if (std::string_view(info.name).starts_with("cuda:")) {
        auto device = Device::open(info.name);
        if (!device)
          return failureOf(device.status());
        devices.push_back(std::move(*device));
      }
  } else {
    for (int i = 0; i < std::max(options.ranks, 2); ++i) {
      auto device = Device::open(options.device);
      if (!device)
        return failureOf(device.status());
      devices.push_back(std::move(*device));
    }
  }
  Json json = Json::array();
  std::vector<std::string> reasons;
  for (size_t t = 0; heddle_transport_name(t); ++t) {
    const char *name = heddle_transport_name(t);
    Json reach = Json::array();
    if (!options.json)
      std::printf("%s: %s\n", name, heddle_transport_description(t));
    for (size_t from = 0; from < devices.size(); ++from) {
      Json row = Json::array();
      std::string line;
      for (size_t to = 0; to < devices.size(); ++to) {
        Status status =
            heddle_transport_reaches(name, devices[from].handle(), devices[to].handle());
        row.push_back(bool(status));
        line += status ? "  yes" : "   no";
        if (!status && std::find(reasons.begin(), reasons.end(), status.message()) == reasons.end())
          reasons.emplace_back(status.message());
      }
      reach.push_back(row);
      if (!options.json)
        std::printf("  device %zu%s\n", from, line.c_str());
    }
    json.push_back({{"transport", name}, {"reaches", reach}});
  }
  if (options.json)
    std::printf("%s\n", json.dump(2).c_str());
  for (const std::string &reason : reasons)
    if (!options.json)
      std::printf("no: %s\n", reason.c_str());
  if (devices.empty() && !options.json)
    std::printf("no devices: %s\n", Device::open("cuda:0").status().text().c_str());
  return {};
}

} // namespace heddle::run
