//===- Emulator.cpp - the public interface -------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/core/Machine.h"
#include "runtime/emulator/ops/Lanes.h"

#include <algorithm>

namespace heddle::emulator {

std::string_view errorKindName(ErrorKind kind) {
  static constexpr std::string_view names[] = {
      "parse",   "unsupported", "launch",   "out of bounds", "misaligned", "uninitialised", "barrier",
      "convergence", "operand", "deadlock", "limit",         "trap",       "race"};
  return names[size_t(kind)];
}

std::string Error::text() const {
  std::string s;
  if (line)
    s += "line " + std::to_string(line) + ": ";
  s += std::string(errorKindName(kind)) + ": " + message;
  std::string where;
  auto add = [&](const std::string &part) { where += (where.empty() ? "" : ", ") + part; };
  if (!role.empty())
    add("role " + role);
  if (warp >= 0)
    add("warp " + std::to_string(warp));
  if (lane >= 0)
    add("lane " + std::to_string(lane));
  if (warp >= 0)
    add("cta (" + std::to_string(cta.x) + "," + std::to_string(cta.y) + "," + std::to_string(cta.z) + ")");
  if (device > 0)
    add("device " + std::to_string(device));
  if (!source.empty())
    add("at " + source);
  return where.empty() ? s : s + " [" + where + "]";
}

std::string Report::text() const {
  std::string s;
  for (const Error &e : errors)
    s += e.text() + "\n";
  return s;
}

std::string ModuleImpl::location(uint32_t loc) const {
  if (loc == 0 || loc >= ast.locations.size())
    return "";
  const Location &l = ast.locations[loc];
  if (l.line == 0) // as in DWARF: of no line
    return "";
  auto it = ast.files.find(l.file);
  return (it == ast.files.end() ? "file " + std::to_string(l.file) : it->second) + ":" + std::to_string(l.line) + ":" +
         std::to_string(l.column);
}

Module::Module() : impl_(new ModuleImpl) {}
Module::~Module() = default;
const std::vector<EntryInfo> &Module::entries() const { return impl_->entries; }
const target::Target &Module::target() const { return *impl_->target; }
const EntryInfo *Module::entry(std::string_view name) const {
  for (const EntryInfo &e : impl_->entries)
    if (e.name == name)
      return &e;
  return nullptr;
}

static void build(ModuleImpl &m, std::string_view text, const target::Target &target) {
  m.target = &target;
  parsePtx(text, m.ast);
  unsigned version = m.ast.versionMajor * 10 + m.ast.versionMinor;
  if (version > 90)
    throw ParseError{1, "expected PTX ISA 9.0 or older, got " + std::to_string(m.ast.versionMajor) + "." +
                            std::to_string(m.ast.versionMinor)};
  if (m.ast.targetName != target.name) {
    // Code for an older, not architecture-specific target runs on a later one.
    unsigned number = 0;
    bool generic = m.ast.targetName.rfind("sm_", 0) == 0 && m.ast.targetName.size() < 8;
    for (size_t n = 3; generic && n < m.ast.targetName.size(); ++n) {
      generic = m.ast.targetName[n] >= '0' && m.ast.targetName[n] <= '9';
      number = number * 10 + unsigned(m.ast.targetName[n] - '0');
    }
    if (!generic || number > target.major * 10 + target.minor)
      throw ParseError{1, "PTX for " + m.ast.targetName + " does not run on " + std::string(target.name)};
  }
  for (const Function &f : m.ast.functions) {
    if (!f.isEntry || f.isExtern)
      continue;
    auto p = std::make_unique<Program>();
    p->staticShared = 0;
    Builder builder(m, *p);
    builder.build(f);
    EntryInfo e;
    e.name = f.name;
    for (uint32_t id : f.params) {
      const Variable &v = m.ast.variables[id];
      ParamInfo info{uint32_t(builder.offset(id)), uint32_t(v.bytes), v.align};
      e.params.push_back(info);
      e.paramBytes = info.offset + info.bytes;
    }
    e.staticShared = p->staticShared;
    e.reqntid = f.reqntid;
    e.maxntid = f.maxntid;
    e.cluster = f.cluster;
    e.minCtasPerSM = f.minCtas;
    e.maxRegisters = f.maxRegs;
    m.entries.push_back(std::move(e));
    m.programs.push_back(std::move(p));
  }
}

std::shared_ptr<const Module> Module::parse(std::string_view text, const target::Target &target, Error *error) {
  std::shared_ptr<Module> m(new Module);
  try {
    build(*m->impl_, text, target);
    return m;
  } catch (const ParseError &e) {
    error->kind = e.kind;
    error->line = e.line;
    error->message = e.message;
  } catch (const std::exception &e) {
    error->kind = ErrorKind::Parse;
    error->message = std::string("the text cannot be held: ") + e.what();
  }
  return nullptr;
}

Device::Device() : impl_(new DeviceImpl) {}
Device::~Device() {
  for (auto &a : impl_->allocations)
    if (a->owned && a->live)
      std::free(a->host);
}
const target::Target &Device::target() const { return *impl_->target; }
int Device::ordinal() const { return impl_->ordinal; }
DevicePtr Device::allocate(uint64_t bytes) {
  return impl_->allocate(bytes, nullptr, impl_->m->options.checkUninitialisedGlobal);
}
DevicePtr Device::mapHost(void *host, uint64_t bytes) { return impl_->allocate(bytes, host, false); }

bool Device::free(DevicePtr ptr) {
  Allocation *a = impl_->m->find(ptr);
  if (!a || a->base != ptr)
    return false;
  a->live = false;
  if (a->owned) {
    std::free(a->host);
    impl_->m->memoryUsed -= a->bytes;
  }
  a->host = nullptr;
  a->init.clear();
  return true;
}

void *Device::hostView(DevicePtr ptr, uint64_t bytes) const {
  Allocation *a = impl_->m->find(ptr);
  if (!a || ptr - a->base > a->bytes || a->bytes - (ptr - a->base) < bytes)
    return nullptr;
  return a->host + (ptr - a->base);
}

bool Device::copyIn(DevicePtr to, const void *from, uint64_t bytes) {
  void *p = hostView(to, bytes);
  if (!p)
    return false;
  std::memcpy(p, from, bytes);
  Allocation *a = impl_->m->find(to);
  if (!a->init.empty())
    std::memset(a->init.data() + (to - a->base), 1, bytes);
  return true;
}
bool Device::copyOut(void *to, DevicePtr from, uint64_t bytes) const {
  const void *p = hostView(from, bytes);
  if (p)
    std::memcpy(to, p, bytes);
  return p != nullptr;
}
bool Device::fill(DevicePtr to, uint8_t value, uint64_t bytes) {
  void *p = hostView(to, bytes);
  if (!p)
    return false;
  std::memset(p, value, bytes);
  Allocation *a = impl_->m->find(to);
  if (!a->init.empty())
    std::memset(a->init.data() + (to - a->base), 1, bytes);
  return true;
}

DevicePtr Device::symbol(const std::shared_ptr<const Module> &module, std::string_view name) {
  const std::vector<uint64_t> *addresses = impl_->load(module);
  const Ast &ast = module->impl().ast;
  for (size_t n = 0; addresses && n < ast.variables.size(); ++n)
    if (ast.variables[n].name == name && (*addresses)[n])
      return (*addresses)[n];
  return 0;
}

Report Device::launch(const std::shared_ptr<const Module> &module, std::string_view entry, LaunchConfig config) {
  Error e;
  if (!enqueue(module, entry, std::move(config), &e)) {
    Report r;
    r.errors.push_back(std::move(e));
    return r;
  }
  impl_->m->run(0);
  return impl_->m->self->takeReport();
}

Machine::Machine(MachineOptions options) : impl_(new MachineImpl) {
  impl_->options = options;
  impl_->self = this;
}
Machine::~Machine() = default;

Device &Machine::addDevice(const target::Target &target, unsigned smCount) {
  std::unique_ptr<Device> d(new Device);
  DeviceImpl &i = d->impl();
  i.self = d.get();
  i.m = impl_.get();
  i.target = &target;
  i.ordinal = int(impl_->devices.size());
  i.smCount = smCount ? smCount : target::defaultChip(target).sms;
  impl_->devices.push_back(std::move(d));
  return *impl_->devices.back();
}

void Stats::add(const Stats &other) {
  for (uint64_t Stats::*field :
       {&Stats::warpInstructions, &Stats::threadInstructions, &Stats::globalReadBytes, &Stats::globalWriteBytes,
        &Stats::sharedReadBytes, &Stats::sharedWriteBytes, &Stats::asyncBytes, &Stats::tensorOps, &Stats::barrierWaits})
    this->*field += other.*field;
}

DevicePtr Machine::multicast(const std::vector<DevicePtr> &members, uint64_t bytes) {
  for (DevicePtr p : members) {
    Allocation *a = impl_->find(p);
    if (!a || a->bytes < bytes || p - a->base > a->bytes - bytes || p % 16)
      return 0;
  }
  if (members.empty() || bytes == 0)
    return 0;
  Multicast m;
  m.base = multicastWindow;
  for (const Multicast &other : impl_->multicasts)
    m.base = std::max(m.base, (other.base + other.bytes + 0x1fffff) & ~uint64_t(0x1fffff));
  m.base += 0x200000; // nothing in between
  m.bytes = bytes;
  m.members = members;
  impl_->multicasts.push_back(std::move(m));
  return impl_->multicasts.back().base;
}

void Machine::setObserver(Observer *observer) {
  impl_->observer = observer;
  if (observer)
    observer->machine = this;
}
RunState Machine::run(uint64_t budget) { return impl_->run(budget); }
MachineOptions &Machine::options() { return impl_->options; }
Report Machine::takeReport() {
  Report r = std::move(impl_->report);
  r.ok = !impl_->failed && r.errors.empty();
  impl_->report = Report{};
  impl_->failed = false;
  return r;
}

std::string_view asyncKindName(AsyncKind kind) {
  switch (kind) {
  case AsyncKind::CpAsync: return "cp.async";
  case AsyncKind::BulkCopy: return "bulk copy";
  case AsyncKind::TensorCopy: return "tensor copy";
  case AsyncKind::Wgmma: return "wgmma";
  case AsyncKind::TcgenMma: return "tcgen05.mma";
  case AsyncKind::TcgenCp: return "tcgen05.cp";
  case AsyncKind::TcgenCommit: return "tcgen05.commit";
  case AsyncKind::TcgenLd: return "tcgen05.ld";
  case AsyncKind::TcgenSt: return "tcgen05.st";
  case AsyncKind::MbarrierArrive: return "mbarrier arrival";
  case AsyncKind::LaunchCancel: return "launch cancel";
  case AsyncKind::StoreAsync: return "asynchronous store";
  }
  return "operation";
}

std::string Observer::sourceOf(const WarpRef &at) const {
  for (auto &d : machine->impl().devices)
    for (auto &l : d->impl().queue)
      if (l->id == at.launch)
        return l->module->impl().location(at.loc);
  return "";
}

uint32_t Observer::sharedReserved(int device) const {
  return machine->impl().devices[size_t(device)]->impl().target->sharedReserved;
}

uint64_t Observer::now() const { return machine->impl().time; }

void Observer::report(Error error, bool stop) { machine->impl().addError(std::move(error), stop); }

} // namespace heddle::emulator
