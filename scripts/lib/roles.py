#!/usr/bin/env python3
"""Prints the roles of one kernel on several targets side by side, in short.

usage: heddlec SPEC --arch=sm_90a,sm_100a --emit=roles | roles.py

What heddlec prints is complete and can be compiled; this leaves out addresses and types.
"""
import re
import sys
from itertools import zip_longest


def fold(lines):
    """Writes a repeated run of lines once, with how often it stood there."""
    for period in range(1, 7):
        out, i = [], 0
        while i < len(lines):
            group, count = lines[i:i + period], 1
            while len(group) == period and lines[i + count * period:i + (count + 1) * period] == group:
                count += 1
            indent = {len(text) - len(text.lstrip()) for text in group}
            if count > 1 and len(indent) == 1 and not group[0].endswith(" times"):
                pad = " " * indent.pop()
                out += ["%s%d times" % (pad, count)] + ["  " + text for text in group]
                i += count * period
            else:
                out.append(lines[i])
                i += 1
        lines = out
    return lines


def shorten(text):
    """The lines to show of one kernel."""
    names, lines, role, depth = {}, [], [], 0
    for line in text.splitlines():
        body = line.strip()
        if match := re.match(r"warp.kernel @(\S+?)\(", body):
            for value, name in re.findall(r'(%\w+): memref[^{]*\{[^}]*warp.name = "(\w+)"', body):
                names[value] = name
            schedule = re.search(r"#warp.schedule<(.*?)>", body)
            tile = re.findall(r"tile_[mnk] = (\d+)", schedule[1]) if schedule else []
            lines.append("kernel %s, tile %s" % (match[1], " x ".join(tile)))
        elif match := re.match(r'(%\w+) = warp.pipe "(\w+)".* : <(\w+), (\d+),', body):
            names[match[1]] = match[2]
            lines.append("pipe %-12s %s, %s slot%s" % (match[2], match[3], match[4], "s"[match[4] == "1":]))
        elif match := re.match(r"warp.role @(\w+) .*warps (\d+) to (\d+)(?: registers (\d+))?", body):
            first, last = int(match[2]), int(match[3]) - 1
            warps = "warp %d" % first if first == last else "warps %d-%d" % (first, last)
            lines += fold(role) + ["", "role %s: %s%s" % (
                match[1], warps, ", %s registers" % match[4] if match[4] else "")]
            role, depth = [], 1
        elif depth:
            indent = "  " * depth
            if body.startswith("warp.for_each"):
                role.append(indent + "for each tile")
                depth += 1
            elif "scf.for " in body:
                role.append(indent + "for each block of K")
                depth += 1
            elif body.startswith("}") and depth > 1:
                depth -= not body.endswith("{")
            elif match := re.search(r"warp\.(acquire|commit|wait|release) (%\w+)(.*)", body):
                lag = re.match(r" lag (\d+)", match[3])
                role.append("%s%s %s%s" % (indent, match[1], names.get(match[2], match[2]),
                                           ", %s behind" % lag[1] if lag else ""))
            elif match := re.match(r"warp.copy (%\w+)(\[.*?\])? to (%\w+)", body):
                role.append(indent + ("copy %s in" % names.get(match[1], "tile") if match[2] else
                                      "copy to %s" % names.get(match[3], "tile")))
            elif "warp.mma " in body:
                role.append(indent + "mma")
            elif match := re.search(r"warp\.(pack|store|mma_wait|fence)\b", body):
                role.append(indent + {"pack": "element-wise work, to the slot", "store": "element-wise work, to memory",
                                      "mma_wait": "wait for the mma", "fence": "fence (derived)"}[match[1]])
                depth += body.endswith("{")
            elif body.endswith("{") and "^bb" not in body:
                depth += 1
    return lines + fold(role)


def main():
    parts = re.split(r"^// (@\S+ for \S+).*$", sys.stdin.read(), flags=re.M)
    columns = []
    for title, text in zip(parts[1::2], parts[2::2]):
        kernel = re.split(r"(?=^  warp\.kernel )", text, flags=re.M)
        columns.append([title, "-" * len(title)] + shorten(kernel[1] if len(kernel) > 1 else ""))
    if not columns:
        print("roles.py: expected the output of heddlec --emit=roles for two targets or more", file=sys.stderr)
        return 1
    width = max(len(line) for column in columns for line in column) + 3
    for row in zip_longest(*columns, fillvalue=""):
        print("".join(text.ljust(width) for text in row).rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
