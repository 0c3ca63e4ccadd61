# SPDX-License-Identifier: Apache-2.0
"""program_manual: manual page and completions of programs, made of their --help."""

def program_manuals(name, programs):
    """Makes the filegroups NAME_man, NAME_bash, NAME_zsh, NAME_fish.

    Args:
      name: of the groups.
      programs: {label of a program: what it is, in a few words, for the page's first line}.
    """
    files = {kind: [] for kind in ("man", "bash", "zsh", "fish")}
    others = ",".join([label.split(":")[1] for label in programs])
    for label, whatis in programs.items():
        program = label.split(":")[1]
        outs = {
            "man": "man/%s.1" % program,
            "bash": "bash/" + program,
            "zsh": "zsh/_" + program,
            "fish": "fish/%s.fish" % program,
        }

        # The program as it is shipped, so in srcs: a tool would be compiled once more, for the host.
        native.genrule(
            name = "%s_%s" % (name, program),
            srcs = [
                label,
                "completion.py",
                "help_text.py",
                "man_page.py",
                "manual.py",
            ],
            outs = outs.values(),
            cmd = "PYTHONDONTWRITEBYTECODE=1 python3 $(location manual.py) --whatis '%s' --others %s %s $(location %s)" % (
                whatis,
                others,
                " ".join(["--%s $(RULEDIR)/%s" % (kind, out) for kind, out in outs.items()]),
                label,
            ),
        )
        for kind, out in outs.items():
            files[kind].append(out)
    for kind, names in files.items():
        native.filegroup(
            name = "%s_%s" % (name, kind),
            srcs = names,
            visibility = ["//visibility:public"],
        )
