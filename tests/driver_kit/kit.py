# SPDX-License-Identifier: Apache-2.0
"""What heddle-driver-tests does once its options are read (launcher.py): prepares, boots each group, judges."""

import collections
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import sys
import tempfile
import time

from tests.driver_kit import cases, page
from tests.driver_kit.colour import coloured, has_colour
from tests.driver_kit.kernel import Kernel, KernelError
from tests.driver_kit.progress import Progress
from tests.driver_kit.results import VERDICTS, GroupReport, Verdict
from tests.guest import qemu_machine, run_guest

PROGRAM = "heddle-driver-tests"
# Programs, and Debian's packages that have them.
NEEDED = {
    qemu_machine.QEMU: "qemu-system-x86",
    "busybox": "busybox-static",
    "cpio": "cpio",
    "modprobe": "kmod",
    "strip": "binutils",
    "xz": "xz-utils",
    "zstd": "zstd",
}
FULL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class UsageError(Exception):
    """The command line is wrong."""


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def check_tools():
    missing = [package for name, package in NEEDED.items() if not shutil.which(name, path=FULL_PATH)]
    if missing:
        raise KernelError(f"programs are missing; apt-get install {' '.join(missing)}")
    version = qemu_machine.version()
    if not re.search(r"version 7\.2\.", version):
        raise KernelError(
            f"found {version}; the virtual cards need QEMU 7.2 (Debian 12's), later versions cannot attach them"
        )


def check_file(option, path):
    if not os.path.isfile(path):
        raise UsageError(f"{option} {path}: {'not a file' if os.path.exists(path) else 'no such file'}")


def check_module(path):
    """{what: text} of the driver."""
    check_file("--module", path)
    with open(path, "rb") as file:
        data = file.read()
    if not data.startswith(b"\x7fELF"):
        raise UsageError(f"--module {path} is not a kernel module (ELF file); decompress a .ko.xz or .ko.zst first")
    fields = dict(re.findall(rb"\0(name|version|srcversion|vermagic)=([^\0]*)\0", data.replace(b"\0", b"\0\0")))
    name = fields.get(b"name", b"").decode("ascii", "replace")
    if name != "heddle":
        raise UsageError(f"--module {path}: the module's name is '{name}'; the tests load and unload 'heddle'")
    return {key.decode(): value.decode("ascii", "replace") for key, value in fields.items() if key != b"name"}


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def make_work(folder, manifest, prefix, root, module):
    """The tree that plans see: the files of the kit, of the other packages, and the driver."""
    work = os.path.join(folder, "work")
    places = {path: os.path.join(root, path) for path in manifest["files"]}
    places.update({path: os.path.join(prefix, where) for path, where in manifest["elsewhere"].items()})
    places[manifest["driver"]] = module
    missing = [place for place in places.values() if not os.path.isfile(place)]
    if missing:
        raise KernelError(f"{missing[0]} is missing; it belongs to the package of this command or to one it depends on")
    for path, place in places.items():
        target = os.path.join(work, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.symlink(os.path.realpath(place), target)
    return work


def keep_logs(folder):
    def keep(group, machine, outputs):
        target = os.path.join(folder, group)
        os.makedirs(target, exist_ok=True)
        texts = {"console.log": machine.console(), "qemu.log": machine.log()}
        texts.update({f"{case}.out": output for case, output in outputs.items()})
        for name in os.listdir(machine.folder):
            if re.fullmatch(r"card\d+\.log", name):
                texts[name] = run_guest.read(os.path.join(machine.folder, name))
        for name, text in texts.items():
            with open(os.path.join(target, name), "w", encoding="utf-8") as file:
                file.write(text)

    return keep if folder else None


def called():
    """This program, as one calls it: by its name if the shell finds it so."""
    return PROGRAM if shutil.which(PROGRAM) == sys.argv[0] else sys.argv[0]


def repeat_words(arguments):
    """The command, as far as it says what is tested and how."""
    words = [called(), "--kernel", arguments.kernel, "--module", arguments.module]
    for option in ("modules", "build_tree"):
        if getattr(arguments, option):
            words += ["--" + option.replace("_", "-"), getattr(arguments, option)]
    if arguments.config != "h256":
        words += ["--config", arguments.config]
    if arguments.fuzz_seconds != 60:
        words += ["--fuzz-seconds", str(arguments.fuzz_seconds)]
    if arguments.time_factor != 1:
        words += ["--time-factor", f"{arguments.time_factor:g}"]
    return words


class Run:
    """One run of the kit, in a folder of its own."""

    def __init__(self, arguments, prefix, root, folder):
        self._arguments = arguments
        self._root = root
        self._manifest = read_json(os.path.join(root, "manifest.json"))
        self._groups = self._manifest["groups"]
        self._names = cases.names(self._groups, root)
        self._chosen = cases.choose(self._groups, self._names, arguments.case, arguments.rtl)
        self.fields = check_module(arguments.module)
        check_file("--kernel", arguments.kernel)
        check_tools()
        self._work = make_work(folder, self._manifest, prefix, root, os.path.realpath(arguments.module))
        self.kernel = Kernel(arguments.kernel, arguments.modules, folder)
        guest = os.path.join(root, "tests/guest")
        self.kernel.make_initramfs(
            os.path.join(guest, "initramfs.sh"),
            os.path.join(guest, "inside/init.sh"),
            os.path.join(self._work, run_guest.INITRD),
            self._manifest["guest_modules"],
        )
        self._without = self._build_modules()

    def _build_modules(self):
        """{file name: why there is none} of the tests' own modules, those that the chosen cases need built."""
        without = {}
        for path, source in self._manifest["built"].items():
            name = os.path.basename(path)
            wanted = any(
                case.get("needs") == name and case["name"] in self._chosen.get(group, {})
                for group, entry in self._groups.items()
                for case in entry["plan"]["cases"]
            )
            target = os.path.join(self._work, path)
            why = "not chosen"
            if wanted:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                why = self.kernel.build(os.path.join(self._root, source), target, self._arguments.build_tree)
            if why:
                without[name] = why
        return without

    def _tests(self, group):
        """{case: names of its chosen tests; None: it has none}."""
        return {case: self._names[group][case] if some is None else some for case, some in self._chosen[group].items()}

    def _seconds(self):
        """{GROUP.CASE: seconds that it is expected to take}."""
        found = read_json(os.path.join(self._root, "tests/driver_kit/seconds.json"))
        for group, entry in self._groups.items():
            for case in entry["plan"]["cases"]:
                if cases.FUZZ in case["command"]:
                    found[f"{group}.{case['name']}"] = self._arguments.fuzz_seconds + 1
        return found

    def execute(self):
        arguments = self._arguments
        # Of a test that may run this: in the guest they would mean its files.
        for name in (*run_guest.PASSED_ON, "TESTBRIDGE_TEST_ONLY"):
            os.environ.pop(name, None)
        os.environ["HEDDLE_TEST_TIME_FACTOR"] = f"{arguments.time_factor:g}"
        os.chdir(self._work)
        verdict = Verdict(os.path.basename(arguments.module), self.kernel.release)
        seconds = self._seconds()
        tests = {group: self._tests(group) for group in self._chosen}
        numbers = {
            f"{group}.{case}": len(cases.full_names(case, some))
            for group, found in tests.items()
            for case, some in found.items()
        }
        progress = Progress(numbers, seconds, len(self._chosen), quiet=arguments.quiet)
        lost = ""  # the group in which it turned out that nothing can be tested
        try:
            for group, chosen in self._chosen.items():
                plan, impossible = cases.plan(
                    self._groups[group], chosen, arguments.config, arguments.fuzz_seconds, self._without
                )
                names = [f"{group}.{name}" for name, _ in impossible]
                progress.leave(names)
                for name, why in impossible:
                    verdict.skip([f"{group}.{name}"], why)
                if lost:
                    for case in plan["cases"]:
                        verdict.leave(f"{group}.{case['name']}", tests[group][case["name"]], f"not tried after {lost}")
                    continue
                if not plan["cases"]:
                    continue
                again = cases.again(group, self._names[group], arguments.case)
                report = GroupReport(group, progress, keep_logs(arguments.logs), tests[group], again)
                run_guest.execute(plan, report)
                progress.clear()
                if not verdict.take(report):
                    lost = group
                    continue
                print(group_line(group, report.results, has_colour(sys.stdout)), flush=True)
        finally:
            progress.close()
        return verdict


def group_line(group, results, colour):
    """What became of a group; the numbers in the colours of their verdicts if `colour`."""
    counted = [result for result in results if result.is_case or result.failure]
    count = {word: sum(result.verdict == word for result in counted) for word in VERDICTS}
    said = ", ".join(
        coloured(f"{number} {word}", word, colour and number > 0)
        for word, number in count.items()
        if number or word == "passed"
    )
    return f"{group:<10} {said}, {sum(result.seconds for result in results):.0f} s"


def tell(report, colour):
    for case in report["cases"]:
        if case["verdict"] == "skipped":
            print(f"{coloured('skipped', 'skipped', colour)} {case['name']}: {case['message']}")
    for case in report["cases"]:
        if case["verdict"] == "failed":
            print(f"\n{coloured('FAILED', 'failed', colour)}  {case['name']}\n{case['message'].rstrip()}")
            if case["kernel_log"] and "kernel's log:" not in case["message"]:
                print("kernel's log:\n" + "\n".join(case["kernel_log"][-12:]))
            print(f"again:  {case['repeat']}")
    for case in report["cases"]:
        if case["verdict"] == "not run" and not case["is_case"]:
            print(f"\n{coloured('not ready', 'not run', colour)}  {case['name']}: {case['message']}")
            if case["kernel_log"]:
                print("kernel's log:\n" + "\n".join(case["kernel_log"][-12:]))
            print(f"again:  {case['repeat']}")
    left = collections.defaultdict(list)  # {(group, why): its cases that were not run}
    for case in report["cases"]:
        if case["verdict"] == "not run" and case["is_case"]:
            left[case["name"].split(".")[0], case["message"]].append(case)
    for (group, why), some in left.items():
        print(f"{coloured('not run', 'not run', colour)} {group}, {len(some)} case{'s' * (len(some) > 1)}: {why}")
    print("\n" + coloured(report["sentence"], report["verdict"], colour), flush=True)


def list_cases(root):
    groups = read_json(os.path.join(root, "manifest.json"))["groups"]
    for group, found in cases.names(groups, root).items():
        for case, tests in found.items():
            for test in [None] if tests is None else tests:
                print(".".join(filter(None, (group, case, test))))


def resolve(arguments):
    """Paths that hold when the folder has changed."""
    for option in ("kernel", "module", "modules", "build_tree", "logs"):
        value = getattr(arguments, option)
        if value and not (option == "modules" and value == "none"):
            setattr(arguments, option, os.path.abspath(value))
    arguments.report = [os.path.abspath(path) for path in arguments.report]


def run(arguments, prefix, root, version):
    """The exit code."""
    if platform.machine() != "x86_64":
        print(f"{PROGRAM}: error: the guest runs this machine's programs, so only x86-64 is supported", file=sys.stderr)
        return 3
    folder = tempfile.mkdtemp(prefix="heddle-driver-tests.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    started, here = time.monotonic(), os.getcwd()
    try:
        if arguments.list:
            list_cases(root)
            return 0
        if not arguments.kernel or not arguments.module:
            raise UsageError("give --kernel and --module; --help starts with an example")
        for path in arguments.report:
            if os.path.splitext(path)[1] not in page.FORMATS:
                raise UsageError(f"--report {path}: the name must end with .html, .xml or .json")
        resolve(arguments)
        this = Run(arguments, prefix, root, folder)
        verdict = this.execute()
        about = {
            "Kernel": f"{this.kernel.release}, {arguments.kernel}",
            "Kernel's SHA-256": sha256(arguments.kernel),
            "Driver": ", ".join([arguments.module, *(f"{key} {this.fields[key]}" for key in sorted(this.fields))]),
            "Driver's SHA-256": sha256(arguments.module),
            "Cards": f"{arguments.config}{', also cycle by cycle' if arguments.rtl else ''}",
            "Machine": qemu_machine.version(),
            "Kit": f"{PROGRAM} {version}",
        }
        report = page.describe(verdict, about, repeat_words(arguments), time.monotonic() - started)
        tell(report, has_colour(sys.stdout))
        for path in arguments.report:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page.FORMATS[os.path.splitext(path)[1]](report))
        return verdict.code
    except (UsageError, cases.CaseError) as error:
        print(f"{PROGRAM}: error: {error}", file=sys.stderr)
        return 2
    except (KernelError, OSError) as error:
        print(f"{PROGRAM}: error: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        return 130
    finally:
        os.chdir(here)
        shutil.rmtree(folder, ignore_errors=True)
