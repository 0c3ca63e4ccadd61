# SPDX-License-Identifier: Apache-2.0
"""Area and longest path of modules in Debian's osu018 cells, as a table: ./dev bench area [MODULE ...]

Each module by itself, all below it flattened, with the parameters of PARAMS (its own otherwise): yosys,
then ABC with buffers and sizing, no retiming. Memories become flip-flops: of no use for a module that has RAMs.
The path is the longest from a register or input to a register or output, by ABC's tables of delay without
wires: it compares modules, it is not the clock of a chip.

Without names: the modules of PARAMS. One that takes more than --seconds has no figures. Two run at a time.
"""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import modules  # noqa: E402  pylint: disable=wrong-import-position

LIBERTY = "/usr/share/qflow/tech/osu018/osu018_stdcells.lib"
SCRIPT = ("strash; ifraig; scorr; dc2; strash; &get -n; &dch -f; &nf; &put; buffer -c; upsize; dnsize; "
          "stime -p")
# As hd_core has them, but one lane of the float units.
PARAMS = {
    "hd_cro_lane": {"LANES": "8"},
    "hd_fp_fma": {"LANES": "1"},
    "hd_matrix_seq": {},
    "hd_sram_arbiter": {
        "N": "19",
        "ROUND2": "19'b0000000001111111100",
        "CHAIN": "19'b0000000101010101010",
    },
}


def sources(top):
    """Files of `top` and all that it names, packages first."""
    uses = modules.uses(modules.load())
    need, todo = set(), [top]
    while todo:
        name = todo.pop()
        if name not in need:
            need.add(name)
            todo += uses[name]
    ordered = [p for p in modules.packages(uses) if p in need] + sorted(n for n in need if not n.endswith("_pkg"))
    return [modules.GENERATED if n == "heddle_pkg" else HERE.parent / "src" / f"{n}.sv" for n in ordered]


def nand2_area(liberty):
    """Of the cell that is one gate equivalent; ValueError if the file has none."""
    found = re.search(r"cell \(NAND2X1\).*?area\s*:\s*([\d.]+)", liberty, re.S)
    if not found:
        raise ValueError("no cell NAND2X1 with an area")
    return float(found[1])


def figures(log, stat):
    """(area, ns) of ABC's and yosys' words; a module without logic has a path of 0."""
    areas = re.findall(r"Chip area for (?:top )?module[^:]*: ([\d.]+)", stat)
    delays = re.findall(r"Delay =\s*([\d.]+) ps", log)
    if not areas:
        raise ValueError("yosys gave no area")
    return float(areas[-1]), float(delays[-1]) / 1000 if delays else 0.0


def measure(name, liberty, seconds):
    """figures() of a module, or the reason why there are none."""
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        (work / "abc").write_text(SCRIPT + "\n", encoding="utf-8")
        params = "".join(f" -chparam {k} {v}" for k, v in PARAMS.get(name, {}).items())
        script = (f"read_verilog -sv -defer {' '.join(map(str, sources(name)))}; "
                  f"hierarchy -check -top {name}{params}; synth -flatten -noabc -top {name}; "
                  f"dfflibmap -liberty {liberty}; abc -liberty {liberty} -script {work}/abc; opt_clean; "
                  f"tee -o {work}/stat stat -liberty {liberty}")
        try:
            done = subprocess.run(["yosys", "-q", "-l", work / "log", "-p", script], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return f"not within {seconds} s"
        if done.returncode:
            return (done.stderr.strip().splitlines() or ["yosys failed"])[-1]
        return figures((work / "log").read_text(encoding="utf-8"), (work / "stat").read_text(encoding="utf-8"))


def row(name, result, unit):
    if isinstance(result, str):
        return f"| `{name}` | {result} | |"
    return f"| `{name}` | {result[0] / unit / 1000:.2f} | {result[1]:.1f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--liberty", default=LIBERTY)
    parser.add_argument("--seconds", type=int, default=600, help="for one module")
    parser.add_argument("modules", nargs="*", metavar="MODULE")
    options = parser.parse_args()
    known = modules.load()
    for name in options.modules:
        if name not in known or name.endswith("_pkg"):
            sys.exit(f"area.py: {name} is not a module of rtl/src")
    if not pathlib.Path(options.liberty).exists():
        sys.exit(f"area.py: {options.liberty} is not there: install Debian's qflow-tech-osu018, or name another "
                 "file with --liberty")
    unit = nand2_area(pathlib.Path(options.liberty).read_text(encoding="utf-8"))
    names = sorted(options.modules or PARAMS)
    print("| Module | kGE | Longest path, ns |\n|---|---|---|", flush=True)
    failed = False
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, result in zip(names, pool.map(lambda n: measure(n, options.liberty, options.seconds), names)):
            failed = failed or isinstance(result, str)
            print(row(name, result, unit), flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
