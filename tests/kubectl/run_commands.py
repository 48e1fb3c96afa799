#!/usr/bin/env python3
"""Runs tests/kubectl/*.cases by one kubectl against a resource API of its own, or against a cluster.

    run_commands.py SERVER KUBECTL [FILE...]

SERVER is build/bin/serve_resource_api, or `cluster`: the one that KUBECONFIG leads to, which is new and has the
definitions of deploy/crds and the namespace edge-system (script/check-cluster). EDGECTL names an edgectl; without it,
cases that use it are left out. A file is a list of cases, parted by empty lines:

    # a comment
    @since 1.27            for kubectl of that version and later; `@before` likewise
    @api embedded          where the two APIs differ: for the product's own, or for the `cluster`; the comment says why
    $ kubectl get ns       a line for bash, with `kubectl` as a function and tests/kubectl/files as $FILES
    ? 1                    its exit code, when it is not 0
    expected output        stdout and stderr together, line by line

In what is expected `<*>` stands for any text within a line, and a line `...` for any lines.
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LONGEST = 180  # seconds for one command


class Case:
    def __init__(self, name, line):
        self.name, self.line = name, line
        self.since, self.before = (0, 0), (99, 99)
        self.api = None
        self.command, self.code, self.expected = "", 0, []


def version_of(text):
    major, minor = re.search(r"(\d+)\.(\d+)", text).groups()
    return int(major), int(minor)


def read_cases(path):
    cases = []
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    case = None
    for number, line in enumerate(lines, 1):
        if not line:
            if case is not None and case.command:
                cases.append(case)
                case = None
            continue
        if line.startswith("#") and (case is None or not case.command):
            continue
        case = case or Case(os.path.basename(path), number)
        if not case.command:
            if line.startswith("@since "):
                case.since = version_of(line)
            elif line.startswith("@before "):
                case.before = version_of(line)
            elif line in ("@api embedded", "@api cluster"):
                case.api = line.split()[1]
            elif line.startswith("$ "):
                case.command = line[2:]
            else:
                sys.exit(f"{path}:{number}: a case begins with its command")
        elif line.startswith("? "):
            case.code = int(line[2:])
        else:
            case.expected.append(line)
    return cases


def matches(expected, actual):
    """Whether `actual` is what `expected` describes, line by line."""
    if not expected:
        return not actual
    if expected[0] == "...":
        return any(matches(expected[1:], actual[i:]) for i in range(len(actual) + 1))
    if not actual:
        return False
    pattern = ".*".join(re.escape(part.rstrip() if i == 0 and "<*>" not in expected[0] else part)
                        for i, part in enumerate(expected[0].split("<*>")))
    return re.fullmatch(pattern, actual[0].rstrip()) is not None and matches(expected[1:], actual[1:])


def run(case, environment):
    script = 'kubectl() { "$KUBECTL" "$@"; }\nedgectl() { "$EDGECTL" "$@"; }\n' + case.command
    try:
        done = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=environment, timeout=LONGEST, cwd=HERE, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return f"did not end within {LONGEST} s"
    text = done.stdout.decode(errors="replace").rstrip("\n")
    actual = [line for line in text.split("\n") if line.strip()]
    if done.returncode != case.code:
        return f"exit code {done.returncode}, not {case.code}; it said:\n{text}"
    if not matches(case.expected, actual):
        return "it said:\n" + text + "\nand not:\n" + "\n".join(case.expected)
    return None


class Embedded:
    """The product's own API, started for these cases."""

    def __init__(self, server, work):
        self.data = os.path.join(work, "data")
        self.log = open(os.path.join(work, "log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen([server, self.data], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, text=True)
        address = self.process.stdout.readline().strip()
        if not address:
            self.log.seek(0)
            sys.exit("the API does not start: " + self.log.read())
        self.environment = {"KUBECONFIG": os.path.join(self.data, "kubeconfig"), "DATA": self.data, "SERVER": address,
                            "LOG": self.log.name}

    def end(self):
        self.process.stdin.close()
        return self.process.wait(timeout=LONGEST)


class Cluster:
    """The API that KUBECONFIG leads to."""

    def __init__(self, kubectl):
        self.environment = {"KUBECONFIG": os.environ["KUBECONFIG"]}
        self.environment["SERVER"] = subprocess.run(
            [kubectl, "config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}"],
            env=self.environment, capture_output=True, text=True, check=True).stdout

    def end(self):
        return 0


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    server, kubectl = sys.argv[1], sys.argv[2]
    edgectl = os.environ.get("EDGECTL")
    files = sys.argv[3:] or sorted(os.path.join(HERE, f) for f in os.listdir(HERE) if f.endswith(".cases"))
    with tempfile.TemporaryDirectory(prefix="kubectl.") as work:
        which = "cluster" if server == "cluster" else "embedded"
        api = Cluster(kubectl) if which == "cluster" else Embedded(os.path.abspath(server), work)
        environment = {"PATH": os.environ["PATH"], "HOME": work, "KUBECTL": kubectl, "WORK": work,
                       "FILES": os.path.join(HERE, "files"), "LC_ALL": "C.UTF-8", "EDGECTL": edgectl or "false",
                       **api.environment}
        said = subprocess.run([kubectl, "version", "--client", "-o", "json"], env=environment, capture_output=True,
                              text=True, check=True).stdout
        version = version_of(re.search(r'"gitVersion":\s*"v([^"]*)"', said).group(1))
        ran = failed = 0
        for path in files:
            for case in read_cases(path):
                if not case.since <= version < case.before or case.api not in (None, which):
                    continue
                if ("edgectl " in case.command or "$EDGECTL" in case.command) and edgectl is None:
                    continue
                ran += 1
                fault = run(case, environment)
                if fault:
                    failed += 1
                    print(f"{case.name}:{case.line}: {case.command}\n{fault}\n")
        ended = api.end()
        if ended != 0:
            failed += 1
            print(f"the API ended with {ended}")
    print(f"kubectl {version[0]}.{version[1]}, {which} API: {ran - failed} of {ran} commands")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
