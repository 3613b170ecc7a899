#!/usr/bin/env python3
"""Turns the output of CTest and lit into counts, and counts into a closing line.

usage: report.py ctest RESULT.json < output of ctest -V
       report.py lit LIT.json LIT.log RESULT.json
       report.py suite NAME LOG RESULT.json
       report.py skip NAME CAUSE RESULT.json
       report.py total FOLDER

A GoogleTest program and a suite of cases (test/gpu/run) count by their cases, another CTest test
counts as one.
"""
import collections
import glob
import json
import os
import re
import sys


class Counts:
    def __init__(self, passed=0, failed=0):
        self.passed, self.failed = passed, failed
        self.failures, self.skips = [], []  # names; (name, cause)

    def save(self, path):
        with open(path, "w") as file:
            json.dump(self.__dict__, file, indent=1)


def count_googletest(name, lines, counts):
    """True when the output is that of a GoogleTest program that reached its end."""
    text = "\n".join(lines)
    if not re.search(r"^\[==========\] \d+ tests? .* ran\.", text, re.M):
        return False
    passed = re.search(r"^\[  PASSED  \] (\d+) test", text, re.M)
    counts.passed += int(passed[1]) if passed else 0
    said = []
    failed = set()
    for line in lines:
        if line.startswith("[ RUN      ]"):
            said = []
        elif match := re.match(r"\[ +(SKIPPED|FAILED) +\] (\S+?),?(?: where .*)? \(\d+ ms\)", line):
            if match[1] == "FAILED":
                failed.add(match[2])
            else:
                cause = " ".join(s.strip() for s in said if s.strip() and not re.match(r"\S+:\d+: Skipped$", s))
                counts.skips.append(("%s %s" % (name, match[2]), cause or "no cause given"))
        else:
            said.append(line)
    counts.failed += len(failed)
    counts.failures += ["%s %s" % (name, test) for test in sorted(failed)]
    return True


def count_suite(name, lines, counts):
    """True when the output ends with the closing line of test/gpu/run."""
    closing = [re.match(r"(\d+) passed, (\d+) failed, (\d+) skipped$", line) for line in lines]
    closing = [match for match in closing if match]
    if not closing:
        return False
    counts.passed += int(closing[-1][1])
    counts.failed += int(closing[-1][2])
    for line, after in zip(lines, lines[1:] + [""]):
        verdict, _, label = line.partition("\t")
        if verdict == "failed":
            counts.failures.append("%s %s" % (name, label))
        elif verdict == "skipped":
            counts.skips.append(("%s %s" % (name, label), after.strip()))
    return True


def ctest(result):
    outputs, counts = collections.defaultdict(list), Counts()
    for line in sys.stdin:
        line = line.rstrip("\n")
        said = re.match(r"(\d+): ?(.*)", line)
        ended = re.match(r" *\d+/\d+ Test +#(\d+): (\S+) \.*\s*(.*?)\s+([\d.]+) sec", line)
        if said:
            outputs[int(said[1])].append(said[2])
        elif ended:
            number, name, verdict, seconds = int(ended[1]), ended[2], ended[3].strip("* "), ended[4]
            lines = outputs.pop(number, [])
            before = counts.passed, counts.failed, len(counts.skips)
            if verdict.startswith("Skipped"):
                counts.skips.append((name, " ".join(lines[-2:]).strip() or "no cause given"))
            elif not count_googletest(name, lines, counts) and not count_suite(name, lines, counts):
                counts.passed += verdict == "Passed"
            if not verdict.startswith(("Passed", "Skipped")) and counts.failed == before[1]:
                counts.failed += 1
                counts.failures.append("%s (%s)" % (name, verdict or "failed"))
            print("%-44s %4d passed, %d failed, %d skipped  %7s s" % (
                name, counts.passed - before[0], counts.failed - before[1], len(counts.skips) - before[2], seconds))
            if counts.failed > before[1]:
                print("\n".join("    " + text for text in lines[-400:]))
            sys.stdout.flush()
        elif status := re.match(r"ctest ended with (\d+)", line):
            if status[1] != "0" and not counts.failed:
                counts.failed += 1
                counts.failures.append(line)
        elif re.match(r"Could not find|Unable to find|Errors? while", line):
            print(line)
    counts.save(result)


def lit(lit_json, log, result):
    causes, counts = {}, Counts()
    with open(log, errors="replace") as file:
        for line in file:
            if match := re.search(r"tests that need '(\S+)' are skipped: (.*)", line):
                causes[match[1]] = match[2]
    if not os.path.exists(lit_json):  # nothing matched, or lit itself failed
        with open(log, errors="replace") as file:
            text = file.read()
        if "filter did not match" not in text:
            counts.failed, counts.failures = 1, ["lit: " + (text.strip().splitlines() or ["no output"])[-1]]
        counts.save(result)
        return
    with open(lit_json) as file:
        tests = json.load(file)["tests"]
    for test in tests:
        code, name = test["code"], test["name"]
        if code in ("PASS", "XFAIL", "FLAKYPASS"):
            counts.passed += 1
        elif code in ("UNSUPPORTED", "SKIPPED"):
            missing = re.search(r"unavailable features: (.*)", test["output"])
            needs = [feature.strip() for feature in missing[1].split(",")] if missing else []
            words = ["needs %s: %s" % (f, causes.get(f, "this machine lacks it")) for f in needs]
            counts.skips.append((name, "; ".join(words) or test["output"].strip() or "no cause given"))
        elif code != "EXCLUDED":
            counts.failed += 1
            counts.failures.append(name if code == "FAIL" else "%s (%s)" % (name, code))
    counts.save(result)


def suite(name, log, result):
    counts = Counts()
    with open(log, errors="replace") as file:
        if not count_suite(name, file.read().splitlines(), counts):
            counts.failed, counts.failures = 1, [name + " did not reach its end"]
    counts.save(result)


def skip(name, cause, result):
    counts = Counts()
    counts.skips.append((name, cause))
    counts.save(result)


def total(folder):
    """Prints skips with their causes, failures and the closing line; the exit code."""
    passed = failed = skipped = 0
    by_cause = collections.defaultdict(list)
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        with open(path) as file:
            counts = json.load(file)
        passed, failed, skipped = passed + counts["passed"], failed + counts["failed"], skipped + len(counts["skips"])
        for name, cause in counts["skips"]:
            by_cause[cause].append(name)
        for name in counts["failures"]:
            print("failed: " + name)
    for cause, names in by_cause.items():
        print("skipped, %d: %s\n    %s" % (len(names), cause, "\n    ".join(names)))
    ran = passed + failed > 0
    if not ran:
        print("no test ran")
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 0 if ran and not failed else 1


def main():
    match sys.argv[1:]:
        case ["ctest", result]:
            return ctest(result)
        case ["lit", lit_json, log, result]:
            return lit(lit_json, log, result)
        case ["suite", name, log, result]:
            return suite(name, log, result)
        case ["skip", name, cause, result]:
            return skip(name, cause, result)
        case ["total", folder]:
            return total(folder)
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
