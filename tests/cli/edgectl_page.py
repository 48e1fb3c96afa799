#!/usr/bin/env python3
"""Compares docs/edgectl.md, docs/edgectl-flags.md and docs/daemon-flags.md with what `--help` prints.

    edgectl_page.py BIN_DIR [--write]

The pages of flags are made of the help texts: --write makes them anew. docs/edgectl.md is written by hand: it must name every command, no
flag that none of the programs has, and in the usage of a command no flag that this command does not have.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/edgectl.md"
FLAGS = ROOT / "docs/edgectl-flags.md"
DAEMON_FLAGS = ROOT / "docs/daemon-flags.md"
DAEMONS = ["edge-standalone", "edge-controller", "edge-agent", "edge-operator"]
HEAD = """# Flags of edgectl

Every command of [edgectl](edgectl.md) with its flags, as `edgectl COMMAND --help` prints them. `ninja -C build/release update-edgectl-flags` writes
this page anew; `edgectl_page_test` compares it.

A value in capital letters follows its flag: `-n shop`, `--namespace shop` or `--namespace=shop`. Flags may stand before or behind
arguments. `-h` and `--help` print the help text of any command.
"""
DAEMON_HEAD = """# Flags of the daemons

The flags of [edge-standalone](standalone.md), [edge-controller](controller.md), [edge-agent](agents.md) and [edge-operator](operator.md), as
`--help` prints them. `ninja -C build/release update-edgectl-flags` writes this page anew; `edgectl_page_test` compares it.

A value in capital letters follows its flag: `--log-level debug` or `--log-level=debug`. Where a variable of the
environment stands for a flag that is not given, the help names it: `$NODE_NAME`. No daemon has a file of flags; the units of systemd pass on
`EDGE_FLAGS` of one in `/etc/default` ([operations](operations.md)).
"""


def help_of(program, *words):
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("EDGECTL", "KUBE"))}
    return subprocess.run([program, *words, "--help"], env=dict(environment, NO_COLOR="1"), check=True, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout.splitlines()


def commands_of(lines):
    """Commands that the help of the program lists, in its order."""
    return [match.group(1) for line in lines if (match := re.match(r"  ([a-z]\S*(?: [a-z]\S*)*)   *\S", line))
            and not line.startswith("   ")]


def flags_of(lines):
    """(flag with its value, meaning) of each flag of a help text, without --help."""
    flags, inside = [], False
    for line in lines:
        if re.fullmatch(r"Flags.*:", line):
            inside = True
        elif inside and not line.strip():
            inside = False
        elif inside and (match := re.match(r"  ((?:-\w, |    )--\S+(?: \S+)?)  +(\S.*)", line)):
            flags.append([match.group(1).strip(), match.group(2)])
        elif inside:
            flags[-1][1] += " " + line.strip()
    return [(flag, meaning) for flag, meaning in flags if "--help" not in flag]


def names_in(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", text))


def usage_of(lines):
    return next(line for line in lines if line.startswith("Usage: ")).removeprefix("Usage: ")


def cell(text):
    """Text of a help as a cell of a table."""
    return text.replace("|", "\\|").replace("<", "&lt;")


def page_of_flags(helps):
    """The page: flags that several commands have alike stand once."""
    seen = {}
    for lines in helps.values():
        for flag in flags_of(lines):
            seen[flag] = seen.get(flag, 0) + 1
    frequent = [flag for flag, count in seen.items() if count > 5]
    shared = [flag for flag in frequent if sum(flag[0] == other for other, _ in frequent) == 1]
    text = HEAD + "\n## Flags of many commands\n\nTables below have their names alone.\n\n| flag | meaning |\n|---|---|\n"
    text += "".join(f"| `{cell(flag)}` | {cell(meaning)} |\n" for flag, meaning in shared)
    for command, lines in helps.items():
        text += f"\n## {command}\n\n{lines[0]}.\n\n`{usage_of(lines)}`\n\n| flag | meaning |\n|---|---|\n"
        own = [flag for flag in flags_of(lines) if flag not in shared]
        text += "".join(f"| `{cell(flag)}` | {cell(meaning)} |\n" for flag, meaning in own)
        also = [f"`{re.search('--[a-z-]+', flag)[0]}`" for flag, meaning in flags_of(lines) if (flag, meaning) in shared]
        if also:
            text += f"| {', '.join(also)} | as [above](#flags-of-many-commands) |\n"
        if not own and not also:
            text = text.removesuffix("| flag | meaning |\n|---|---|\n") + "No flags.\n"
    return text


def page_of_daemons(helps):
    text = DAEMON_HEAD
    for daemon, lines in helps.items():
        text += f"\n## {daemon}\n\n{lines[0]}\n\n| flag | meaning |\n|---|---|\n"
        text += "".join(f"| `{cell(flag)}` | {cell(meaning)} |\n" for flag, meaning in flags_of(lines))
    return text


def faults_of_page(page, helps, flags_of_all):
    """What docs/edgectl.md says that the program does not have, or leaves out."""
    text = page.replace("`, `", "` `")
    faults = [f"does not name the command `{command}`" for command in helps if command not in text]
    faults += [f"names the flag `{name}`, which no program has" for name in sorted(names_in(page) - flags_of_all)]
    for usage in re.findall(r"`edgectl ([^`]+)`", page):
        command = max((command for command in helps if (usage + " ").startswith(command + " ")), key=len, default=None)
        if command:
            extra = names_in(usage) - {name for flag, _ in flags_of(helps[command]) for name in names_in(flag)}
            faults += [f"gives `edgectl {command}` the flag `{name}`, which it does not have"
                       for name in sorted(extra - {"--help", "--version"})]
    return faults


def main():
    binaries = Path(sys.argv[1])
    program = binaries / "edgectl"
    top = help_of(program)
    helps = {command: help_of(program, *command.split()) for command in commands_of(top)}
    daemons = {daemon: help_of(binaries / daemon) for daemon in DAEMONS}
    pages = {FLAGS: page_of_flags(helps), DAEMON_FLAGS: page_of_daemons(daemons)}
    if sys.argv[2:] == ["--write"]:
        for path, made in pages.items():
            path.write_text(made)
        return 0
    texts = [top, *helps.values(), *daemons.values()]
    faults = faults_of_page(PAGE.read_text(), helps, names_in("\n".join("\n".join(lines) for lines in texts)))
    for fault in faults:
        print(f"docs/edgectl.md {fault}")
    for path, made in pages.items():
        if not path.exists() or path.read_text() != made:
            print(f"docs/{path.name} is not what the help texts say: run `ninja update-edgectl-flags`")
            faults.append("flags")
    print(f"{len(helps)} commands, {len(faults)} faults")
    return 1 if faults or not helps else 0


if __name__ == "__main__":
    sys.exit(main())
