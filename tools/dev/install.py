# SPDX-License-Identifier: Apache-2.0
"""Installs what ./dev build has staged under a prefix, and removes it again: `./dev install`.

Files that name the prefix (pkg-config, systemd) name the new one. What was installed is listed in
PREFIX/share/heddle/installed.txt, from which --remove and the next installation work; a file that is not in the list
is never touched.
"""

import argparse
import os
import shlex
import shutil
import sys

MANIFEST = ".staged"  # of stage.py
LIST = "share/heddle/installed.txt"


class InstallError(Exception):
    """Nothing to install, or nothing to remove."""


def rewrite(name, text, prefix):
    """`text` of the staged file `name`, for `prefix`."""
    if name.endswith(".pc"):
        escaped = prefix.replace("\\", "\\\\").replace(" ", "\\ ")
        return text.replace("prefix=${pcfiledir}/../..\n", f"prefix={escaped}\n")
    if name.endswith(".service"):
        escaped = prefix.replace("\\", "\\x5c").replace(" ", "\\x20").replace("%", "%%")
        return text.replace("/usr/bin/", f"{escaped}/bin/")
    return text


def read_lines(path):
    with open(path, encoding="utf-8") as lines:
        return [line for line in lines.read().split("\n") if line]


def staged_files(stage):
    manifest = os.path.join(stage, MANIFEST)
    if not os.path.isfile(manifest):
        raise InstallError(f"nothing is staged in {stage}; run ./dev build")
    names = read_lines(manifest)
    missing = [name for name in names if not os.path.isfile(os.path.join(stage, name))]
    if missing:
        raise InstallError(f"{stage}/{missing[0]} is missing; run ./dev build")
    return names


def put(source, target, name, prefix):
    os.makedirs(os.path.dirname(target), exist_ok=True)
    fresh = target + ".new"
    if name.endswith((".pc", ".service")):
        with open(source, encoding="utf-8") as file:
            text = rewrite(name, file.read(), prefix)
        with open(fresh, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        shutil.copyfile(source, fresh)
    os.chmod(fresh, 0o755 if os.access(source, os.X_OK) else 0o644)
    # A program that runs keeps the old file.
    os.replace(fresh, target)


def remove(root, names):
    """Removes files, and the folders that are empty then, `root` among them."""
    for name in names:
        if name.startswith("/") or ".." in name.split("/"):
            raise InstallError(f"{LIST} names {name}, which is not below the prefix")
        path = os.path.join(root, name)
        if os.path.lexists(path):
            os.remove(path)
        folder = os.path.dirname(name)
        while folder and os.path.isdir(os.path.join(root, folder)) and not os.listdir(os.path.join(root, folder)):
            os.rmdir(os.path.join(root, folder))
            folder = os.path.dirname(folder)
    if os.path.isdir(root) and not os.listdir(root):
        os.rmdir(root)


def install(stage, prefix, destdir, listed=True):
    """Returns the number of files, the list included."""
    names = staged_files(stage)
    root = destdir + prefix
    old = os.path.join(root, LIST)
    before = read_lines(old) if os.path.isfile(old) else []
    for name in names:
        # A distribution's package may have a file of this name (libonnxifi.so).
        if listed and name not in before and os.path.lexists(os.path.join(root, name)):
            raise InstallError(
                f"{root}/{name} exists and was not installed by ./dev install; choose another prefix, or remove it"
            )
    for name in names:
        put(os.path.join(stage, name), os.path.join(root, name), name, prefix)
    remove(root, sorted(set(before) - set(names) - {LIST}))
    if listed:
        os.makedirs(os.path.dirname(old), exist_ok=True)
        with open(old, "w", encoding="utf-8") as file:
            file.write("".join(f"{name}\n" for name in [*names, LIST]))
    return len(names) + listed


def main():
    parser = argparse.ArgumentParser(
        prog="./dev install",
        usage="./dev install --prefix DIR [--destdir DIR] [--remove]",
        epilog="Example: ./dev install --prefix /usr/local && heddle-run --version",
        description="Installs what ./dev build stages, for systems without dpkg.",
    )
    parser.add_argument("--prefix", required=True, help="where it will be used, such as /usr/local or /opt/heddle")
    parser.add_argument("--destdir", default="", help="put it below this folder, to be packed or copied")
    parser.add_argument("--remove", action="store_true", help="remove what was installed there")
    parser.add_argument("--stage", default="out", help=argparse.SUPPRESS)
    parser.add_argument("--no-list", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    caller = os.environ.get("HEDDLE_CALLER_DIR", "")  # where ./dev was called
    prefix = os.path.abspath(os.path.join(caller, args.prefix)).rstrip("/")
    destdir = os.path.abspath(os.path.join(caller, args.destdir)) if args.destdir else ""
    root = destdir + prefix
    try:
        if args.remove:
            listed = os.path.join(root, LIST)
            if not os.path.isfile(listed):
                raise InstallError(f"./dev install has installed nothing in {root}: there is no {listed}")
            names = read_lines(listed)
            remove(root, names)
            print(f"dev: {len(names)} files removed from {root}", file=sys.stderr)
            return 0
        count = install(args.stage, prefix, destdir, listed=not args.no_list)
    except OSError as error:
        print(f"dev: error: '{error.filename}': {error.strerror}", file=sys.stderr)
        return 1
    except InstallError as error:
        print(f"dev: error: {error}", file=sys.stderr)
        return 1
    print(f"dev: {count} files in {root}; --remove removes them", file=sys.stderr)
    if not destdir:
        print(
            f"dev: programs that link its libraries need -Wl,-rpath,{shlex.quote(prefix + '/lib')}, or ldconfig "
            "if that searches the folder",
            file=sys.stderr,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
