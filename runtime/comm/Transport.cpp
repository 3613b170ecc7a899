//===- Transport.cpp - the transports there are -------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport.h"

namespace heddle::rt {

const Transport &nvlinkTransport();
const Transport &hostTransport();

std::span<const Transport *const> transports() {
  static const Transport *const all[] = {&nvlinkTransport(), &hostTransport()};
  return all;
}

Status selectTransports(std::string_view name, std::vector<const Transport *> &selected) {
  selected.clear();
  std::string names;
  for (const Transport *transport : transports()) {
    names += text(names.empty() ? "" : ", ", transport->name());
    if (name.empty() || name == "auto" || name == transport->name())
      selected.push_back(transport);
  }
  if (selected.empty())
    return Status::error(HEDDLE_INVALID_ARGUMENT,
                         text("expected a transport of ", names, " or auto, got '", name, "'"));
  return {};
}

} // namespace heddle::rt
