//===- Report.cpp - table, JSON and plot of the benchmark -----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Report.h"

#include <cmath>
#include <cstdio>
#include <map>

namespace heddle::bench {

static std::string sizeText(uint64_t bytes) {
  if (bytes >= 1u << 30)
    return std::to_string(bytes >> 30) + " GB";
  if (bytes >= 1u << 20)
    return std::to_string(bytes >> 20) + " MB";
  return std::to_string(bytes >> 10) + " KB";
}

static double gbps(const Line &line, size_t i) { return line.remote / line.times[i] / 1e3; }

void printHeader(const Summary &s) {
  std::printf("%d x %s, link %.0f GB/s in one direction with both busy (copy engines, this run)\n",
              s.world, s.device.c_str(), s.link);
  if (s.nccl)
    std::printf("NCCL %s, without multicast; CUDA graphs, interleaved, medians\n",
                s.ncclVersion.c_str());
  std::printf("%-15s %8s", "operation", "a rank");
  for (const std::string &name : s.contenders)
    std::printf(" | %14.14s us (GB/s)", name.c_str());
  std::printf("%s | floor us\n", s.nccl ? " | NCCL/best" : "");
}

void printLine(const Summary &s, const Line &line) {
  std::printf("%-15s %8s", line.op.c_str(), sizeText(line.bytes).c_str());
  double best = 1e30;
  for (size_t i = 0; i < line.times.size(); ++i) {
    std::printf(" | %10.2f us (%5.1f) %3.0f%%", line.times[i], gbps(line, i),
                100 * line.spreads[i]);
    if (!s.nccl || i + 1 < line.times.size())
      best = std::min(best, line.times[i]);
  }
  if (s.nccl)
    std::printf(" | %9.2f", line.times.back() / best);
  std::printf(" | %8.1f\n", line.remote / s.link / 1e3);
  std::fflush(stdout);
}

void printMeans(const Summary &s) {
  if (!s.nccl)
    return;
  std::map<std::string, std::vector<const Line *>> byOp;
  for (const Line &line : s.lines)
    byOp[line.op].push_back(&line), byOp["all"].push_back(&line);
  for (auto &[op, lines] : byOp) {
    std::printf("geometric mean of NCCL's time over ours, %s:", op.c_str());
    for (size_t i = 0; i + 1 < s.contenders.size(); ++i) {
      double sum = 0, worst = 1e30;
      for (const Line *line : lines) {
        double ratio = line->times.back() / line->times[i];
        sum += std::log(ratio), worst = std::min(worst, ratio);
      }
      std::printf(" %s %.3f (least %.3f)", s.contenders[i].c_str(), std::exp(sum / lines.size()),
                  worst);
    }
    std::printf("\n");
  }
}

bool writeJson(const Summary &s, const std::string &path) {
  FILE *f = std::fopen(path.c_str(), "w");
  if (!f)
    return false;
  std::fprintf(f, "{\"device\": \"%s\", \"world\": %d, \"link_gbps\": %.2f, \"nccl\": \"%s\",\n",
               s.device.c_str(), s.world, s.link, s.ncclVersion.c_str());
  std::fprintf(f, " \"lines\": [\n");
  for (size_t n = 0; n < s.lines.size(); ++n) {
    const Line &line = s.lines[n];
    std::fprintf(f,
                 "  {\"op\": \"%s\", \"bytes\": %llu, \"remote_bytes\": %llu, \"microseconds\": {",
                 line.op.c_str(), (unsigned long long)line.bytes, (unsigned long long)line.remote);
    for (size_t i = 0; i < line.times.size(); ++i)
      std::fprintf(f, "%s\"%s\": %.3f", i ? ", " : "", s.contenders[i].c_str(), line.times[i]);
    std::fprintf(f, "}}%s\n", n + 1 < s.lines.size() ? "," : "");
  }
  std::fprintf(f, " ]}\n");
  return std::fclose(f) == 0;
}

bool writeSvg(const Summary &s, const std::string &path) {
  FILE *f = std::fopen(path.c_str(), "w");
  if (!f)
    return false;
  std::map<std::string, std::vector<const Line *>> byOp;
  for (const Line &line : s.lines)
    byOp[line.op].push_back(&line);
  constexpr int width = 420, height = 260, left = 50, bottom = 40;
  const char *colours[] = {"#1f6fb2", "#2a9d5c", "#8e5bb0", "#c98a1b", "#b23a48"};
  std::fprintf(f,
               "<svg xmlns='http://www.w3.org/2000/svg' width='%zu' height='%d' "
               "font-family='sans-serif' font-size='11'>\n",
               byOp.size() * width, height + 30);
  double top = s.link * 1.1;
  auto y = [&](double v) { return height - bottom - v / top * (height - bottom - 25); };
  int panel = 0;
  for (auto &[op, lines] : byOp) {
    int x0 = width * panel++ + left;
    auto x = [&](size_t i) {
      return x0 + double(width - left - 15) * i / std::max<size_t>(1, lines.size() - 1);
    };
    std::fprintf(f, "<text x='%d' y='15' font-weight='bold'>%s</text>\n", x0, op.c_str());
    for (double v = 0; v <= top; v += 100)
      std::fprintf(f,
                   "<line x1='%d' x2='%.0f' y1='%.1f' y2='%.1f' stroke='#ddd'/><text x='%d' "
                   "y='%.1f' text-anchor='end'>%.0f</text>\n",
                   x0, x(lines.size() - 1), y(v), y(v), x0 - 5, y(v) + 4, v);
    std::fprintf(f,
                 "<line x1='%d' x2='%.0f' y1='%.1f' y2='%.1f' stroke='black' "
                 "stroke-dasharray='4'/>\n",
                 x0, x(lines.size() - 1), y(s.link), y(s.link));
    for (size_t i = 0; i < lines.size(); ++i)
      std::fprintf(f, "<text x='%.1f' y='%d' text-anchor='middle' font-size='8'>%s</text>\n", x(i),
                   height - bottom + 14, sizeText(lines[i]->bytes).c_str());
    for (size_t c = 0; c < s.contenders.size(); ++c) {
      const char *colour = s.nccl && c + 1 == s.contenders.size() ? "#777" : colours[c % 5];
      std::fprintf(f, "<polyline fill='none' stroke='%s' stroke-width='2' points='", colour);
      for (size_t i = 0; i < lines.size(); ++i)
        std::fprintf(f, "%.1f,%.1f ", x(i), y(gbps(*lines[i], c)));
      std::fprintf(f, "'/>\n<text x='%d' y='%d' fill='%s'>%s</text>\n", x0 + 8, 32 + 13 * int(c),
                   colour, s.contenders[c].c_str());
    }
  }
  std::fprintf(f,
               "<text x='%d' y='%d'>GB/s that reach a rank, by bytes a rank; dashed: the link"
               "</text>\n</svg>\n",
               left, height + 15);
  return std::fclose(f) == 0;
}

} // namespace heddle::bench
