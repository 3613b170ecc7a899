//===- Order.cpp - scheduling order of instructions ----------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes that diverged meet again when the group that is earliest in this order
// always runs first: an order in which every loop is contiguous and that is
// topological apart from back edges. Computed by strongly connected components:
// a component is entered at its header, and the rest of it ordered likewise.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Control.h"

#include <algorithm>

namespace heddle::emulator {

namespace {
struct Graph {
  std::vector<uint32_t> first;               ///< first instruction of each block
  std::vector<std::vector<uint32_t>> succ, pred;
};

struct Scratch {
  std::vector<std::pair<uint32_t, uint32_t>> info;
  std::vector<uint8_t> onStack;
};

/// Loops that nest deeper than this are left in the order of the text; the order only
/// decides which lanes run first, so that hostile control flow costs no more than time.
constexpr unsigned maxLoopDepth = 64;

bool endsBlock(const Instr &i) {
  return i.fn == execBranch || i.fn == execBranchTable || i.fn == execExit || i.fn == execRet || i.fn == execTrap;
}

Graph blocksOf(Program &p, const std::vector<uint32_t> &starts) {
  std::vector<Instr> &code = p.code;
  for (uint32_t s : starts)
    code[s].flags |= Leader;
  for (size_t n = 0; n < code.size(); ++n) {
    const Instr &i = code[n];
    if (i.fn == execBranch)
      code[i.target].flags |= Leader;
    if (i.fn == execBranchTable)
      for (unsigned k = 0; k < i.count; ++k)
        code[p.lists[i.list + k].raw].flags |= Leader;
    if ((endsBlock(i) || i.fn == execCall) && n + 1 < code.size())
      code[n + 1].flags |= Leader;
  }
  Graph g;
  std::vector<uint32_t> block(code.size());
  for (size_t n = 0; n < code.size(); ++n) {
    if (code[n].flags & Leader || n == 0)
      g.first.push_back(uint32_t(n));
    block[n] = uint32_t(g.first.size() - 1);
  }
  g.succ.resize(g.first.size());
  g.pred.resize(g.first.size());
  for (size_t b = 0; b < g.first.size(); ++b) {
    size_t end = b + 1 < g.first.size() ? g.first[b + 1] : code.size();
    const Instr &last = code[end - 1];
    auto edge = [&](uint32_t to) {
      g.succ[b].push_back(to);
      g.pred[to].push_back(uint32_t(b));
    };
    if (last.fn == execBranch)
      edge(block[last.target]);
    if (last.fn == execBranchTable)
      for (unsigned k = 0; k < last.count; ++k)
        edge(block[p.lists[last.list + k].raw]);
    bool falls = !endsBlock(last) || (last.flags & HasPred);
    bool functionEnds = end < code.size() && std::find(starts.begin(), starts.end(), end) != starts.end();
    if (falls && end < code.size() && !functionEnds)
      edge(block[end]);
  }
  return g;
}

/// Strongly connected components of `nodes`, sources first.
std::vector<std::vector<uint32_t>> components(const Graph &g, const std::vector<uint32_t> &nodes,
                                              const std::vector<uint32_t> &member, uint32_t tag, Scratch &scratch) {
  static constexpr uint32_t unseen = ~0u;
  std::vector<std::vector<uint32_t>> out;
  auto &info = scratch.info; // index, low
  auto &onStack = scratch.onStack;
  for (uint32_t n : nodes) {
    info[n] = {unseen, 0};
    onStack[n] = 0;
  }
  std::vector<uint32_t> stack;
  uint32_t index = 0;
  struct Work { uint32_t node; size_t next; };
  for (uint32_t root : nodes) {
    if (info[root].first != unseen)
      continue;
    std::vector<Work> work{{root, 0}};
    info[root] = {index, index};
    ++index;
    stack.push_back(root);
    onStack[root] = 1;
    while (!work.empty()) {
      Work &top = work.back();
      uint32_t node = top.node;
      if (top.next < g.succ[node].size()) {
        uint32_t to = g.succ[node][top.next++];
        if (member[to] != tag)
          continue;
        auto &t = info[to];
        if (t.first == unseen) {
          t = {index, index};
          ++index;
          stack.push_back(to);
          onStack[to] = 1;
          work.push_back({to, 0});
        } else if (onStack[to]) {
          info[node].second = std::min(info[node].second, t.first);
        }
        continue;
      }
      if (info[node].second == info[node].first) {
        std::vector<uint32_t> c;
        uint32_t n;
        do {
          n = stack.back();
          stack.pop_back();
          onStack[n] = 0;
          c.push_back(n);
        } while (n != node);
        std::sort(c.begin(), c.end());
        out.push_back(std::move(c));
      }
      uint32_t low = info[node].second;
      work.pop_back();
      if (!work.empty())
        info[work.back().node].second = std::min(info[work.back().node].second, low);
    }
  }
  std::reverse(out.begin(), out.end());
  return out;
}
} // namespace

void orderProgram(Program &p, const std::vector<uint32_t> &starts) {
  Graph g = blocksOf(p, starts);
  size_t n = g.first.size();
  std::vector<uint32_t> order, member(n, 0);
  uint32_t tag = 0;
  std::vector<uint32_t> all(n);
  for (size_t b = 0; b < n; ++b)
    all[b] = uint32_t(b);
  Scratch scratch{std::vector<std::pair<uint32_t, uint32_t>>(n), std::vector<uint8_t>(n)};
  struct Part {
    std::vector<uint32_t> nodes;
    unsigned depth;
  };
  std::vector<Part> work;
  work.push_back({std::move(all), 0});
  while (!work.empty()) {
    auto [nodes, depth] = std::move(work.back());
    work.pop_back();
    if (nodes.size() == 1 || depth > maxLoopDepth) {
      order.insert(order.end(), nodes.begin(), nodes.end());
      continue;
    }
    ++tag;
    for (uint32_t b : nodes)
      member[b] = tag;
    auto parts = components(g, nodes, member, tag, scratch);
    if (parts.size() == 1) { // a loop: its header, then the rest
      const std::vector<uint32_t> &loop = parts[0];
      uint32_t header = loop[0];
      for (uint32_t b : loop) {
        bool entered = std::any_of(g.pred[b].begin(), g.pred[b].end(), [&](uint32_t q) { return member[q] != tag; });
        if (entered) {
          header = b;
          break;
        }
      }
      order.push_back(header);
      std::vector<uint32_t> rest;
      for (uint32_t b : loop)
        if (b != header)
          rest.push_back(b);
      if (!rest.empty())
        work.push_back({std::move(rest), depth + 1});
      continue;
    }
    for (size_t k = parts.size(); k-- > 0;)
      work.push_back({std::move(parts[k]), depth});
  }
  p.rank.assign(p.code.size(), 0);
  uint32_t at = 0;
  for (uint32_t b : order) {
    size_t end = b + 1 < n ? g.first[b + 1] : p.code.size();
    for (size_t i = g.first[b]; i < end; ++i)
      p.rank[i] = at++;
  }
}

} // namespace heddle::emulator
