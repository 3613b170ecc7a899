//===- CommBench.cpp - collectives beside NCCL ----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All GPUs of one process, one rank each. Every contender's launches are captured into a graph
// a rank; rounds of all contenders follow each other; each round's time is that of the rank
// that started last, since no rank ends before all have started. Results are compared with what
// they must be before anything is timed. Collectives run without the runtime here: the block of
// the communicator is made by hand, so that nothing but kernels is timed.
//
//===----------------------------------------------------------------------===//
#include "Gpu.h"
#include "Report.h"
#include "heddle/Package/Reader.h"
#include "heddle/Package/Select.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

using namespace heddle;
using namespace heddle::bench;

namespace {

constexpr int maxRanks = 8;
constexpr size_t countersBytes = 64 << 20;

struct Options {
  std::vector<std::string> packages;
  std::string nccl, json, svg;
  std::vector<std::string> ops = {"all_gather", "reduce_scatter", "all_reduce", "all_to_all"};
  std::vector<uint64_t> sizes;
  int world = 0, rounds = 9;
  bool noNccl = false;
};

/// A GPU and what its rank has.
struct Rank {
  int device = 0;
  Handle context = nullptr, stream = nullptr, start = nullptr, stop = nullptr;
  uint64_t heap = 0, in = 0, out = 0, heapBytes = 0; ///< in and out lie in the heap
  void *host = nullptr;                              ///< abort word, fault record
};

class Bench;

/// A package with its kernels loaded on every rank.
struct Package {
  std::string name;
  std::unique_ptr<pkg::PackageFile> file;
  std::map<uint32_t, std::vector<Handle>> modules; ///< by image
  std::map<std::string, size_t> counters;          ///< of each entry, offsets in the heap
  size_t nextCounter = 0;
  std::vector<uint64_t> blocks; ///< of each rank
};

class Bench {
public:
  explicit Bench(const Options &options) : o(options) {}
  int run();

private:
  void openRanks();
  void allocate(uint64_t most);
  void measureLink();
  void loadPackages();
  Line measure(const std::string &op, uint64_t bytes);
  void enqueue(Package &p, const std::string &op, uint64_t part);
  void enqueueNccl(const std::string &op, uint64_t part);
  void fill(const std::string &op, uint64_t part);
  void verify(const std::string &op, uint64_t part, const std::string &who);
  double time(const std::vector<Handle> &graphs, int launches);
  void finish();
  void checkFaults(const std::string &who);
  uint64_t inElements(const std::string &op, uint64_t part) const {
    return op == "reduce_scatter" || op == "all_to_all" ? part * ranks.size() : part;
  }
  uint64_t outElements(const std::string &op, uint64_t part) const {
    return op == "all_gather" || op == "all_to_all" ? part * ranks.size() : part;
  }

  const Options &o;
  std::vector<Rank> ranks;
  std::vector<Package> packages;
  Nccl nccl;
  Summary summary;
  pkg::Capability capability;
  int multiprocessors = 0;
};

[[noreturn]] void die(const std::string &text) {
  std::fprintf(stderr, "comm-bench: %s\n", text.c_str());
  std::exit(1);
}

/// Small integers: sums of a few ranks are exact. They repeat after `period` elements.
constexpr uint64_t period = 1 << 20;
int value(unsigned rank, uint64_t i) {
  i %= period;
  return static_cast<int>((i * 2654435761u + rank * 40503u) >> 9) % 9 - 4;
}
uint16_t bf16(int v) {
  float f = static_cast<float>(v);
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return static_cast<uint16_t>(bits >> 16);
}

} // namespace

void Bench::openRanks() {
  if (std::string why = gpu.open(); !why.empty())
    die(why);
  int count = 0;
  check(gpu.deviceCount(&count), "count devices");
  int world = o.world ? o.world : std::min(count, maxRanks);
  if (world < 2 || world > count)
    die("expected 2 to " + std::to_string(count) + " GPUs, got " + std::to_string(world));
  ranks.resize(world);
  for (int r = 0; r < world; ++r) {
    Rank &rank = ranks[r];
    check(gpu.deviceGet(&rank.device, r), "get a device");
    check(gpu.retain(&rank.context, rank.device), "make a context");
    check(gpu.setCurrent(rank.context), "set a context");
    check(gpu.streamCreate(&rank.stream, 1), "make a stream");
    check(gpu.eventCreate(&rank.start, 0), "make an event");
    check(gpu.eventCreate(&rank.stop, 0), "make an event");
    check(gpu.hostAlloc(&rank.host, 4096, 3), "pin memory");
    std::memset(rank.host, 0, 4096);
  }
  for (Rank &from : ranks)
    for (Rank &to : ranks) {
      int can = 0;
      if (from.device == to.device)
        continue;
      check(gpu.canAccess(&can, from.device, to.device), "ask for peer access");
      if (!can)
        die("GPU " + std::to_string(from.device) + " cannot access GPU " +
            std::to_string(to.device));
      check(gpu.setCurrent(from.context), "set a context");
      check(gpu.enablePeer(to.context, 0), "enable peer access");
    }
  char name[256] = "";
  check(gpu.deviceName(name, sizeof name, ranks[0].device), "name a device");
  int major = 0, minor = 0;
  check(gpu.deviceAttribute(&major, 75, ranks[0].device), "ask for the capability");
  check(gpu.deviceAttribute(&minor, 76, ranks[0].device), "ask for the capability");
  check(gpu.deviceAttribute(&multiprocessors, 16, ranks[0].device), "count multiprocessors");
  capability = {unsigned(major), unsigned(minor)};
  summary.device = name, summary.world = world;
}

/// Counters, operand and result of the largest size.
void Bench::allocate(uint64_t most) {
  uint64_t tensor = (most * ranks.size() + 4095) / 4096 * 4096;
  for (Rank &rank : ranks) {
    check(gpu.setCurrent(rank.context), "set a context");
    rank.heapBytes = countersBytes + 2 * tensor;
    check(gpu.alloc(&rank.heap, rank.heapBytes), "allocate a heap");
    check(gpu.set(rank.heap, 0, countersBytes), "clear counters");
    rank.in = rank.heap + countersBytes, rank.out = rank.in + tensor;
  }
}

/// Copy engines, both directions at once.
void Bench::measureLink() {
  size_t bytes = std::min<uint64_t>(256 << 20, ranks[0].heapBytes - countersBytes) / 2;
  double best = 0;
  for (int round = 0; round < 4; ++round) {
    for (int r = 0; r < 2; ++r) {
      check(gpu.setCurrent(ranks[r].context), "set a context");
      check(gpu.eventRecord(ranks[r].start, ranks[r].stream), "record");
      for (int i = 0; i < 4; ++i)
        check(gpu.copyPeer(ranks[1 - r].out, ranks[1 - r].context, ranks[r].in, ranks[r].context,
                           bytes, ranks[r].stream),
              "copy to a peer");
      check(gpu.eventRecord(ranks[r].stop, ranks[r].stream), "record");
    }
    double slowest = 0;
    for (int r = 0; r < 2; ++r) {
      check(gpu.streamSynchronize(ranks[r].stream), "wait");
      float ms = 0;
      check(gpu.eventElapsed(&ms, ranks[r].start, ranks[r].stop), "time");
      slowest = std::max<double>(slowest, ms);
    }
    best = std::max(best, 4.0 * bytes / slowest / 1e6);
  }
  summary.link = best;
}

void Bench::loadPackages() {
  for (const std::string &text : o.packages) {
    size_t equals = text.find('=');
    Package p;
    std::string path = equals == std::string::npos ? text : text.substr(equals + 1);
    p.name = equals == std::string::npos ? "heddle" : text.substr(0, equals);
    auto file = pkg::PackageFile::fromFile(path);
    if (!file)
      die(file.error().message);
    p.file = std::make_unique<pkg::PackageFile>(std::move(*file));
    for (unsigned r = 0; r < ranks.size(); ++r) {
      std::vector<uint64_t> block(4 + ranks.size());
      block[0] = r | uint64_t(ranks.size()) << 32;
      block[1] = 20'000'000'000; // 20 s
      block[2] = reinterpret_cast<uint64_t>(ranks[r].host);
      block[3] = block[2] + 64;
      for (unsigned other = 0; other < ranks.size(); ++other)
        block[4 + other] = ranks[other].heap;
      uint64_t address = 0;
      check(gpu.setCurrent(ranks[r].context), "set a context");
      check(gpu.alloc(&address, 8 * block.size()), "allocate");
      check(gpu.copy(address, reinterpret_cast<uint64_t>(block.data()), 8 * block.size()), "copy");
      p.blocks.push_back(address);
    }
    summary.contenders.push_back(p.name);
    packages.push_back(std::move(p));
  }
  // Counters of one package must not be another's.
  for (size_t i = 0; i < packages.size(); ++i)
    packages[i].nextCounter = countersBytes / packages.size() / 4096 * 4096 * i;
}

/// Launches a kernel on every rank's stream.
void Bench::enqueue(Package &p, const std::string &op, uint64_t part) {
  const pkg::Kernel *kernel = p.file->findKernel(op);
  if (!kernel)
    die("package " + p.name + " has no kernel " + op + "; it has " + p.file->kernelNames());
  std::vector<int64_t> symbols;
  for (const auto *name : *kernel->symbols())
    symbols.push_back(name->str() == "world" ? ranks.size() : part);
  std::vector<uint64_t> addresses = {ranks[0].in, ranks[0].out};
  pkg::ExprContext sizes{symbols, multiprocessors, int64_t(ranks.size())};
  auto chosen = pkg::selectVariants(*p.file->operator->(), *kernel, capability, {sizes, addresses});
  if (!chosen)
    die(chosen.error().message);
  if (chosen->candidates.empty())
    die("no form of " + op + " fits:\n" + pkg::describeRejections(*kernel, *chosen));
  const pkg::Variant &v = *kernel->variants()->Get(chosen->candidates[0].variant);
  auto evaluate = [&](const pkg::Expr *e) {
    auto result = pkg::evaluateExpr(e, sizes);
    return result ? *result : 0;
  };
  auto &modules = p.modules[v.image()];
  std::string entry = v.entry()->str();
  if (!p.counters.count(entry)) {
    p.counters[entry] = p.nextCounter;
    p.nextCounter += (evaluate(v.signal_bytes()) + 127) / 128 * 128;
  }
  for (unsigned r = 0; r < ranks.size(); ++r) {
    check(gpu.setCurrent(ranks[r].context), "set a context");
    if (modules.size() <= r) {
      Handle module = nullptr;
      const auto *image = (*p.file)->images()->Get(v.image());
      const void *code = image->cubin() && image->cubin()->size()
                             ? static_cast<const void *>(image->cubin()->data())
                             : image->ptx()->c_str();
      check(gpu.moduleLoad(&module, code), "load a module");
      modules.push_back(module);
    }
    Handle function = nullptr;
    check(gpu.moduleFunction(&function, modules[r], entry.c_str()), "find a function");
    if (v.shared_bytes() > 48 << 10)
      check(gpu.functionSet(function, 8, int(v.shared_bytes())), "allow shared memory");
    std::vector<uint64_t> values(v.params()->size());
    std::vector<void *> pointers;
    for (unsigned i = 0; i < values.size(); ++i) {
      const pkg::Param *param = v.params()->Get(i);
      switch (param->kind()) {
      case pkg::ParamKind::pointer:
        values[i] = param->index() ? ranks[r].out : ranks[r].in;
        break;
      case pkg::ParamKind::comm:
        values[i] = p.blocks[r];
        break;
      case pkg::ParamKind::signals:
        values[i] = p.counters[entry];
        break;
      default:
        values[i] = evaluate(param->expr());
      }
      pointers.push_back(&values[i]);
    }
    check(gpu.launch(function, unsigned(evaluate(v.grid()->Get(0))), 1, 1, v.block()->Get(0), 1, 1,
                     v.shared_bytes(), ranks[r].stream, pointers.data(), nullptr),
          "launch");
  }
}

void Bench::enqueueNccl(const std::string &op, uint64_t part) {
  const std::map<std::string, Nccl::Op> ops = {{"all_gather", Nccl::Op::AllGather},
                                               {"all_to_all", Nccl::Op::AllToAll},
                                               {"reduce_scatter", Nccl::Op::ReduceScatter},
                                               {"all_reduce", Nccl::Op::AllReduce}};
  uint64_t from[maxRanks], to[maxRanks];
  Handle contexts[maxRanks], streams[maxRanks];
  for (unsigned r = 0; r < ranks.size(); ++r) {
    from[r] = ranks[r].in, to[r] = ranks[r].out;
    contexts[r] = ranks[r].context, streams[r] = ranks[r].stream;
  }
  if (std::string why = nccl.run(ops.at(op), from, to, part, contexts, streams); !why.empty())
    die(why);
}

/// Waits for all ranks, and no longer than a deadline.
void Bench::finish() {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (Rank &rank : ranks)
    for (int state = 0; (state = gpu.streamQuery(rank.stream)) != 0;) {
      if (state != 600) // not ready
        check(state, "run");
      if (std::chrono::steady_clock::now() > end)
        die("a launch hangs");
    }
}

void Bench::checkFaults(const std::string &who) {
  for (unsigned r = 0; r < ranks.size(); ++r) {
    const auto *record =
        reinterpret_cast<const uint32_t *>(static_cast<char *>(ranks[r].host) + 64);
    if (record[0])
      die(who + ": rank " + std::to_string(r) + " gave up waiting for rank " +
          std::to_string(record[1]) + " on channel " + std::to_string(record[2]) + ", code " +
          std::to_string(record[0]));
  }
}

void Bench::fill(const std::string &op, uint64_t part) {
  for (unsigned r = 0; r < ranks.size(); ++r) {
    std::vector<uint16_t> data(std::min(inElements(op, part), period));
    for (uint64_t i = 0; i < data.size(); ++i)
      data[i] = bf16(value(r, i));
    check(gpu.setCurrent(ranks[r].context), "set a context");
    for (uint64_t at = 0; at < inElements(op, part); at += data.size())
      check(gpu.copy(ranks[r].in + 2 * at, reinterpret_cast<uint64_t>(data.data()),
                     2 * std::min<uint64_t>(data.size(), inElements(op, part) - at)),
            "copy");
    check(gpu.set(ranks[r].out, 0xFF, 2 * outElements(op, part)), "clear");
    check(gpu.synchronize(), "wait");
  }
}

/// The first and the last MB of every rank's result.
void Bench::verify(const std::string &op, uint64_t part, const std::string &who) {
  for (unsigned r = 0; r < ranks.size(); ++r) {
    check(gpu.setCurrent(ranks[r].context), "set a context");
    uint64_t total = outElements(op, part), window = std::min<uint64_t>(total, 1 << 19);
    for (uint64_t first : {uint64_t(0), total - window}) {
      std::vector<uint16_t> got(window);
      check(gpu.copy(reinterpret_cast<uint64_t>(got.data()), ranks[r].out + 2 * first, 2 * window),
            "copy");
      for (uint64_t n = 0; n < window; ++n) {
        uint64_t i = first + n;
        int want = 0;
        if (op == "all_gather")
          want = value(unsigned(i / part), i % part);
        else if (op == "all_to_all")
          want = value(unsigned(i / part), r * part + i % part);
        else
          for (unsigned other = 0; other < ranks.size(); ++other)
            want += value(other, op == "reduce_scatter" ? r * part + i : i);
        // The operand repeats; sums of equal residues are equal.
        if (got[n] != bf16(want))
          die(who + ": wrong element " + std::to_string(i) + " of rank " + std::to_string(r) +
              " of " + op + ", part " + std::to_string(part) + ": expected " +
              std::to_string(want) + ", got bits " + std::to_string(got[n]));
      }
    }
  }
}

/// Microseconds a launch, of the rank that started last.
double Bench::time(const std::vector<Handle> &graphs, int launches) {
  for (unsigned r = 0; r < ranks.size(); ++r) {
    check(gpu.setCurrent(ranks[r].context), "set a context");
    check(gpu.eventRecord(ranks[r].start, ranks[r].stream), "record");
    check(gpu.graphLaunch(graphs[r], ranks[r].stream), "launch a graph");
    check(gpu.eventRecord(ranks[r].stop, ranks[r].stream), "record");
  }
  finish();
  double least = 1e30;
  for (Rank &rank : ranks) {
    float ms = 0;
    check(gpu.setCurrent(rank.context), "set a context");
    check(gpu.eventElapsed(&ms, rank.start, rank.stop), "time");
    least = std::min<double>(least, ms);
  }
  return least * 1e3 / launches;
}

Line Bench::measure(const std::string &op, uint64_t bytes) {
  uint64_t world = ranks.size(), part = bytes / 2;
  bool parts = op == "reduce_scatter" || op == "all_to_all";
  if (parts)
    part = std::max<uint64_t>(8, part / world);
  Line line;
  line.op = op, line.bytes = bytes;
  line.remote = 2 * part * (world - 1);
  if (op == "all_reduce") // at the least: half of it in, half of it back
    line.remote = 2 * 2 * part * (world - 1) / world;
  int launches = bytes <= 1 << 20 ? 100 : bytes <= 64 << 20 ? 20 : 4;
  std::vector<std::vector<Handle>> graphs;
  size_t contenders = packages.size() + (summary.nccl ? 1 : 0);
  for (size_t c = 0; c < contenders; ++c) {
    auto once = [&] {
      if (c < packages.size())
        enqueue(packages[c], op, part);
      else
        enqueueNccl(op, part);
    };
    fill(op, part);
    once();
    finish();
    checkFaults(summary.contenders[c]);
    verify(op, part, summary.contenders[c]);
    for (Rank &rank : ranks) {
      check(gpu.setCurrent(rank.context), "set a context");
      check(gpu.captureBegin(rank.stream, 2), "begin a capture");
    }
    for (int i = 0; i < launches; ++i)
      once();
    std::vector<Handle> made;
    for (Rank &rank : ranks) {
      Handle graph = nullptr, instance = nullptr;
      check(gpu.setCurrent(rank.context), "set a context");
      check(gpu.captureEnd(rank.stream, &graph), "end a capture");
      check(gpu.graphInstantiate(&instance, graph, 0), "make a graph");
      check(gpu.graphDestroy(graph), "free a graph");
      made.push_back(instance);
    }
    graphs.push_back(made);
  }
  std::vector<std::vector<double>> times(contenders);
  for (int round = 0; round < o.rounds + 2; ++round)
    for (size_t c = 0; c < contenders; ++c) {
      double us = time(graphs[c], launches);
      if (round >= 2)
        times[c].push_back(us);
    }
  for (size_t c = 0; c < contenders; ++c) {
    checkFaults(summary.contenders[c]);
    std::sort(times[c].begin(), times[c].end());
    double median = times[c][times[c].size() / 2];
    line.times.push_back(median);
    line.spreads.push_back((times[c].back() - times[c].front()) / median);
    for (unsigned r = 0; r < ranks.size(); ++r) {
      check(gpu.setCurrent(ranks[r].context), "set a context");
      check(gpu.graphExecDestroy(graphs[c][r]), "free a graph");
    }
  }
  return line;
}

int Bench::run() {
  openRanks();
  allocate(*std::max_element(o.sizes.begin(), o.sizes.end()));
  measureLink();
  loadPackages();
  if (!o.noNccl) {
    int devices[maxRanks];
    for (unsigned r = 0; r < ranks.size(); ++r)
      devices[r] = int(r);
    std::string why = nccl.open(o.nccl, devices, int(ranks.size()));
    if (!why.empty())
      std::printf("without NCCL: %s\n", why.c_str());
    summary.nccl = why.empty(), summary.ncclVersion = nccl.version;
    if (summary.nccl)
      summary.contenders.push_back("NCCL");
  }
  printHeader(summary);
  for (const std::string &op : o.ops)
    for (uint64_t size : o.sizes) {
      summary.lines.push_back(measure(op, size));
      printLine(summary, summary.lines.back());
    }
  printMeans(summary);
  if (!o.json.empty() && !writeJson(summary, o.json))
    die("cannot write " + o.json);
  if (!o.svg.empty() && !writeSvg(summary, o.svg))
    die("cannot write " + o.svg);
  return 0;
}

static const char *const help =
    "Usage: comm-bench [options] [NAME=]PACKAGE...\n"
    "Times collectives between the GPUs of this machine, beside NCCL.\n\n"
    "  --ops LIST     all_gather,reduce_scatter,all_reduce,all_to_all (all of them)\n"
    "  --sizes LIST   bytes a rank, e.g. 4K,1M,1G (4 KB to 1 GB, times 4)\n"
    "  --ranks N      GPUs to use (all, at most 8)\n"
    "  --rounds N     rounds whose median counts (9)\n"
    "  --nccl FILE    the library (libnccl.so.2 from the search path)\n"
    "  --no-nccl      without it\n"
    "  --json FILE, --svg FILE   write results, a plot\n\n"
    "A package holds kernels all_gather, reduce_scatter, all_reduce and all_to_all of bf16, as in\n"
    "bench/comm/specs/comm.mlir: heddlec comm.mlir --arch sm_90a -o comm.hdl\n";

static uint64_t parseSize(const std::string &text) {
  char *end = nullptr;
  uint64_t n = std::strtoull(text.c_str(), &end, 10);
  std::string unit = end;
  uint64_t factor = unit.empty()  ? 1
                    : unit == "K" ? 1 << 10
                    : unit == "M" ? 1 << 20
                    : unit == "G" ? 1 << 30
                                  : 0;
  if (!n || !factor || n * factor % 256)
    die("expected a size such as 4K, a multiple of 256 bytes, got " + text);
  return n * factor;
}

static std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

int main(int argc, char **argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    auto next = [&]() -> std::string {
      if (i + 1 == argc)
        die("expected a value after " + arg);
      return argv[++i];
    };
    if (arg == "--help" || arg == "-h")
      return std::fputs(help, stdout), 0;
    if (arg == "--ops")
      o.ops = split(next());
    else if (arg == "--sizes")
      for (const std::string &size : split(next()))
        o.sizes.push_back(parseSize(size));
    else if (arg == "--ranks")
      o.world = std::atoi(next().c_str());
    else if (arg == "--rounds")
      o.rounds = std::max(1, std::atoi(next().c_str()));
    else if (arg == "--nccl")
      o.nccl = next();
    else if (arg == "--no-nccl")
      o.noNccl = true;
    else if (arg == "--json")
      o.json = next();
    else if (arg == "--svg")
      o.svg = next();
    else if (arg.starts_with("-"))
      die("unknown option " + arg + "; see --help");
    else
      o.packages.push_back(arg);
  }
  for (const std::string &op : o.ops)
    if (op != "all_gather" && op != "reduce_scatter" && op != "all_reduce" && op != "all_to_all")
      die("expected operations of all_gather, reduce_scatter, all_reduce, all_to_all, got " + op);
  if (o.packages.empty())
    die("expected a package; see --help");
  if (o.sizes.empty())
    for (uint64_t size = 4096; size <= uint64_t(1) << 30; size *= 4)
      o.sizes.push_back(size);
  return Bench(o).run();
}
