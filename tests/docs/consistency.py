#!/usr/bin/env python3
"""Compares what the pages of docs/ name with what the programs have.

    consistency.py BIN_DIR

* Commands of code blocks: each use of one of the programs is a command that it has, with flags that this command has.
* Flags that the text names are flags of one of the programs, or of a tool of others that the pages use (FOREIGN_FLAGS).
* Metrics (`edge_*`) stand in docs/metrics.md, which is compared with the code by exposition_test.
* Codes of diagnostics have a page in docs/diagnostics, which pages_test compares with the code.
* Environment variables that a program reads are named, and those that are named are read by one.
* Fields: `spec.a.b` is a field of a kind in docs/reference, which is made of the tables.
* Folders and files of the project that are named are there.
* Blocks of yaml that hold resources have no fault but references to what the reader has (`edgectl validate`).

Ends with 1 and a line for each fault.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PROGRAMS = ["edgectl", "edge-agent", "edge-controller", "edge-operator", "edge-standalone"]
# Of curl, kubectl, helm, openssl, systemctl and other tools in the text, and of the project's own scripts.
FOREIGN_FLAGS = set("""--cacert --cap-add --cap-drop --connect-to --force --full --help --haproxy-protocol --http2
    --http2-prior-knowledge --install --max-time --net --network --once --overrides --quick --release-name --resolve
    --reverse-proxy --shards --try --uninstall --upstream --user --version --watch --within --write""".split())
# Beginnings of metrics in commands, a cookie, and a table of nftables.
OTHER_NAMES = {"edge_upstream", "edge_session", "edge_session_1", "edge_wan"}
# Its flags are those of bench/.
BENCHMARKS = "benchmarks.md"
# In the data directory of a daemon.
FILES_OF_OTHERS = {"agent/seal.key"}
# Of kinds of Kubernetes and Gateway API.
FOREIGN_FIELDS = """spec.addresses spec.defaultBackend spec.infrastructure spec.infrastructure.parametersRef spec.ingressClassName spec.nodeName
    spec.parameters spec.parametersRef status.addresses status.loadBalancer status.supportedFeatures""".split()
# What a reader has, or makes by a command of the page: EDGE02xx are references and the state of the cluster.
READERS_OWN = re.compile(r"EDGE0(2|4|5|8)|EDGE10")


class Page:
    def __init__(self, path):
        self.path = path
        self.name = str(path.relative_to(ROOT))
        self.text = path.read_text()
        self.blocks, self.prose = [], []
        block = None
        for number, line in enumerate(self.text.splitlines(), 1):
            if line.lstrip().startswith("```"):
                if block is None:
                    block = (line.strip()[3:], number + 1, [])
                else:
                    self.blocks.append(block)
                    block = None
            elif block is not None:
                block[2].append(line)
            else:
                self.prose.append((number, line))

    def commands(self):
        """(line, command) of blocks: what follows a prompt, with continued lines."""
        for language, first, lines in self.blocks:
            if language not in ("console", "text", "sh", "shell", ""):
                continue
            command, begun = None, 0
            for number, line in enumerate(lines, first):
                if command is not None:
                    command += "\n" + line
                elif re.match(r"[$#] \S", line):
                    command, begun = line[2:], number
                else:
                    continue
                if not line.endswith("\\"):
                    yield begun, command.replace("\\\n", " ")
                    command = None
        # A paragraph of commands alone, indented.
        for number, line in self.prose:
            if match := re.match(r"    ((?:%s) .*[^\\])$" % "|".join(PROGRAMS), line):
                yield number, match.group(1)


def run(program, *words, text=None):
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("EDGE", "KUBE"))}
    return subprocess.run([program, *words], env=dict(environment, NO_COLOR="1"), text=True, input=text or "",
                          capture_output=True, check=False)


def flags_in(text):
    return set(re.findall(r"(?<![\w-])--?[A-Za-z][a-zA-Z0-9-]*(?<!-)", text))


class Programs:
    def __init__(self, binaries):
        self.binaries = binaries
        self.flags = {}  # by program and command
        for program in PROGRAMS:
            top = run(binaries / program, "--help").stdout
            self.flags[program] = self.of_help(top)
            for name in re.findall(r"^  ([a-z]\S*(?: [a-z]\S*)*)   *\S", top, re.M) if program == "edgectl" else []:
                self.flags[f"{program} {name}"] = self.of_help(run(binaries / program, *name.split(), "--help").stdout)
        self.all_flags = set().union(*self.flags.values())

    @staticmethod
    def of_help(text):
        flags = {"--help", "-h"}
        for line in text.splitlines():
            if match := re.match(r"  (-\w, |    )(--\S+)", line):
                flags |= flags_in(match.group(0))
        return flags

    def faults_of(self, words):
        program = os.path.basename(words[0])
        name = program
        if program == "edgectl":
            rest = [word for word in words[1:] if not word.startswith("-")]
            name = next((candidate for count in (3, 2, 1)
                         if (candidate := " ".join(["edgectl", *rest[:count]])) in self.flags), "edgectl")
            if name == "edgectl" and rest and "--help" not in words and "--version" not in words:
                return [f"there is no command `edgectl {rest[0]}`"]
        given = {word.split("=")[0] for word in words[1:] if re.match(r"--?[A-Za-z]", word)}
        if "--" in words:
            given = {word.split("=")[0] for word in words[1:words.index("--")] if re.match(r"--?[A-Za-z]", word)}
        return [f"`{name}` has no flag `{flag}`" for flag in sorted(given)
                if flag not in self.flags[name] and flag[:2] not in self.flags[name]]


def simple_commands(text):
    """Words of each simple command of a line of bash that runs one of the programs."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    words, found = [], []
    for word in [*lexer, ";"]:
        if word and set(word) <= set("();<>|&"):
            found.append(words)
            words = []
        else:
            words.append(word)
    for words in found:
        while words and (re.match(r"\w+=", words[0]) or words[0] in ("sudo", "then", "do", "exec", "if", "!", "until")):
            words = words[1:]
        if words and os.path.basename(words[0]) in PROGRAMS:
            yield words


def check_commands(page, programs):
    for number, command in page.commands():
        try:
            commands = list(simple_commands(command.split("<<")[0]))
        except ValueError as wrong:
            yield number, f"`{command}` is no command of a shell: {wrong}"
            continue
        for words in commands:
            for fault in programs.faults_of(words):
                yield number, fault


def check_flags(page, programs):
    if page.path.name == BENCHMARKS:
        return
    for number, line in page.prose:
        for code in re.findall(r"`([^`]+)`", line):
            if re.match(r"(curl|kubectl|helm|docker|openssl|ip|nft|tc|systemctl|go|cmake|ninja|script/|install\.sh)\b", code):
                continue
            for flag in sorted(flag for flag in flags_in(code) if flag.startswith("--")):
                if not code.endswith(flag + "-") and flag not in programs.all_flags | FOREIGN_FLAGS:
                    yield number, f"no program has the flag `{flag}`"


def metrics_of_operator():
    """Figures that the operator serves of itself are told on its page."""
    return set(re.findall(r'"(edge_operator_[a-z_]+)"', (ROOT / "controller/operator/main.cc").read_text()))


def check_metrics(page, known):
    for number, line in enumerate(page.text.splitlines(), 1):
        for name in re.findall(r"(?<![\w/.-])edge_[a-z0-9_]*[a-z0-9](?![\w./*-])", line):
            base = re.sub(r"_(bucket|count|sum)$", "", name)
            if name not in known and base not in known:
                yield number, f"there is no metric `{name}` in docs/metrics.md"


def check_codes(page):
    for number, line in enumerate(page.text.splitlines(), 1):
        for code in re.findall(r"\bEDGE\d{4}\b", line):
            if not (DOCS / "diagnostics" / f"{code}.md").exists():
                yield number, f"{code} has no page in docs/diagnostics"


def variables_of_code():
    found = set()
    for room in ("agent", "base", "cli", "controller", "daemon", "edgectl", "net", "runtime", "standalone"):
        for path in (ROOT / room).rglob("*.cc"):
            if not path.name.endswith("_test.cc"):
                found |= set(re.findall(r'"(EDGE(?:CTL)?_[A-Z_]*[A-Z]|NO_COLOR)"', path.read_text()))
    return found


def check_variables(pages):
    # Those of tests are told in CONTRIBUTING.md and beside the tests.
    code = variables_of_code()
    elsewhere = "".join(path.read_text() for folder in ("controller", "tests", "deploy", "packaging")
                        for path in (ROOT / folder).rglob("*") if path.suffix in (".cc", ".py", ".service"))
    named = set()
    for page in pages:
        for number, line in enumerate(page.text.splitlines(), 1):
            for name in re.findall(r"\b(EDGE(?:CTL)?_[A-Z_]*[A-Z]|NO_COLOR)\b", line):
                named.add(name)
                if name not in code and name not in elsewhere:
                    yield f"{page.name}:{number}: nothing reads the variable {name}"
    for name in sorted(code - named):
        yield f"docs: no page names the variable {name}, which a program reads"


def fields_of_reference():
    """Full paths: a heading names the object, the rows of its table the fields."""
    known = set(FOREIGN_FIELDS)
    for path in (DOCS / "reference").glob("*.md"):
        at = None
        for line in path.read_text().splitlines():
            if match := re.match(r"##+ `((?:spec|status)\S*)`", line):
                at = match.group(1).replace("[]", "")
            elif line.startswith("#"):
                match = re.match(r"##+ (Spec|Status)$", line)
                at = match.group(1).lower() if match else None
            elif at and (match := re.match(r"\| `([\w-]+)`", line)):
                known.add(f"{at}.{match.group(1)}")
    return known


def check_fields(page, known):
    for number, line in page.prose:
        for name in re.findall(r"`(?:[A-Z]\w+\.)?((?:spec|status)(?:\.[A-Za-z0-9]+(?:\[\w*\])*)+)`", line):
            if re.sub(r"\[\w*\]", "", name) not in known:
                yield number, f"no kind has the field `{name}`"


ROOMS = sorted(path.name for path in ROOT.iterdir() if path.is_dir() and path.name not in ("build", ".git", ".ci"))


def check_paths(page):
    """Folders and files of the project; pages leave out `tests/` and what a name ends with."""
    for number, line in page.prose:
        for name in re.findall(r"`((?:%s)/[\w./*-]*[\w*])[`/ ]" % "|".join(ROOMS), line):
            if name not in FILES_OF_OTHERS and not any(
                next(ROOT.glob(candidate), None) for start in ("", "tests/") for candidate in (start + name, start + name + "*")):
                yield number, f"there is no `{name}`"


def check_yaml(page, programs):
    for language, first, lines in page.blocks:
        text = "\n".join(lines) + "\n"
        if language != "yaml" or "apiVersion:" not in text or "kind:" not in text:
            continue
        if "kind: Cluster\n" in text or "…" in text or re.search(r"kind: (RouteTest|Config|Claim)", text):
            continue
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text)
            file.flush()
            printed = run(programs.binaries / "edgectl", "validate", "-f", file.name, "-o", "json")
        try:
            found = json.loads(printed.stdout)
        except ValueError:
            yield first, f"edgectl validate: {printed.stderr.strip()}"
            continue
        for one in found:
            if one["severity"] == "error" and not READERS_OWN.match(one["code"]):
                yield first, f"{one['code']}: {one['message']}"


def main():
    programs = Programs(Path(sys.argv[1]).resolve())
    pages = [Page(path) for path in [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]]
    metrics = OTHER_NAMES | metrics_of_operator() | set(re.findall(r"\bedge_[a-z0-9_]+", (DOCS / "metrics.md").read_text()))
    fields = fields_of_reference()
    faults = []
    commands = 0
    for page in pages:
        commands += len(list(page.commands()))
        if page.path.name == "edgectl-flags.md":
            continue
        for number, fault in [*check_commands(page, programs), *check_flags(page, programs), *check_metrics(page, metrics),
                              *check_codes(page), *check_fields(page, fields), *check_paths(page), *check_yaml(page, programs)]:
            faults.append(f"{page.name}:{number}: {fault}")
    faults += check_variables(pages)
    for fault in faults:
        print(fault)
    print(f"{len(pages)} pages, {commands} commands, {len(faults)} faults")
    return 1 if faults or not commands else 0


if __name__ == "__main__":
    sys.exit(main())
