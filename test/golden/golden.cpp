//===- golden.cpp - runs the cases, keeps or compares their results -------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// heddle_golden --device cuda:0 --write FILE      keeps what the device computes
// heddle_golden --device emulator:<target> FILE   compares; exit code 1 when a case differs
// heddle_golden --pack FILE --write FILE          shortens what must be equal: some words and a hash
//
// Cases of another target than the device's are left out, but what is written for sm_80 also runs on
// later devices. Each run of cases is a child process, so that a case that hangs or breaks the
// device costs only itself.
//
//===----------------------------------------------------------------------===//

#include "Golden.h"
#include "runtime/core/Registry.h"
#include <bit>
#include <cinttypes>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace heddle::golden;
using namespace heddle::rt;

namespace {

/// Runs one case. The error is empty when `out` holds the result.
std::string run(Device &device, const Case &c, std::vector<uint32_t> &out) {
  const std::string text = c.text();
  std::unique_ptr<Image> image;
  ImageDesc desc;
  desc.target = c.target;
  desc.ptxVersion = c.target == "sm_80" ? 78 : 84;
  desc.ptx = text;
  if (Status s = device.loadImage(desc, image); !s)
    return std::string(s.message());
  EntryDesc what;
  what.name = "k";
  what.kernel = c.name;
  what.block = {c.threads, 1, 1};
  what.cluster = {c.cluster, 1, 1};
  what.sharedBytes = c.shared;
  what.params = {{ParamKind::Pointer, 0, 8}, {ParamKind::Pointer, 8, 8}};
  what.paramBytes = 16;
  if (c.map.used) {
    what.params.push_back({ParamKind::TensorMap, 64, 128});
    what.paramBytes = 192;
  }
  std::unique_ptr<Entry> entry;
  if (Status s = device.findEntry(*image, what, entry); !s)
    return std::string(s.message());
  const std::vector<uint32_t> input = c.input();
  out.assign(c.outputWords(), 0);
  void *in = nullptr, *to = nullptr;
  if (Status s = device.alloc(std::max<size_t>(input.size() * 4, 16), in); !s)
    return std::string(s.message());
  if (Status s = device.alloc(out.size() * 4, to); !s)
    return std::string(s.message());
  alignas(64) std::byte params[192] = {};
  std::memcpy(params, &to, 8);
  std::memcpy(params + 8, &in, 8);
  if (c.map.used) {
    TensorMapDesc m;
    m.address = reinterpret_cast<uintptr_t>(in) + c.map.offset;
    m.dtype = 6; // i32
    m.rank = c.map.rank;
    for (unsigned i = 0; i < m.rank; ++i) {
      m.dims[i] = c.map.dims[i];
      m.box[i] = c.map.box[i];
      if (i)
        m.strides[i - 1] = c.map.strides[i - 1];
    }
    m.swizzle = c.map.swizzle;
    TensorMapBytes bytes;
    if (Status s = device.encodeTensorMap(m, bytes); !s)
      return std::string(s.message());
    std::memcpy(params + 64, bytes.bytes.data(), 128);
  }
  Status s = device.copy(in, input.data(), input.size() * 4, nullptr);
  if (s)
    s = device.fill(to, 0, out.size() * 4, nullptr);
  if (s)
    s = device.sync();
  LaunchDesc launch;
  launch.grid = {c.blocks, 1, 1};
  launch.params = std::span<const std::byte>(params, what.paramBytes);
  if (s)
    s = device.launch(*entry, launch, nullptr);
  if (s)
    s = device.sync();
  if (s)
    s = device.copy(out.data(), to, out.size() * 4, nullptr);
  if (s)
    s = device.sync();
  if (!s)
    return std::string(s.message());
  for (void *p : {in, to})
    if (Status f = device.free(p); !f)
      return std::string(f.message());
  return {};
}

double half(uint32_t b, bool brain) {
  if (brain)
    return std::bit_cast<float>(b << 16);
  const int e = int(b >> 10 & 31);
  const double m = b & 0x3ff, v = e == 31 ? (m != 0 ? NAN : INFINITY) : e ? std::ldexp(1024 + m, e - 25) : std::ldexp(m, -24);
  return b & 0x8000 ? -v : v;
}

bool near(double got, double want, double bound) {
  return (std::isnan(got) && std::isnan(want)) || got == want || std::fabs(got - want) <= bound;
}

struct Result {
  std::string error;
  std::vector<uint32_t> words; ///< all, or with a hash the first ones
  size_t count = 0;            ///< of all
  uint64_t hash = 0;           ///< of all; 0: `words` are all
};

constexpr size_t keptWords = 24;
uint64_t hashOf(const std::vector<uint32_t> &words) { // FNV-1a
  uint64_t h = 14695981039346656037u;
  for (uint32_t w : words)
    for (unsigned b = 0; b < 32; b += 8)
      h = (h ^ (w >> b & 0xff)) * 1099511628211u;
  return h;
}
/// What differs; empty: nothing.
std::string difference(const Case &c, std::vector<uint32_t> got, const Result &kept) {
  const std::vector<uint32_t> &want = kept.words;
  const size_t count = kept.hash ? kept.count : want.size();
  if (got.size() != count)
    return "expected " + std::to_string(count) + " words, got " + std::to_string(got.size());
  const bool same = !kept.hash || hashOf(got) == kept.hash;
  got.resize(want.size());
  double most = 0, worst = 0;
  for (uint32_t w : want)
    if (const double v = std::fabs(std::bit_cast<float>(w)); std::isfinite(v))
      most = std::max(most, v);
  size_t wrong = 0, first = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    bool ok = true;
    const auto within = [&](double g, double w, double scale) {
      ok &= near(g, w, c.tolerance * scale);
      if (std::isfinite(g) && std::isfinite(w) && scale > 0)
        worst = std::max(worst, std::fabs(g - w) / scale);
    };
    const double g = std::bit_cast<float>(got[i]), w = std::bit_cast<float>(want[i]);
    switch (c.compare) {
    case Compare::Bits: ok = got[i] == want[i]; break;
    case Compare::F32: within(g, w, most); break;
    case Compare::F32Rel: within(g, w, std::fabs(w)); break;
    case Compare::F32Log: within(g, w, std::max(std::fabs(w), 1.0)); break;
    case Compare::F16x2:
    case Compare::BF16x2:
      for (unsigned h = 0; h < 2; ++h) {
        const double x = half(got[i] >> 16 * h & 0xffff, c.compare == Compare::BF16x2), y = half(want[i] >> 16 * h & 0xffff, c.compare == Compare::BF16x2);
        within(x, y, std::max(std::fabs(y), 1e-3));
      }
      break;
    }
    if (!ok && wrong++ == 0)
      first = i;
  }
  if (!wrong)
    return same ? "" : "a word behind the " + std::to_string(want.size()) + " that are kept differs (the hash does)";
  char text[160];
  std::snprintf(text, sizeof text, "%zu of %zu words differ, the first is word %zu: expected %08" PRIx32 ", got %08" PRIx32, wrong, got.size(), first, want[first], got[first]);
  std::string s = text;
  if (c.compare != Compare::Bits) {
    std::snprintf(text, sizeof text, "; relative difference %.3g, at most %.3g", worst, c.tolerance);
    s += text;
  }
  return s;
}

using Results = std::map<std::string, Result>;

std::string line(const std::string &name, const Result &r) {
  if (!r.error.empty()) {
    std::string e = r.error;
    for (char &ch : e)
      if (ch == '\n')
        ch = ' ';
    return "error " + name + " " + e + "\n";
  }
  char text[64];
  std::string s = "case " + name + " ";
  if (r.hash) {
    std::snprintf(text, sizeof text, "%zu %016" PRIx64 " ", r.count, r.hash);
    s = "hash " + name + " " + text;
  }
  for (uint32_t w : r.words) {
    std::snprintf(text, sizeof text, "%08" PRIx32, w);
    s += text;
  }
  return s + "\n";
}

bool read(std::istream &in, Results &results, std::string &header) {
  std::string l;
  while (std::getline(in, l)) {
    std::istringstream words(l);
    std::string kind, name, rest;
    words >> kind >> name;
    std::getline(words >> std::ws, rest);
    if (kind == "#") {
      header += l + "\n";
    } else if (kind == "error") {
      results[name].error = rest.empty() ? "unknown" : rest;
    } else if (kind == "case" || kind == "hash") {
      Result &r = results[name];
      if (kind == "hash") {
        int used = 0;
        if (std::sscanf(rest.c_str(), "%zu %" SCNx64 " %n", &r.count, &r.hash, &used) < 2)
          return false;
        rest = rest.substr(size_t(used));
      }
      if (rest.size() % 8)
        return false;
      for (size_t at = 0; at < rest.size(); at += 8)
        r.words.push_back(uint32_t(std::strtoul(rest.substr(at, 8).c_str(), nullptr, 16)));
    } else if (!kind.empty()) {
      return false;
    }
  }
  return true;
}

/// Runs `cases` in children that write to a pipe; a child that dies is followed by one that goes on
/// behind the case it died in.
Results runAll(const std::string &device, const std::vector<Case> &cases, std::string &about) {
  Results results;
  auto *at = static_cast<volatile size_t *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (size_t next = 0; next < cases.size();) {
    int ends[2];
    if (pipe(ends) != 0)
      break;
    *at = next;
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      FILE *to = fdopen(ends[1], "w");
      registerBuiltinBackends(Registry::get());
      std::shared_ptr<Device> dev;
      Status s = Registry::get().open(device, dev);
      if (!s) {
        std::fprintf(to, "error - %s\n", std::string(s.message()).c_str());
        std::fflush(to);
        _exit(2);
      }
      const DeviceInfo &info = dev->info();
      std::fprintf(to, "# device %s, compute capability %u.%u, driver %u\n", info.description.c_str(), info.major, info.minor, info.driverVersion);
      for (size_t i = next; i < cases.size(); ++i) {
        *at = i;
        alarm(60);
        Result r;
        r.error = run(*dev, cases[i], r.words);
        std::fputs(line(cases[i].name, r).c_str(), to);
        std::fflush(to);
        if (!r.error.empty()) // the device may refuse all work now
          _exit(i + 1 < cases.size() ? 3 : 0);
      }
      _exit(0);
    }
    close(ends[1]);
    std::string text;
    char buffer[65536];
    for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
      text.append(buffer, size_t(n));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    std::istringstream in(text);
    std::string header;
    read(in, results, header);
    if (about.empty())
      about = header;
    if (auto none = results.find("-"); none != results.end()) {
      std::fprintf(stderr, "heddle_golden: error: %s\n", none->second.error.c_str());
      std::exit(3);
    }
    if (WIFSIGNALED(status))
      results[cases[*at].name].error = WTERMSIG(status) == SIGALRM ? "took longer than 60 s" : "ended with signal " + std::to_string(WTERMSIG(status));
    next = WIFEXITED(status) && WEXITSTATUS(status) == 0 ? cases.size() : *at + 1;
  }
  return results;
}

int pack(const std::string &from, const std::string &to) {
  std::ifstream in(from);
  Results results;
  std::string header;
  if (!in || !read(in, results, header)) {
    std::fprintf(stderr, "heddle_golden: error: cannot read results from '%s'\n", from.c_str());
    return 2;
  }
  std::ofstream out(to);
  out << header;
  for (const Case &c : allCases()) {
    if (!results.count(c.name))
      continue;
    Result &r = results[c.name];
    if (r.error.empty() && !r.hash && c.compare == Compare::Bits && r.words.size() > keptWords + 2) {
      r.count = r.words.size();
      r.hash = hashOf(r.words);
      r.words.resize(keptWords);
    }
    out << line(c.name, r);
  }
  return out ? 0 : 1;
}

int usage() {
  std::fprintf(stderr, "usage: heddle_golden --device NAME [--only TEXT] [--ptx] --write FILE | FILE\n       heddle_golden --pack FILE --write FILE\n");
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  std::string device, file, only, packed;
  bool write = false, ptx = false;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (a == "--device" && i + 1 < argc)
      device = argv[++i];
    else if (a == "--only" && i + 1 < argc)
      only = argv[++i];
    else if (a == "--write" && i + 1 < argc)
      write = true, file = argv[++i];
    else if (a == "--pack" && i + 1 < argc)
      packed = argv[++i];
    else if (a == "--ptx")
      ptx = true;
    else if (a[0] != '-' && file.empty())
      file = a;
    else
      return usage();
  }
  std::vector<Case> cases;
  // An emulated device runs the cases of its own target and sm_80's; a GPU says its capability.
  const std::string own = device.substr(0, 9) == "emulator:" ? device.substr(9, device.find(',') == std::string::npos ? std::string::npos : device.find(',') - 9) : "";
  for (Case &c : allCases())
    if (c.name.find(only) != std::string::npos && (own.empty() || c.target == "sm_80" || c.target == own))
      cases.push_back(std::move(c));
  if (ptx) {
    for (const Case &c : cases)
      std::printf("// %s\n%s\n", c.name.c_str(), c.text().c_str());
    return 0;
  }
  if (!packed.empty() && write)
    return pack(packed, file);
  if (device.empty() || file.empty())
    return usage();
  std::string about;
  if (write) {
    const Results results = runAll(device, cases, about);
    std::ofstream to(file);
    to << about;
    size_t failed = 0;
    for (const Case &c : cases) {
      const auto r = results.find(c.name);
      const Result none{"not run", {}};
      const Result &result = r == results.end() ? none : r->second;
      to << line(c.name, result);
      if (!result.error.empty()) {
        ++failed;
        std::printf("%s: %s\n", c.name.c_str(), result.error.c_str());
      }
    }
    to.close();
    std::printf("%zu cases, %zu failed, %s\n", cases.size(), failed, file.c_str());
    return to && !failed ? 0 : 1;
  }
  std::ifstream from(file);
  Results golden;
  std::string header;
  if (!from || !read(from, golden, header)) {
    std::fprintf(stderr, "heddle_golden: error: cannot read results from '%s'\n", file.c_str());
    return 2;
  }
  const Results results = runAll(device, cases, about);
  size_t failed = 0, compared = 0, unknown = 0;
  for (const Case &c : cases) {
    const auto want = golden.find(c.name);
    const auto got = results.find(c.name);
    std::string problem;
    if (want == golden.end()) { // a new case; nobody has run it on a GPU yet
      ++unknown;
      if (got != results.end() && got->second.error.empty())
        continue;
      problem = got == results.end() ? "not run" : got->second.error;
    } else if (!want->second.error.empty())
      problem = "the hardware failed: " + want->second.error;
    else if (got == results.end() || !got->second.error.empty())
      problem = got == results.end() ? "not run" : got->second.error;
    else
      problem = difference(c, got->second.words, want->second);
    ++compared;
    if (problem.empty())
      continue;
    ++failed;
    std::printf("%s: %s\n", c.name.c_str(), problem.c_str());
  }
  std::printf("%zu cases on %s, %zu differ, %zu wait for a result of hardware\n", compared + unknown, device.c_str(), failed, unknown);
  return failed || !compared ? 1 : 0;
}
