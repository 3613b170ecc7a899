//===- Fanout.h - several observers of one machine --------------*- C++ -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_TRACE_FANOUT_H
#define HEDDLE_EMULATOR_TRACE_FANOUT_H

#include "runtime/emulator/Observer.h"

namespace heddle::emulator {

/// Hands every event to all of its observers, in the order they were added. The
/// observers are not owned.
class Fanout final : public Observer {
public:
  void add(Observer &observer) { observers.push_back(&observer); }
  bool empty() const { return observers.empty(); }

  void access(const AccessEvent &e) override {
    each([&](Observer &o) { o.access(e); });
  }
  void sync(const SyncEvent &e) override {
    each([&](Observer &o) { o.sync(e); });
  }
  void fence(const FenceEvent &e) override {
    each([&](Observer &o) { o.fence(e); });
  }
  void asyncIssue(const AsyncEvent &e) override {
    each([&](Observer &o) { o.asyncIssue(e); });
  }
  void asyncComplete(const AsyncEvent &e, bool readsDone) override {
    each([&](Observer &o) { o.asyncComplete(e, readsDone); });
  }
  void wait(const WaitEvent &e) override {
    each([&](Observer &o) { o.wait(e); });
  }
  void registersInFlight(const AsyncEvent &e, const uint32_t *regs, unsigned count,
                         bool written) override {
    each([&](Observer &o) { o.registersInFlight(e, regs, count, written); });
  }
  void ctaStart(const WarpRef &at, unsigned warps) override {
    each([&](Observer &o) { o.ctaStart(at, warps); });
  }
  void ctaEnd(const WarpRef &at) override {
    each([&](Observer &o) { o.ctaEnd(at); });
  }
  void warpEnd(const WarpRef &at) override {
    each([&](Observer &o) { o.warpEnd(at); });
  }
  void instruction(const WarpRef &at, uint32_t lanes) override {
    each([&](Observer &o) { o.instruction(at, lanes); });
  }
  bool wantsInstructions() const override {
    for (Observer *o : observers)
      if (o->wantsInstructions())
        return true;
    return false;
  }
  void blocked(const WarpRef &at, std::string_view why) override {
    each([&](Observer &o) { o.blocked(at, why); });
  }
  void resumed(const WarpRef &at) override {
    each([&](Observer &o) { o.resumed(at); });
  }

private:
  template <class F> void each(F f) {
    for (Observer *o : observers) {
      o->machine = machine;
      f(*o);
    }
  }
  std::vector<Observer *> observers;
};

} // namespace heddle::emulator

#endif // HEDDLE_EMULATOR_TRACE_FANOUT_H
