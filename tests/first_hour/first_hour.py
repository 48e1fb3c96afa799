#!/usr/bin/env python3
"""Does what the pages of docs/ say, as somebody would who pastes from them, and compares what is shown.

    first_hour.py BIN_DIR [PAGE...]

docs/quick-start.md is always gone through first: it sets up the shell, the servers and the proxy that all other pages
begin with. Then come the tasks of the first hour, one page after the other, with the same proxy; and after that each
page that goes on from the quick start by itself. With PAGE only these are gone through, each by itself.

Of a page is read:

* A block after a paragraph that ends in "`FILE`:" or "`FILE` is now:" is that file. When edge-standalone runs and follows it, the page goes
  on once a program of it serves, or its faults are told.
* A block ```console: each line that begins with "$ " is a command, with what follows a "\\" at its end and the lines of
  a here-document. All commands of a page go to one bash. The lines below a command are what it prints; "..." stands for
  any lines, "…" for any text within one. Where nothing is shown nothing is compared, and the command must succeed. A
  command that ends in "&", and edge-standalone, go on; the lines below one of these are waited for.
* A block ```text after a paragraph that ends in "prints:" are lines that edge-standalone prints.

Other blocks are not run. Links of all pages must lead to a file and a heading, and source files that they
name must be there. All of it happens in a network namespace of its own, so that ports are those of the pages.
Ends with 77 where there can be none.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SET_UP = "quick-start"
TASKS = ["tls", "scheme-redirect", "basic-auth", "jwt", "rate-limiting", "canary", "websocket", "grpc",
         "tcp-and-tls-routing", "ingress"]
SECONDS = 60
SKIPPED = 77
INSIDE = "EDGE_FIRST_HOUR_INSIDE"


class Wrong(Exception):
    pass


def blocks_of(page):
    """(what the paragraph before it ends with, language, lines) of each fenced block."""
    found, paragraph, block = [], "", None
    for line in page.read_text().splitlines():
        if line.startswith("```"):
            if block is None:
                block = (paragraph, line[3:].strip(), [])
            else:
                found.append(block)
                block, paragraph = None, ""
        elif block is not None:
            block[2].append(line)
        elif line.strip():
            paragraph = line.rstrip()
    return found


def commands_of(lines):
    """(command, lines that it prints) of a console block."""
    commands, ending, continued = [], None, False
    for line in lines:
        if ending is not None or continued:
            commands[-1][0] += "\n" + line
        elif line.startswith("$ "):
            commands.append([line[2:], []])
            here = re.search(r"<<-?'?(\w+)'?", line)
            ending = here.group(1) if here else None
            continued = line.endswith("\\")
            continue
        elif commands:
            commands[-1][1].append(line)
            continue
        continued = continued and line.endswith("\\")
        if ending is not None and line == ending:
            ending = None
    return commands


def line_fits(wanted, got):
    return re.fullmatch(".*".join(re.escape(part) for part in wanted.split("…")), got) is not None


def fits(wanted, got):
    """Whether lines are those that a page shows."""
    if not wanted:
        return not got
    if wanted[0] == "...":
        return any(fits(wanted[1:], got[skip:]) for skip in range(len(got) + 1))
    return bool(got) and line_fits(wanted[0], got[0]) and fits(wanted[1:], got[1:])


class Server:
    """A program that goes on. What it prints is read as it comes."""

    def __init__(self, command, folder, environment):
        self.command = command
        self.lines = []
        self.changed = threading.Condition()
        self.process = subprocess.Popen(["bash", "-c", "exec " + command], cwd=folder, env=environment,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, errors="replace", start_new_session=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.rstrip("\n"))
                self.changed.notify_all()
        with self.changed:
            self.lines.append(None)  # it has ended
            self.changed.notify_all()

    def wait(self, wanted, since=0):
        """Waits until it has printed these lines, others between them or not, and gives where the last of them is."""
        deadline = time.monotonic() + SECONDS
        with self.changed:
            at = since
            for want in wanted:
                if want == "...":
                    continue
                while True:
                    while at < len(self.lines) and not (
                        self.lines[at] is not None and line_fits(want.strip(), self.lines[at].strip())
                    ):
                        at += 1
                    if at < len(self.lines):
                        break
                    left = deadline - time.monotonic()
                    if left <= 0 or (self.lines and self.lines[-1] is None):
                        raise Wrong(f"`{self.command}` did not print\n  {want}\nbut\n" + self.text(since))
                    self.changed.wait(left)
                at += 1
            return at

    def text(self, since=0):
        return "\n".join("  " + line for line in self.lines[since:] if line is not None)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=40)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Hour:
    """A shell in a folder of its own, with what was started from it."""

    def __init__(self, folder, binaries):
        self.folder = folder
        self.binaries = binaries
        self.servers = []
        self.proxy = None
        self.since = 0  # lines of the proxy before the last file or console block
        home = Path(folder) / "home"
        home.mkdir()
        # curl shows its progress to whoever does not sit at a terminal.
        (home / ".curlrc").write_text("silent\nshow-error\nmax-time = 30\n")
        environment = {key: value for key, value in os.environ.items()
                       if not key.lower().endswith("_proxy") and not key.startswith("EDGE")}
        environment.update(HOME=str(home), NO_COLOR="1", LC_ALL="C.UTF-8")
        environment.pop("KUBECONFIG", None)
        self.shell = subprocess.Popen(["bash", "--norc"], cwd=ROOT, env=environment, text=True, errors="replace",
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      start_new_session=True)

    def bash(self, command):
        """What a command prints, and its exit code."""
        self.shell.stdin.write(f"{command}\nprintf '\\n\\036%s\\n' $?\n")
        self.shell.stdin.flush()
        lines = []
        for line in self.shell.stdout:
            line = line.rstrip("\n").rstrip("\r")
            if line.startswith("\036"):
                if lines and lines[-1] == "":
                    lines.pop()
                return lines, int(line[1:])
            lines.append(line)
        raise Wrong(f"the shell ended at `{command}`")

    def start(self, command, shown):
        where = Path(self.folder) / "where"
        self.bash(f"(pwd; env -0) > {where}")
        folder, rest = where.read_text().split("\n", 1)
        environment = dict(entry.split("=", 1) for entry in rest.split("\0") if "=" in entry)
        # A page says to stop it before it is started again.
        if command.startswith("edge-standalone") and self.proxy:
            self.proxy.stop()
        server = Server(command.rstrip().removesuffix("&"), folder, environment)
        self.servers.append(server)
        if command.startswith("edge-standalone"):
            self.proxy = server
            server.wait(shown or ["ready program=…"])
        else:
            server.wait(shown)

    def put(self, name, lines):
        folder = self.bash("pwd")[0][0]
        # Replaced by rename, as careful editors do.
        (Path(folder) / (name + ".new")).write_text("\n".join(lines) + "\n")
        (Path(folder) / (name + ".new")).rename(Path(folder) / name)

    def run_page(self, name):
        for paragraph, language, lines in blocks_of(DOCS / (name + ".md")):
            file = re.search(r"`([\w./-]+)`( is now)?:$", paragraph)
            if language == "text" and paragraph.endswith("prints:"):
                self.proxy.wait(lines, self.since)
                continue
            self.since = len(self.proxy.lines) if self.proxy else 0
            if language == "console":
                self.run_console(lines)
            elif file:
                self.put(file.group(1), lines)
                if self.proxy and f"--config {file.group(1)}" in self.proxy.command:
                    self.proxy.wait(["programmed program=…"], self.since)

    def run_console(self, lines):
        for command, shown in commands_of(lines):
            if command.startswith("script/"):
                continue  # the build, which is done
            command = command.replace("$PWD/build/release/bin", self.binaries)
            if command.startswith("edge-standalone ") and "--check" not in command or command.rstrip().endswith("&"):
                self.start(command, shown)
                continue
            printed, code = self.bash(command)
            if shown and not fits(shown, printed):
                wanted, got = "\n".join("  " + line for line in shown), "\n".join("  " + line for line in printed)
                raise Wrong(f"$ {command}\nprinted\n{got}\nand is shown as\n{wanted}")
            if not shown and code != 0:
                raise Wrong(f"$ {command}\nended with {code}\n" + "\n".join(printed))

    def stop(self):
        for server in reversed(self.servers):
            server.stop()
        self.shell.stdin.close()
        self.shell.wait()


def go_through(pages, binaries):
    """Whether all of these pages hold, after the quick start and one after the other in the same shell."""
    folder = tempfile.mkdtemp(prefix="first-hour-")
    page = SET_UP
    hour = Hour(folder, binaries)
    try:
        for page in [SET_UP] + [page for page in pages if page != SET_UP]:
            hour.run_page(page)
        return True
    except Wrong as wrong:
        print(f"docs/{page}.md: {wrong}", flush=True)
        if hour.proxy:
            print("edge-standalone printed\n" + hour.proxy.text(since=-25), flush=True)
        return False
    finally:
        hour.stop()
        shutil.rmtree(folder, ignore_errors=True)


def goes_on_from_the_quick_start(page):
    return "continues the [quick start](quick-start.md)" in page.read_text()


def anchor_of(heading):
    """As GitHub names it."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.lstrip("#").strip().lower())
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def dangling_links():
    """Links of pages that lead to no file, or to no heading of it."""
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "examples/README.md")]
    pages += sorted(DOCS.rglob("*.md"))
    anchors, links = {}, []
    for page in pages:
        fenced, anchors[page] = False, set()
        for line in page.read_text().splitlines():
            if line.startswith("```"):
                fenced = not fenced
            elif not fenced and line.startswith("#"):
                anchors[page].add(anchor_of(line))
            if not fenced:
                plain = re.sub(r"`[^`]*`", "", line)
                links += [(page, target) for target in re.findall(r"\]\(([^)\s]+)\)", plain)]
    dangling = []
    for page, target in links:
        if "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists() or (anchor and file in anchors and anchor not in anchors[file]):
            dangling.append(f"{page.relative_to(ROOT)}: {target}")
    return dangling


def missing_sources():
    """Source files that pages name, and that are not there. Pages leave out `runtime/`, `runtime/session/` and `tests/`."""
    missing = []
    for page in sorted(DOCS.glob("*.md")):
        for name in re.findall(r"\b[a-z_]+/[\w/]+\.(?:cc|h)\b", page.read_text()):
            if not any((ROOT / room / name).exists() for room in ("", "runtime", "runtime/session", "tests")):
                missing.append(f"{page.relative_to(ROOT)}: {name}")
    return missing


def enter_namespace():
    for flags in (["--net"], ["--net", "--user", "--map-root-user"]):
        if subprocess.run(["unshare", *flags, "true"], capture_output=True, check=False).returncode == 0:
            os.environ[INSIDE] = "1"
            os.execvp("unshare", ["unshare", *flags, sys.executable, *sys.argv])
    print("no network namespace can be made here")
    sys.exit(SKIPPED)


def main():
    if INSIDE not in os.environ:
        enter_namespace()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    binaries, pages = os.path.abspath(sys.argv[1]), sys.argv[2:]
    runs = [[page] for page in pages]
    if not pages:
        others = sorted(page.stem for page in DOCS.glob("*.md") if goes_on_from_the_quick_start(page))
        runs = [TASKS] + [[page] for page in others if page != SET_UP]
    failed = 0
    for name in dangling_links() + missing_sources():
        print(f"FAILED {name}: leads nowhere", flush=True)
        failed += 1
    for run in runs:
        began = time.monotonic()
        right = go_through(run, binaries)
        failed += not right
        print(f"{'ok' if right else 'FAILED'} {', '.join(run)} ({time.monotonic() - began:.1f} s)", flush=True)
    print("failed" if failed else "passed")
    return 1 if failed or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
