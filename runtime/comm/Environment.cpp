//===- Environment.cpp - who this process is among several --------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Environment.h"
#include <charconv>
#include <cstdlib>

namespace heddle::rt {

namespace {

/// MASTER_PORT itself is taken by the launcher's own store.
constexpr int portsAbove = 1;
constexpr int defaultPort = 29500;
constexpr uint32_t defaultPatienceMs = 60000;
constexpr int64_t maxWorld = 1024;

struct Launcher {
  const char *rank, *world;
};
constexpr Launcher launchers[] = {{"RANK", "WORLD_SIZE"},
                                  {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                  {"PMI_RANK", "PMI_SIZE"},
                                  {"SLURM_PROCID", "SLURM_NTASKS"}};

std::string_view variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

Status number(const char *name, int64_t least, int64_t most, int64_t &value) {
  const std::string_view given = variable(name);
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (error == std::errc() && end == given.data() + given.size() && value >= least && value <= most)
    return {};
  return Status::error(HEDDLE_INVALID_ARGUMENT,
                       text("expected ", std::string_view(name), " to be a number from ", least,
                            " to ", most, ", got '", given, "'"));
}

Status fromLauncher(Membership &membership) {
  for (const Launcher &launcher : launchers) {
    if (variable(launcher.rank).empty() || variable(launcher.world).empty())
      continue;
    int64_t rank = 0, world = 0;
    if (Status status = number(launcher.world, 1, maxWorld, world); !status)
      return status;
    if (Status status = number(launcher.rank, 0, world - 1, rank); !status)
      return status;
    membership.rank = unsigned(rank);
    membership.world = unsigned(world);
    membership.source =
        text(std::string_view(launcher.rank), " and ", std::string_view(launcher.world));
    return {};
  }
  return Status::error(
      HEDDLE_INVALID_ARGUMENT,
      "expected to be told the rank and the number of ranks: in the options, or by a "
      "launcher in RANK and WORLD_SIZE, OMPI_COMM_WORLD_RANK and "
      "OMPI_COMM_WORLD_SIZE, PMI_RANK and PMI_SIZE, or SLURM_PROCID and "
      "SLURM_NTASKS");
}

} // namespace

Status findMembership(const heddle_comm_options &options, Membership &membership) {
  if (options.world) {
    if (options.world < 0 || options.world > maxWorld || options.rank < 0 ||
        options.rank >= options.world)
      return Status::error(HEDDLE_INVALID_ARGUMENT, text("expected a world of 1 to ", maxWorld,
                                                         " ranks and a rank below it, "
                                                         "got rank ",
                                                         options.rank, " of ", options.world));
    membership.rank = unsigned(options.rank);
    membership.world = unsigned(options.world);
    membership.source = "the options";
  } else if (Status status = fromLauncher(membership); !status) {
    return status;
  }
  membership.address = options.address ? options.address : variable("MASTER_ADDR");
  if (membership.address.empty())
    membership.address = "127.0.0.1";
  int64_t port = defaultPort + portsAbove;
  if (options.port) {
    port = options.port;
  } else if (!variable("HEDDLE_PORT").empty()) {
    if (Status status = number("HEDDLE_PORT", 1, 65535, port); !status)
      return status;
  } else if (!variable("MASTER_PORT").empty()) {
    if (Status status = number("MASTER_PORT", 1, 65535 - portsAbove, port); !status)
      return status;
    port += portsAbove;
  }
  membership.port = uint16_t(port);
  membership.secret = options.secret ? options.secret : variable("HEDDLE_SECRET");
  membership.patienceMs = options.rendezvous_ms ? options.rendezvous_ms : defaultPatienceMs;
  return {};
}

} // namespace heddle::rt
