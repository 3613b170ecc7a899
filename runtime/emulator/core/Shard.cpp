//===- Shard.cpp - clusters of a launch on several host threads ----------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch whose program cannot pass data between clusters (Program::communicates) runs one cluster
// after the other, each in a machine of its own: a shard, with its own random numbers (drawn from
// seed and cluster), virtual time, counters and errors. Nothing in a shard depends on the others,
// so it does not matter on which host thread and in which order shards run; reports are joined in
// the order of clusters. Shards share device memory only, and there the bytes that two of them touch
// in conflict would be a race of the kernel.
//
// Clusters that wait for each other by ordinary loads would never end here. A shard that runs
// very long without changing anything is therefore reported.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Machine.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace heddle::emulator {

/// Warp instructions without a store, arrival or completion that end a shard.
static constexpr uint64_t longestSilence = uint64_t(1) << 26;

Launch *MachineImpl::independentLaunch() {
  if (observer || options.externalAgents)
    return nullptr;
  Launch *found = nullptr;
  for (auto &d : devices)
    for (auto &l : d->impl().queue) {
      if (found)
        return nullptr;
      found = l.get();
    }
  if (!found || found->started || found->totalClusters < 2 || found->program->communicates)
    return nullptr;
  return found;
}

void MachineImpl::runAlone(Cluster &c) {
  only_ = &c;
  uint64_t used = 0, progressSeen = progress, silentSince = 0;
  while (!failed && (c.liveWarps || !c.async.empty())) {
    bool any = slice(c, used);
    if (failed || overLimits())
      return;
    if (progress != progressSeen) {
      progressSeen = progress;
      silentSince = instructions;
    } else if (instructions - silentSince > longestSilence) {
      return reportDeadlock("a cluster runs without an end; waiting for another one takes strong accesses");
    }
    if ((!any || polls > 200000) && (c.liveWarps || !c.async.empty()) && !wakeIdle())
      return;
  }
}

void MachineImpl::runShards(Launch &l) {
  l.started = true;
  const uint64_t total = l.totalClusters, bytes = clusterBytes(l);
  uint64_t workers = options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  workers = std::min(workers, total);
  while (workers > 1 && options.limits.maxMemory && memoryUsed + workers * bytes > options.limits.maxMemory)
    --workers;
  if (!takeMemory(workers * bytes)) {
    startCluster(l); // says so
    return;
  }
  // What joins the reports: counters are sums, errors are those of the first cluster that failed.
  std::atomic<uint64_t> next{0}, firstFailed{total};
  std::mutex mutex;
  Stats stats;
  uint64_t elapsed = 0, ran = 0, changes = 0;
  std::vector<Error> errors;
  auto work = [&] {
    for (;;) {
      const uint64_t n = next++;
      if (n >= total || n > firstFailed)
        return;
      MachineImpl shard;
      shard.options = options;
      shard.root = this;
      shard.self = self;
      shard.schedule = schedule;
      shard.time = time;
      shard.started_ = started_;
      shard.rng.seed(options.seed * 0x9e3779b97f4a7c15 + n + 1);
      shard.nextCluster = nextCluster + n;
      shard.nextCta = nextCta + n * l.cluster.volume();
      std::unique_ptr<Cluster> c = shard.makeCluster(l, n);
      shard.runAlone(*c);
      std::lock_guard lock(mutex);
      stats.add(shard.report.stats);
      elapsed += shard.time - time;
      ran += shard.instructions;
      changes += shard.progress;
      if (shard.failed && n < firstFailed) {
        firstFailed = n;
        errors = std::move(shard.report.errors);
      }
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t n = 1; n < workers; ++n)
    threads.emplace_back(work);
  work();
  for (std::thread &t : threads)
    t.join();
  memoryUsed -= workers * bytes;
  nextCluster += total;
  nextCta += total * l.cluster.volume();
  time += elapsed;
  instructions += ran;
  progress += changes;
  report.stats.add(stats);
  for (Error &e : errors)
    addError(std::move(e), true);
  l.nextCluster = l.doneClusters = total;
  l.complete = true;
}

} // namespace heddle::emulator
