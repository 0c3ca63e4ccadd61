# SPDX-License-Identifier: Apache-2.0
"""python_test: a test written in Python 3 (Debian has no `python`, so Bazel's py_test fails)."""

def python_test(name, main, data = None, args = None, **kwargs):
    """Runs `main` with python3, the root of the repository on PYTHONPATH.

    Args:
      name: of the test.
      main: the script, usually one that ends with unittest.main().
      data: further files it imports or reads, by their path from the root.
      args: of the script.
      **kwargs: of sh_test (size, tags, visibility ...).
    """
    native.sh_test(
        name = name,
        srcs = ["//tools/bazel:run_python.sh"],
        args = ["$(rootpath %s)" % main] + (args or []),
        data = [main] + (data or []),
        **kwargs
    )
