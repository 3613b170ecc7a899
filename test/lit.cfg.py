# -*- Python -*-
# How lit runs the tests of the compiler and its tools. Features say what the machine
# has; a test that needs a missing one is skipped, and the cause is printed once.

import glob
import os
import re
import shutil
import subprocess
import sys

import lit.formats

config.name = "heddle"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "unit", "lit.cfg.py", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.heddle_obj_root
config.substitutions.append(("%python", sys.executable))

config.environment["PATH"] = os.pathsep.join(
    [config.heddle_tools_dir, config.llvm_tools_dir, config.environment.get("PATH", "")]
)
for name in ("HEDDLE_CACHE", "XDG_CACHE_HOME", "HOME", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
# Tests expect what the model chooses, whatever was measured since.
config.environment["HEDDLE_TUNING"] = "none"
# Results of ptxas are kept with the build, so that a second run is quick.
config.environment.setdefault("HEDDLE_CACHE", os.path.join(config.heddle_obj_root, "cache"))


def find_tool(variable, name):
    """The path of a CUDA tool: the variable, the build's wheels, $PATH, the toolkit."""
    places = [os.environ.get(variable)]
    places += sorted(glob.glob(os.path.join(
        config.heddle_build_dir, "venv/lib/python*/site-packages/nvidia/*/bin", name)))
    places += [shutil.which(name), "/usr/local/cuda/bin/" + name]
    for place in places:
        if place and os.access(place, os.X_OK):
            return place
    return None


def release_of(tool):
    text = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"release (\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def skip(feature, cause):
    lit_config.note("tests that need '%s' are skipped: %s" % (feature, cause))


ptxas = find_tool("HEDDLE_PTXAS", "ptxas")
if not ptxas:
    skip("ptxas", "no ptxas in $HEDDLE_PTXAS, the build's venv, $PATH or /usr/local/cuda/bin")
elif release_of(ptxas) < (13, 0):
    skip("ptxas", "%s is of CUDA %d.%d, 13.0 is needed" % ((ptxas,) + release_of(ptxas)))
else:
    config.available_features.add("ptxas")
    config.environment["HEDDLE_PTXAS"] = ptxas

nvdisasm = find_tool("HEDDLE_NVDISASM", "nvdisasm")
if nvdisasm:
    config.available_features.add("nvdisasm")
else:
    skip("nvdisasm", "no nvdisasm in $HEDDLE_NVDISASM, the build's venv, $PATH or /usr/local/cuda/bin")

gpus = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True) \
    if shutil.which("nvidia-smi") else None
if gpus and gpus.returncode == 0 and "GPU 0" in gpus.stdout:
    config.available_features.add("gpu")
else:
    skip("gpu", "nvidia-smi finds no GPU")

if shutil.which("cc"):
    config.available_features.add("cc")
else:
    skip("cc", "no C compiler named cc")

config.substitutions += [
    ("%nvdisasm", (nvdisasm or "nvdisasm") + " -c"),
    ("%ptxas", ptxas or "ptxas"),
    ("%examples", os.path.join(config.heddle_src_root, "examples")),
    ("%src_root", config.heddle_src_root),
]
