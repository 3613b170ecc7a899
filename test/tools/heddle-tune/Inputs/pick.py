"""Gives the schedule of a file's records another raster: pick.py FILE raster=N."""
import re
import sys

path, raster = sys.argv[1:]
text = open(path).read()
changed, count = re.subn(r'("schedule":"[^"]*)raster=\d+', r"\1" + raster, text)
assert count, "no schedule in " + path
open(path, "w").write(changed)
