#!/usr/bin/env python3
"""What the last `script/test --full` covered, and at which commit: script/full-check.json.

    script/lib/full_check.py record RESULTS COMMIT    writes it, of a run that passed (script/test calls this)
    script/lib/full_check.py age                      says in a line how far back it lies
"""
import datetime
import json
import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from source_tree import ROOT  # noqa: E402

RECORD = "script/full-check.json"
SETTINGS = ("EDGE_FUZZ_SECONDS", "EDGE_FUZZ_SEED", "EDGE_FAULT_SECONDS", "EDGE_FAULT_SEED", "EDGE_DIFF_COUNT",
            "EDGE_EDIT_COUNT", "EDGE_CRASH_COUNT", "EDGE_THREADED", "EDGE_DIFF_COUNT_SANITIZED", "EDGE_EDIT_COUNT_SANITIZED")


def git(*arguments, root=ROOT):
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)


def base(root=ROOT):
    """(commit, "") of the last full run; (None, why) where there is nothing to compare with."""
    path = root / RECORD
    if not path.is_file():
        return None, "as no full run is recorded"
    try:
        commit = json.loads(path.read_text())["commit"]
    except (ValueError, KeyError, TypeError):
        return None, f"as {RECORD} cannot be read"
    if not isinstance(commit, str) or len(commit) != 40 or set(commit) - set("0123456789abcdef"):
        return None, f"as {RECORD} names no commit"
    if git("merge-base", "--is-ancestor", commit, "HEAD", root=root).returncode:
        return None, f"as the commit of the last full run, {commit[:9]}, is not in the history at hand"
    return commit, ""


def age(root=ROOT):
    commit, why = base(root)
    if not commit:
        return f"last full run: not known, {why}"
    date = json.loads((root / RECORD).read_text()).get("date", "")
    commits = git("rev-list", "--count", f"{commit}..HEAD", root=root).stdout.strip()
    files = len(git("diff", "--name-only", commit, "HEAD", "--", ".", f":!{RECORD}", root=root).stdout.splitlines())
    return f"last full run: {commit[:9]} of {date}, {commits} commits and {files} changed files ago"


def skipped_cases(folder):
    """Names of GoogleTest cases that said themselves that they cannot run here."""
    names = []
    for report in sorted(folder.glob("*.json")):
        for suite in json.loads(report.read_text()).get("testsuites", []):
            names += [f"{suite['name']}.{case['name']}" for case in suite["testsuite"] if case.get("result") == "SKIPPED"]
    return names


def record(results, commit, root=ROOT):
    """Writes what was covered. `results` is the folder of a run of script/test that has just passed."""
    counts = {name: int(passed) for name, passed in
              (line.split() for line in (results / "passed.txt").read_text().splitlines())
              if not name.endswith("_fuzz")}
    skips = {line.strip() for log in results.glob("*.log")
             for line in log.read_text(errors="replace").splitlines() if ": skipped: " in line}
    covered = {
        "commit": commit,
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "passed": counts,
        "fuzz_seconds": {name: int(seconds) for name, seconds in
                         (line.split() for line in (results / "plan/fuzz.txt").read_text().splitlines())},
        "threads": (results / "plan/threads.txt").read_text().split(),
        "skipped_checks": sorted(skips),
        "skipped_cases": {name: skipped_cases(results / name) for name in counts if (results / name).is_dir()},
        "settings": {name: os.environ[name] for name in SETTINGS if name in os.environ},
    }
    (root / RECORD).write_text(json.dumps(covered, indent=1) + "\n")
    print(f"full-check: {RECORD} says what was covered at {commit[:9]}: commit it")


if __name__ == "__main__":
    if sys.argv[1:] == ["age"]:
        print(age())
    elif len(sys.argv) == 4 and sys.argv[1] == "record":
        record(Path(sys.argv[2]), sys.argv[3])
    else:
        sys.exit(__doc__)
