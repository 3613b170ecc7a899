//===- TraceWriter.cpp - traces for Perfetto and Chrome ------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/trace/TraceWriter.h"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace heddle::emulator {

static std::string quote(std::string_view s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\')
      out += '\\';
    out += uint8_t(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

static std::string place(const WarpRef &at) {
  return ",\"pid\":" + std::to_string(at.ctaId) + ",\"tid\":" + std::to_string(at.warp);
}

void TraceWriter::emit(std::string event) {
  if (events.size() < maxEvents)
    events.push_back(std::move(event));
  else
    ++dropped;
}

TraceWriter::Track &TraceWriter::track(const WarpRef &at) {
  auto [it, fresh] = tracks.try_emplace({at.ctaId, at.warp});
  if (fresh) {
    auto block = started.find(at.ctaId);
    it->second.start = block != started.end() ? block->second : now();
    it->second.role = at.role.empty() ? "warp" : std::string(at.role);
    emit("{\"ph\":\"M\",\"name\":\"thread_name\"" + place(at) +
         ",\"args\":{\"name\":" + quote(it->second.role + " " + std::to_string(at.warp)) + "}}");
  }
  return it->second;
}

void TraceWriter::flush(const WarpRef &at, Track &t) {
  Wait &w = t.wait;
  if (!w.kept)
    return;
  counted.blockedTime += w.to - w.from;
  emit("{\"ph\":\"X\",\"cat\":\"wait\",\"name\":" + quote(w.why) + place(at) +
       ",\"ts\":" + std::to_string(w.from) + ",\"dur\":" + std::to_string(w.to - w.from) +
       ",\"args\":{\"line\":" + std::to_string(w.line) + "}}");
  w.kept = false;
}

void TraceWriter::blocked(const WarpRef &at, std::string_view why) {
  Track &t = track(at);
  Wait &w = t.wait;
  // A warp that looks and goes on waiting has waited all along.
  if (w.kept && !w.open && w.line == at.line && w.why == why) {
    w.open = true;
    return;
  }
  flush(at, t);
  w = {now(), now(), at.line, std::string(why), true, true};
}

void TraceWriter::resumed(const WarpRef &at) {
  Wait &w = track(at).wait;
  if (!w.open)
    return;
  w.open = false;
  w.to = now();
}

void TraceWriter::ctaStart(const WarpRef &at, unsigned) {
  started[at.ctaId] = now();
  emit("{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" + std::to_string(at.ctaId) +
       ",\"args\":{\"name\":\"device " + std::to_string(at.device) + " cta (" +
       std::to_string(at.cta.x) + "," + std::to_string(at.cta.y) + "," + std::to_string(at.cta.z) +
       ")\"}}");
}

void TraceWriter::warpEnd(const WarpRef &at) {
  Track &t = track(at);
  flush(at, t);
  emit("{\"ph\":\"X\",\"cat\":\"role\",\"name\":" + quote(t.role) + place(at) +
       ",\"ts\":" + std::to_string(t.start) + ",\"dur\":" + std::to_string(now() - t.start) + "}");
}

void TraceWriter::asyncIssue(const AsyncEvent &e) {
  track(e.at);
  issued[e.op] = now();
  bool matrix = e.kind == AsyncKind::Wgmma || e.kind == AsyncKind::TcgenMma;
  ++(matrix ? counted.matrixOps : counted.copies);
}

void TraceWriter::asyncComplete(const AsyncEvent &e, bool readsDone) {
  if (readsDone)
    return;
  auto it = issued.find(e.op);
  if (it == issued.end())
    return;
  std::string common = ",\"cat\":\"async\",\"name\":" + quote(asyncKindName(e.kind)) +
                       ",\"id\":" + std::to_string(e.op) + place(e.at);
  emit("{\"ph\":\"b\"" + common + ",\"ts\":" + std::to_string(it->second) +
       ",\"args\":{\"line\":" + std::to_string(e.at.line) + "}}");
  emit("{\"ph\":\"e\"" + common + ",\"ts\":" + std::to_string(now()) + "}");
  issued.erase(it);
}

void TraceWriter::sync(const SyncEvent &e) {
  track(e.at);
  if (e.kind == SyncKind::BarWait || e.kind == SyncKind::ClusterWait ||
      e.kind == SyncKind::MbarWait)
    ++counted.barrierWaits;
  if (e.kind == SyncKind::MbarPhase)
    emit("{\"ph\":\"i\",\"s\":\"p\",\"cat\":\"mbarrier\",\"name\":\"mbarrier " +
         std::to_string(e.address - sharedReserved(e.at.device)) + " phase " + std::to_string(e.phase) + "\"" + place(e.at) +
         ",\"ts\":" + std::to_string(now()) + "}");
}

/// 32 banks of 4 bytes; lanes that name the same word share it. A warp takes as many
/// passes as the fullest bank has words, and needs bytes / 128.
void TraceWriter::countConflicts(const AccessEvent &e) {
  ++counted.sharedAccesses;
  std::vector<uint64_t> words;
  for (uint32_t m = e.lanes; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    for (uint32_t b = 0; b < e.bytes; b += 4)
      words.push_back((e.owner ? e.owner[l] << 32 : 0) | (e.address[l] + b) / 4);
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  unsigned banks[32] = {}, most = 0;
  for (uint64_t w : words)
    most = std::max(most, ++banks[w % 32]);
  unsigned needed = unsigned((words.size() + 31) / 32);
  counted.sharedConflicts += most - std::min(most, needed);
}

void TraceWriter::access(const AccessEvent &e) {
  uint64_t bytes = uint64_t(e.bytes) * (e.lanes ? unsigned(std::popcount(e.lanes)) : e.count);
  if (e.space == Space::Tensor) {
    counted.tensorBytes += bytes;
  } else if (!e.lanes) {
    (e.write ? counted.asyncWriteBytes : counted.asyncReadBytes) += bytes;
  } else if (e.space == Space::Shared) {
    (e.write ? counted.sharedWriteBytes : counted.sharedReadBytes) += bytes;
    countConflicts(e);
  } else if (e.space == Space::Global) {
    (e.write ? counted.globalWriteBytes : counted.globalReadBytes) += bytes;
  }
}

static constexpr std::string_view opening = "{\"traceEvents\":[\n";

std::string TraceWriter::json() const {
  return std::string(opening) + eventsFrom(0) + closing();
}

/// The events from `first` on, each behind a comma but the very first.
std::string TraceWriter::eventsFrom(size_t first) const {
  std::string out;
  for (size_t n = first; n < events.size(); ++n)
    out += (n ? ",\n" : "") + events[n];
  return out;
}

std::string TraceWriter::closing() const {
  std::string out = "\n],\"displayTimeUnit\":\"ms\",\"otherData\":{";
  auto count = [&](const char *name, uint64_t v, bool first = false) {
    out += std::string(first ? "" : ",") + "\"" + name + "\":" + std::to_string(v);
  };
  count("globalReadBytes", counted.globalReadBytes, true);
  count("globalWriteBytes", counted.globalWriteBytes);
  count("sharedReadBytes", counted.sharedReadBytes);
  count("sharedWriteBytes", counted.sharedWriteBytes);
  count("asyncReadBytes", counted.asyncReadBytes);
  count("asyncWriteBytes", counted.asyncWriteBytes);
  count("tensorBytes", counted.tensorBytes);
  count("sharedAccesses", counted.sharedAccesses);
  count("sharedBankConflicts", counted.sharedConflicts);
  count("barrierWaits", counted.barrierWaits);
  count("blockedTime", counted.blockedTime);
  count("copies", counted.copies);
  count("matrixOps", counted.matrixOps);
  count("droppedEvents", dropped);
  return out + "}}\n";
}

/// Later calls for the same file add what is new, so that many launches cost no more than their
/// events.
bool TraceWriter::write(const std::string &path, std::string *error) {
  const bool goesOn = path == lastPath;
  std::FILE *f = std::fopen(path.c_str(), goesOn ? "r+b" : "wb");
  bool ok = f != nullptr;
  auto put = [&](std::string_view text) {
    ok = ok && std::fwrite(text.data(), 1, text.size(), f) == text.size();
  };
  if (goesOn)
    ok = ok && std::fseek(f, closingAt, SEEK_SET) == 0;
  else
    put(opening);
  put(eventsFrom(goesOn ? writtenEvents : 0));
  const long at = ok ? std::ftell(f) : -1;
  put(closing());
  if (f)
    ok &= std::fclose(f) == 0;
  if (ok) {
    lastPath = path;
    closingAt = at;
    writtenEvents = events.size();
  } else if (error) {
    *error = "cannot write the trace to '" + path + "'";
  }
  return ok;
}

} // namespace heddle::emulator
