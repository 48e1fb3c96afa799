"""The project's source files and what they include: shared by the checks of script/."""
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = {".cc", ".h", ".def"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def source_files(root=ROOT):
    """Sources under `root`, sorted: what git tracks, and files not yet added; all files where there is no git."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root,
                                capture_output=True, check=True).stdout.decode().split("\0")
        paths = [root / name for name in listed if name]
    except (OSError, subprocess.CalledProcessError):
        paths = [p for p in root.rglob("*") if "build" not in p.relative_to(root).parts[:1]]
    return sorted(p for p in paths if p.suffix in SUFFIXES and p.is_file())


def includes(path):
    """(line number, '<' or '\"', included name) of each include line of a file."""
    found = []
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            found.append((number, match.group(1), match.group(2)))
    return found


def closure(path, root=ROOT, seen=None):
    """`path` and every file of the project that it includes, directly or not."""
    seen = set() if seen is None else seen
    if path in seen:
        return seen
    seen.add(path)
    for _, kind, name in includes(path):
        target = root / name
        if kind == '"' and target.is_file():
            closure(target, root, seen)
    return seen


def is_test(path):
    """Whether a file, as a path from the root, is a test's."""
    return path.stem.endswith(("_test", "_fuzz")) or path.parts[0] == "tests"
