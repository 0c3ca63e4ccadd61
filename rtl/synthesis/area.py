# SPDX-License-Identifier: Apache-2.0
"""Area and longest path of modules in Debian's osu018 cells, as a table: ./dev bench area [MODULE ...]

Each module by itself, all below it flattened, with the parameters of PARAMS (its own otherwise): yosys,
then ABC with buffers and sizing, no retiming. Memories of RAM_BITS and more are left out, as RAM macros that
somebody else draws: their size has a column, their ports are where paths begin and end. Smaller ones become
flip-flops. The path is the longest from a register, input or RAM to a register, output or RAM, by ABC's tables
of delay without wires: it compares modules, it is not the clock of a chip.

Without names: every module. One for which yosys, or ABC behind it, takes more than --seconds of processor time
is measured without the modules below it: "own" in its row says so, its paths begin and end at their ports. If that
takes too long as well it has no figures. The exit code is 1 only if a module fails for another reason.
"""
import argparse
import concurrent.futures
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import modules  # noqa: E402  pylint: disable=wrong-import-position

LIBERTY = "/usr/share/qflow/tech/osu018/osu018_stdcells.lib"
SCRIPT = "strash; ifraig; scorr; dc2; strash; &get -n; &dch -f; &nf; &put; buffer -c; upsize; dnsize; stime -p"
# What rtl/MICROARCHITECTURE.md, On-chip storage, counts as a memory: from 1 KiB.
RAM_BITS = 8192
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


def mark_rams(rtlil):
    """(text in which memories of RAM_BITS and more have the attribute ram, their bits together)."""
    lines, cell, total = [], None, 0
    for line in rtlil.split("\n"):
        if line.startswith("  cell $mem_v2 "):
            cell, size = len(lines), {}
        elif cell is not None and line.strip() == "end":
            bits = size["SIZE"] * size["WIDTH"]
            if bits >= RAM_BITS:
                lines.insert(cell, "  attribute \\ram 1")
                total += bits
            cell = None
        elif cell is not None and (found := re.match(r"\s*parameter \\(SIZE|WIDTH) (\d+)$", line)):
            size[found[1]] = int(found[2])
        lines.append(line)
    return "\n".join(lines), total


class TooLong(Exception):
    """A program has used up its processor time."""


def yosys(work, script, seconds):
    """Runs it; TooLong, or RuntimeError with yosys' last words. A limit counts for ABC by itself."""
    done = subprocess.run(
        ["yosys", "-q", "-l", work / "log", "-p", script],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)),
    )
    if done.returncode:
        words = (done.stderr.strip().splitlines() or ["yosys failed"])[-1]
        # A program that has used up its time is killed (9); the shell that yosys has started ABC from adds 128.
        if done.returncode == -9 or re.search(r"ABC: execution of command .* return code (?:9|137)\b", words):
            raise TooLong
        raise RuntimeError(words)


def measure(name, liberty, seconds, own):
    """figures() of a module, of its own logic or all, and the bits of its RAMs. TooLong, RuntimeError, ValueError."""
    below = f"select -set below * {name} %d; blackbox @below; select -clear; " if own else ""
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        (work / "abc").write_text(SCRIPT + "\n", encoding="utf-8")
        params = "".join(f" -chparam {k} {v}" for k, v in PARAMS.get(name, {}).items())
        yosys(
            work,
            f"read_verilog -sv -defer {' '.join(map(str, sources(name)))}; "
            f"hierarchy -check -top {name}{params}; rename -top {name}; {below}"
            f"synth {'' if own else '-flatten'} -noabc -top {name} -run begin:fine; write_rtlil {work}/words",
            seconds,
        )
        text, bits = mark_rams((work / "words").read_text(encoding="utf-8"))
        (work / "words").write_text(text, encoding="utf-8")
        # The rest of synth -noabc, which would make flip-flops of all memories.
        yosys(
            work,
            f"read_rtlil {work}/words; opt -fast -full; memory_map t:$mem_v2 a:ram %d; "
            "opt -full; techmap; opt -fast; "
            f"dfflibmap -liberty {liberty}; abc -liberty {liberty} -script {work}/abc; opt_clean; "
            f"tee -o {work}/stat stat -liberty {liberty}",
            seconds,
        )
        return figures((work / "log").read_text(encoding="utf-8"), (work / "stat").read_text(encoding="utf-8")) + (
            bits,
        )


def result(name, liberty, seconds):
    """(what measure() gives and whether it is of its own logic, or the reason why it does not; whether it failed)."""
    below = [n for n in modules.uses(modules.load())[name] if not n.endswith("_pkg")]
    for own in (False, True) if below else (False,):
        try:
            return measure(name, liberty, seconds, own) + (own,), False
        except TooLong:
            pass
        except (RuntimeError, ValueError) as error:
            return str(error), True
    return f"not within {seconds} s", False


def row(name, measured, unit):
    if isinstance(measured, str):
        return f"| `{name}` | {measured} | | |"
    area, path, bits, own = measured
    gates = f"{area / unit / 1000:.2f}{' own' if own else ''}"
    return f"| `{name}` | {gates} | {path:.1f} | {f'{bits / 8192:.1f}' if bits else ''} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--liberty", default=LIBERTY)
    parser.add_argument("--seconds", type=int, default=600, help="of processor time, for one module")
    parser.add_argument("--at-once", type=int, default=2, help="modules")
    parser.add_argument("modules", nargs="*", metavar="MODULE")
    options = parser.parse_args()
    known = modules.load()
    for name in options.modules:
        if name not in known or name.endswith("_pkg"):
            sys.exit(f"area.py: {name} is not a module of rtl/src")
    if not pathlib.Path(options.liberty).exists():
        sys.exit(
            f"area.py: {options.liberty} is not there: install Debian's qflow-tech-osu018, or name another "
            "file with --liberty"
        )
    unit = nand2_area(pathlib.Path(options.liberty).read_text(encoding="utf-8"))
    names = sorted(options.modules or [name for name in known if not name.endswith("_pkg")])
    print("| Module | kGE | Longest path, ns | RAM left out, KiB |\n|---|---|---|---|", flush=True)
    failed = False
    with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
        results = pool.map(lambda n: result(n, options.liberty, options.seconds), names)
        for name, (measured, wrong) in zip(names, results):
            failed = failed or wrong
            print(row(name, measured, unit), flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
