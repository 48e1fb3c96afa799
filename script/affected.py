#!/usr/bin/env python3
"""Chooses what a change can have touched: which tests run again under ASan and UBSan and which under TSan, which fuzz targets
run, which files clang-tidy reads.

    script/affected.py OUT_DIR [--full] [--threads "TEST..."]   writes OUT_DIR/{sanitized,fuzz,threads,tidy,left}.txt
                                                               (fuzz.txt with the seconds of each)
    script/affected.py --self-test                              plants changes in a scratch tree and looks what is chosen

The change is all that differs from the commit of the last `script/test --full` (script/full-check.json), and what is not
committed. A target is affected when a changed file is compiled into it, included by what is, or named by it as a file that
it reads. Of what is affected as much is chosen as fits a budget, measured by what the release build compiles: first what the
last commit and what is not committed touch, and of both first what a changed file is nearest to. Earlier commits had their own
gate. The rest is named in left.txt, for `script/test --full`.

Where no commit to compare with is known, every file counts as changed.
"""
import collections
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
import full_check  # noqa: E402
from build_graph import BuildGraph  # noqa: E402
from source_tree import ROOT, SUFFIXES, is_test  # noqa: E402

# The budget: this share of the weight of all objects of the build, a release object of middling size weighing one. So
# the gate stays below twice the release build and its tests (decision 97 has the measurements).
SHARE = 0.9
SANITIZED, THREADS = 1.1, 0.65  # what compiling costs beside release
LINK, RUN = 0.3, 0.6  # a program linked; a test run under a sanitizer
SECOND = 0.17  # of fuzzing
LOOKED_AT = 0.12  # a file for clang-tidy
# What one kind may take before all others had their part.
PARTS = {"fuzz": 0.35, "sanitized": 0.6, "threads": 0.2, "tidy": 0.15}

OWN, NEAR, FAR, EVERYTHING = range(4)  # how far a changed file is from a target, the nearest first
KINDS = ("fuzz", "sanitized", "threads", "tidy")
WORDS = {"fuzz": "fuzz targets", "sanitized": "tests under ASan and UBSan", "threads": "tests under TSan",
         "tidy": "files of clang-tidy"}
LAST_COMMIT, UNKNOWN_AGE = 1, 1_000_000  # of a file
READ_MOST = ("expression_fuzz", "yaml_fuzz", "program_fuzz")
CORPUS = "tests/fuzz/corpus/"
# What decides how all is compiled.
FOR_ALL = ("CMakeLists.txt", "CMakePresets.json", "script/packages.txt", "script/build")


@dataclass
class Change:
    """Files that changed, each with its age: 0 is not committed, 1 the last commit. `since`: since when, in words."""
    ages: dict
    since: str


@dataclass
class Plan:
    chosen: dict = field(default_factory=lambda: {kind: [] for kind in KINDS})
    left: dict = field(default_factory=lambda: {kind: [] for kind in KINDS})
    weight: float = 0
    budget: float | None = None


def git(*arguments, root=ROOT):
    return subprocess.run(["git", "-c", "core.quotepath=off", *arguments], cwd=root, capture_output=True, text=True,
                          check=True).stdout


def change_since_full(root=ROOT):
    """The change that a gate looks at."""
    edited = set(git("diff", "--name-only", "--no-renames", "HEAD", root=root).splitlines())
    edited.update(git("ls-files", "--others", "--exclude-standard", root=root).splitlines())
    base, why = full_check.base(root)
    ages = {}
    if base:
        commits = git("log", "--format=%x00", "--name-only", "--no-renames", f"{base}..HEAD", root=root).split("\0")
        for age, block in enumerate(commits):
            for name in block.split("\n"):
                ages.setdefault(name, age)
        differing = set(git("diff", "--name-only", "--no-renames", base, "HEAD", root=root).splitlines())
        ages = {name: ages.get(name, UNKNOWN_AGE) for name in differing}
        since = f"since the last full run, {base[:9]}, {len(commits) - 1} commits ago"
    else:
        ages = dict.fromkeys(git("ls-files", root=root).splitlines(), UNKNOWN_AGE)
        try:
            last = git("diff", "--name-only", "--no-renames", "HEAD~1", "HEAD", root=root).splitlines()
        except subprocess.CalledProcessError:
            last = []  # a clone of one commit
        ages.update(dict.fromkeys(last, LAST_COMMIT))
        since = f"all files, {why}"
    ages.update(dict.fromkeys(edited, 0))
    ages.pop(full_check.RECORD, None)
    return Change(ages, since)


class Target:
    """A test or a fuzz target of one build, and what of the project it is made of and reads."""

    def __init__(self, graph, kind, name):
        self.graph, self.kind, self.name = graph, kind, name
        self.objects = graph.objects(name)
        self.own = graph.own_sources(name)
        self.sources = graph.sources(name)
        self.beside = set(map(folder_of, self.own))
        self.used = self.beside | {folder_of(included) for source in self.own for included in graph.included(source)}
        # The product reads nothing of the project's files; tests do.
        self.read = {prefix for source in self.sources if is_test(Path(source)) for prefix in graph.paths_named(source)}
        self.read = tuple(self.read | {f"{folder}/" for folder in self.beside if folder})

    def distance(self, name):
        """How near a changed file is; None where it cannot touch the target."""
        if name in self.own:
            return OWN
        if name in self.sources:
            return NEAR if folder_of(name) in self.used else FAR
        if is_for_all(name):
            return EVERYTHING
        if is_of_cmake(name):
            below = folder_of(name) + "/"
            if not any(compiled.startswith(below) for compiled in self.objects):
                return None
            return NEAR if any(folder.startswith(folder_of(name)) for folder in self.beside) else FAR
        if name.startswith(CORPUS):
            return OWN if name.split("/")[3] == self.name else None
        # What a test reads makes another way through code that did not change.
        return NEAR if Path(name).suffix not in SUFFIXES and name.startswith(self.read) else None

    def cost(self, built):
        """What it costs beside what is built already."""
        factor = THREADS if self.kind == "threads" else SANITIZED
        return (factor * sum(map(self.graph.weight, self.objects - built[self.graph]))
                + LINK + (SECOND * fuzz_seconds(self.name) if self.kind == "fuzz" else RUN))


class LookedAt:
    """A file for clang-tidy."""
    kind, objects = "tidy", frozenset()

    def __init__(self, graph, name):
        self.graph, self.name = graph, name

    def distance(self, name):
        if name == self.name:
            return OWN
        if name in self.graph.included(self.name):
            return NEAR
        if name in self.graph.closure(self.name):
            return FAR
        if name == ".clang-tidy" or is_for_all(name):
            return EVERYTHING
        return FAR if is_of_cmake(name) and self.name.startswith(folder_of(name) + "/") else None

    def cost(self, _built):
        return LOOKED_AT


def fuzz_seconds(name):
    """How long a fuzz target runs: the parsers that read most the longest."""
    seconds = int(os.environ.get("EDGE_FUZZ_SECONDS", "30"))
    return seconds if name.startswith("http1_") or name in READ_MOST else (seconds + 5) // 6


def is_for_all(name):
    return name in FOR_ALL or name.startswith("cmake/")


def is_of_cmake(name):
    return name.rpartition("/")[2] == "CMakeLists.txt" or name.endswith(".cmake")


def folder_of(name):
    return name.rpartition("/")[0]


def candidates(sanitized, threaded, threads):
    """All that a full run does beyond the release build."""
    found = [Target(sanitized, "fuzz" if name.endswith("_fuzz") else "sanitized", name) for name in sanitized.programs()]
    found += [Target(threaded, "threads", name) for name in threaded.programs() if name in threads]
    return found + [LookedAt(sanitized, name) for name in sanitized.compiled_sources() if not is_test(Path(name))]


def order(target, change):
    """What is chosen first: the least of all changed files; None where the change cannot touch the target."""
    distances = ((age > LAST_COMMIT, target.distance(name), age) for name, age in change.ages.items())
    return min((entry for entry in distances if entry[1] is not None), default=None)


def choose(targets, change, budget):
    """The plan of a gate; with no budget, of a full run."""
    plan = Plan(budget=budget)
    if budget is None:
        for target in targets:
            plan.chosen[target.kind].append(target.name)
        return plan
    groups = {}
    for target in targets:
        near = order(target, change)
        if near:
            groups.setdefault((near, KINDS.index(target.kind)), []).append(target)
    built = collections.defaultdict(set)
    spent = dict.fromkeys(KINDS, 0)
    # First each kind up to its part, so that none takes all; then what is left over for whatever comes first.
    for parts in (PARTS, dict.fromkeys(KINDS, 1)):
        for key in sorted(groups):
            waiting = groups[key]
            while waiting:
                # Of equals the cheapest: so most of them fit.
                cost, _, target = min(((target.cost(built), target.name, target) for target in waiting),
                                      key=lambda entry: entry[:2])
                if plan.weight + cost > budget or spent[target.kind] + cost > parts[target.kind] * budget:
                    break
                waiting.remove(target)
                built[target.graph] |= target.objects
                spent[target.kind] += cost
                plan.weight += cost
                plan.chosen[target.kind].append(target.name)
    for waiting in groups.values():
        for target in waiting:
            plan.left[target.kind].append(target.name)
    return plan


def summary(plan, change):
    what = "everything" if plan.budget is None else f"{change.since}: {len(change.ages)} files changed"
    counts = ", ".join(f"{len(plan.chosen[kind])} {WORDS[kind]}" for kind in KINDS)
    used = "" if plan.budget is None else f" ({100 * plan.weight / plan.budget:.0f}% of the budget)"
    return f"affected: {what}; checked beyond the release build: {counts}{used}"


def left_line(plan):
    parts = []
    for kind in KINDS:
        names = sorted(plan.left[kind])
        if names:
            parts.append(f"{len(names)} {WORDS[kind]}" + ("" if kind == "tidy" else f" ({' '.join(names)})"))
    return f"left for script/test --full, as the change reaches more than a gate's budget: {'; '.join(parts)}" if parts else ""


def main(arguments):
    if arguments == ["--self-test"]:
        from affected_self_test import self_test
        return self_test()
    if not arguments or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    threads = arguments[arguments.index("--threads") + 1].split() if "--threads" in arguments else []
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    for preset in ("fuzz", "tsan"):
        configured = subprocess.run(["cmake", "--preset", preset], cwd=ROOT, stdin=subprocess.DEVNULL, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if configured.returncode:
            print(configured.stdout, file=sys.stderr)
            return 1
    sanitized, threaded = BuildGraph(ROOT / "build/fuzz", ROOT), BuildGraph(ROOT / "build/tsan", ROOT)
    change = change_since_full()
    budget = None if "--full" in arguments else SHARE * sum(map(sanitized.weight, sanitized.compiled()))
    plan = choose(candidates(sanitized, threaded, threads), change, budget)
    for kind in KINDS:
        lines = (f"{name} {fuzz_seconds(name)}\n" if kind == "fuzz" else f"{name}\n" for name in sorted(plan.chosen[kind]))
        (folder / f"{kind}.txt").write_text("".join(lines))
    left = left_line(plan)
    (folder / "left.txt").write_text(f"{left}\n" if left else "")
    print("\n".join(filter(None, [summary(plan, change), left])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
