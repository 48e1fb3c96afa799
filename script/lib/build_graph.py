"""What ninja is to build, read from build.ninja: what a target is made of, down to the files of the project.

Ninja learns of headers as it compiles; before anything is built they are known from the include lines alone
(source_tree.py). What CMake itself reads is known by folder: a CMakeLists.txt touches the objects below it.
"""
import re
from functools import lru_cache
from pathlib import Path

from source_tree import includes

BUILD = re.compile(r"^build (.*?)(?<!\$): (\S+) ?(.*)$")
UNITY_LINE = re.compile(r'^#include "(.*)"$', re.MULTILINE)
# A path of the project in a string: what a test may read as it runs.
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*/(?:[^"\\\n]|\\.)*)"')
COMPILED = (".o", ".pch")


def words(text):
    """The paths of one side of a `build` line."""
    return [word.replace("\0", " ") for word in text.replace("$ ", "\0").replace("$:", ":").split()
            if word not in ("|", "||", "|@")]


class BuildGraph:
    def __init__(self, build, root):
        self.build, self.root = Path(build), Path(root)
        self.inputs_of = {}
        text = (self.build / "build.ninja").read_text().replace("$\n", "")
        for line in text.splitlines():
            match = BUILD.match(line)
            if match:
                for output in words(match.group(1)):
                    self.inputs_of[output] = words(match.group(3))
        self._reached = {}
        self._closures = {}

    def programs(self):
        """The tests and fuzz targets, by name."""
        return sorted(name[4:] for name in self.inputs_of if name.startswith("bin/") and name.endswith(("_test", "_fuzz")))

    def compiled(self):
        return [name for name in self.inputs_of if name.endswith(COMPILED)]

    def compiled_sources(self):
        """Every source of the project that is compiled."""
        found = {file for name in self.compiled() for source in self.inputs_of[name] for file in self.files_of(source)}
        return sorted(name for name in found if name.endswith(".cc"))

    def reached(self, target):
        """(objects, files of the project) of which a target is made, with all libraries and generated files."""
        if target not in self._reached:
            objects, files, seen, waiting = set(), set(), set(), [target]
            while waiting:
                name = waiting.pop()
                if name in seen:
                    continue
                seen.add(name)
                if name.endswith(COMPILED):
                    objects.add(name)
                waiting += self.inputs_of.get(name, ())
                files.update(self.files_of(name))
            self._reached[target] = objects, files
        return self._reached[target]

    def objects(self, program):
        return self.reached(f"bin/{program}")[0]

    def own_sources(self, program):
        """The sources of the program itself, without its libraries'."""
        found = set()
        for name in self.inputs_of.get(f"bin/{program}", ()):
            if name.endswith(".o"):
                for source in self.inputs_of[name]:
                    found.update(self.files_of(source))
        return {name for name in found if name.endswith(".cc")}

    @lru_cache(maxsize=None)
    def files_of(self, name):
        """The files of the project that an input stands for: itself, or those that a file of a unity build includes."""
        path = Path(name)
        if not path.is_absolute():
            path = self.build / path
        if path.is_relative_to(self.build):
            if "Unity" not in path.parts or path.suffix != ".cxx" or not path.is_file():
                return ()
            return tuple(self.relative(Path(line)) for line in UNITY_LINE.findall(path.read_text()))
        return (self.relative(path),) if path.is_relative_to(self.root) else ()

    def relative(self, path):
        return path.relative_to(self.root).as_posix()

    @lru_cache(maxsize=None)
    def included(self, name):
        """What a file of the project includes of the project by its own lines; a file that is gone includes nothing."""
        path = self.root / name
        if not path.is_file():
            return frozenset()
        return frozenset(target for _, kind, target in includes(path) if kind == '"' and "/" in target)

    def closure(self, name):
        """A file and all that it includes, directly or not. A header that is gone still counts as included."""
        if name not in self._closures:
            seen, waiting = set(), [name]
            while waiting:
                file = waiting.pop()
                if file not in seen:
                    seen.add(file)
                    waiting += self.included(file)
            self._closures[name] = frozenset(seen)
        return self._closures[name]

    @lru_cache(maxsize=None)
    def sources(self, program):
        """All that a program is compiled from, headers included."""
        files = self.reached(f"bin/{program}")[1]
        return frozenset().union(*(self.closure(name) for name in files)) if files else frozenset()

    @lru_cache(maxsize=None)
    def paths_named(self, name):
        """Prefixes of paths of the project that a source names in strings: `"tests/runtime/cases"`."""
        path = self.root / name
        if not path.is_file() or path.suffix not in (".cc", ".h"):
            return frozenset()
        found = set()
        for line in path.read_text(errors="replace").splitlines():
            if not line.lstrip().startswith("#include"):
                found.update(literal.lstrip("/") for literal in LITERAL.findall(line))
        return frozenset(prefix for prefix in found
                         if prefix.split("/")[0] and (self.root / prefix.split("/")[0]).is_dir())

    def weight(self, compiled):
        """What compiling an object costs, in middling objects of the release build. Lines tell little of it: over all
        of them the least squares by lines, of sources and of headers, explained a quarter (decision 97)."""
        return 8.0 if "edge_shared_templates" in compiled else 1.0
