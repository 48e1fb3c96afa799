"""What `script/affected.py --self-test` does: changes planted in a scratch tree, and what has to be chosen for each."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import affected
import full_check
from build_graph import BuildGraph

SOURCES = {
    "base/result.h": "struct Result {};\n",
    "base/result.cc": '#include "base/result.h"\n',
    "net/codec.h": '#include "base/result.h"\n',
    "net/codec.cc": '#include "net/codec.h"\n',
    "net/pool.cc": '#include "base/result.h"\n// reads "docs/pools.md", says a remark\n',
    "net/codec_test.cc": '#include "net/codec.h"\n',
    "yaml/read.h": "",
    "yaml/read.cc": '#include "yaml/read.h"\n',
    "yaml/read_test.cc": '#include "yaml/read.h"\n',
    "agent/sync_test.cc": '#include "net/codec.h"\n#include "schemas/agent.pb.h"\n',
    "tests/golden/golden_test.cc": '#include "yaml/read.h"\n',
    "tests/alike/alike_test.cc": '#include "yaml/read.h"\nauto kCases = "tests/golden";\n',
    "tests/docs/docs_test.cc": '#include "yaml/read.h"\nauto kPages = "docs/" + name;\n',
    "tests/fuzz/codec_fuzz.cc": '#include "net/codec.h"\n',
    "tests/fuzz/yaml_fuzz.cc": '#include "yaml/read.h"\n',
    "schemas/agent.proto": "", "docs/pools.md": "", "tests/golden/case/input.yaml": "",
    "tests/fuzz/corpus/codec_fuzz/torn": "", "net/CMakeLists.txt": "", "CMakeLists.txt": "", "script/run": "",
}
# Each program: its source, and the libraries that it is linked with.
PROGRAMS = {
    "codec_test": ("net/codec_test.cc", "net base"), "read_test": ("yaml/read_test.cc", "yaml"),
    "sync_test": ("agent/sync_test.cc", "proto net base"), "golden_test": ("tests/golden/golden_test.cc", "yaml"),
    "alike_test": ("tests/alike/alike_test.cc", "yaml"), "docs_test": ("tests/docs/docs_test.cc", "yaml"),
    "codec_fuzz": ("tests/fuzz/codec_fuzz.cc", "net base"), "yaml_fuzz": ("tests/fuzz/yaml_fuzz.cc", "yaml"),
}
THREADS = {"codec_test", "sync_test"}
ALL = set(PROGRAMS) | {"threads:codec_test", "threads:sync_test"}
OF_NET = {"codec_test", "sync_test", "codec_fuzz", "threads:codec_test", "threads:sync_test"}
OF_CC = {"base/result.cc", "net/codec.cc", "net/pool.cc", "yaml/read.cc"}

# What changes, and what it can touch.
PLANTED = {
    "net/codec.cc": OF_NET | {"net/codec.cc"},
    "net/codec_test.cc": {"codec_test", "threads:codec_test"},
    "base/result.h": OF_NET | {"base/result.cc", "net/codec.cc", "net/pool.cc"},
    "yaml/read.h": {"read_test", "golden_test", "alike_test", "docs_test", "yaml_fuzz", "yaml/read.cc"},
    "net/CMakeLists.txt": OF_NET | {"net/codec.cc", "net/pool.cc"},
    "CMakeLists.txt": ALL | OF_CC,
    "cmake/EdgeToolchain.cmake": ALL | OF_CC,
    ".clang-tidy": OF_CC,
    "tests/golden/case/input.yaml": {"golden_test", "alike_test"},
    "tests/golden/case/expected/gone.txt": {"golden_test", "alike_test"},
    "docs/pools.md": {"docs_test"},
    "tests/fuzz/corpus/codec_fuzz/torn": {"codec_fuzz"},
    "schemas/agent.proto": {"sync_test", "threads:sync_test"},
    "script/run": set(),
}


def plant(root):
    for name, text in SOURCES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    unity = root / "build/net/CMakeFiles/net.dir/Unity/unity_0_cxx.cxx"
    unity.parent.mkdir(parents=True)
    unity.write_text(f'#include "{root}/net/codec.cc"\n#include "{root}/net/pool.cc"\n')
    lines = [f"build net/CMakeFiles/net.dir/Unity/unity_0_cxx.cxx.o: CXX {unity} || order_of_net",
             f"build base/CMakeFiles/base.dir/result.cc.o: CXX {root}/base/result.cc",
             f"build yaml/CMakeFiles/yaml.dir/read.cc.o: CXX {root}/yaml/read.cc",
             f"build generated/agent.pb.cc generated/agent.pb.h: PROTOC {root}/schemas/agent.proto",
             "build schemas/CMakeFiles/proto.dir/agent.pb.cc.o: CXX generated/agent.pb.cc || generated/agent.pb.h",
             "build order_of_net: phony",
             "build libnet.a: AR net/CMakeFiles/net.dir/Unity/unity_0_cxx.cxx.o",
             "build libbase.a: AR base/CMakeFiles/base.dir/result.cc.o",
             "build libyaml.a: AR yaml/CMakeFiles/yaml.dir/read.cc.o",
             "build libproto.a: AR schemas/CMakeFiles/proto.dir/agent.pb.cc.o"]
    for program, (source, libraries) in PROGRAMS.items():
        compiled = f"{source.rpartition('/')[0]}/CMakeFiles/{program}.dir/{source.rpartition('/')[2]}.o"
        linked = " ".join(f"lib{library}.a" for library in libraries.split())
        lines += [f"build {compiled}: CXX {root}/{source}", f"build bin/{program}: LINK {compiled} | {linked}"]
    (root / "build/build.ninja").write_text("\n".join(lines) + "\n")


def names_of(found):
    return {f"threads:{name}" if kind == "threads" else name for kind in affected.KINDS for name in found[kind]}


def faults_of_selection(root):
    faults = []
    for name, expected in PLANTED.items():
        graph = BuildGraph(root / "build", root)
        targets = affected.candidates(graph, graph, THREADS)
        change = affected.Change({name: 1}, "")
        plan = affected.choose(targets, change, 1000)
        if names_of(plan.chosen) != expected or names_of(plan.left):
            faults.append(f"{name}: chosen {sorted(names_of(plan.chosen))}, expected {sorted(expected)}")
        for budget in (0, 3, 9):
            plan = affected.choose(targets, change, budget)
            if plan.weight > budget or names_of(plan.chosen) | names_of(plan.left) != expected:
                faults.append(f"{name}: lost at a budget of {budget}, or above it")
    graph = BuildGraph(root / "build", root)
    targets = affected.candidates(graph, graph, THREADS)
    # Of earlier commits what a change is nearest to comes first, then what changed last; before all of it the last commit.
    for age, first in ((3, ["golden_test", "read_test"]), (1, ["codec_test"])):
        plan = affected.choose(targets, affected.Change({"yaml/read_test.cc": 9, "tests/golden/golden_test.cc": 2,
                                                         "net/codec.h": age}, ""), 7)
        if plan.chosen["sanitized"][:len(first)] != first or not plan.left["sanitized"]:
            faults.append(f"wrong order: {plan.chosen}, {plan.left}")
    plan = affected.choose(targets, affected.Change({}, ""), None)
    if names_of(plan.chosen) != ALL | OF_CC:
        faults.append(f"a full run leaves out {sorted((ALL | OF_CC) - names_of(plan.chosen))}")
    return faults


def faults_of_base(root):
    def git(*arguments):
        return subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@example.com", *arguments], cwd=root, check=True,
                              capture_output=True, text=True).stdout.strip()

    def commit(name):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{name}\n" * 2)
        git("add", "-A")
        git("commit", "-q", "-m", name)
        return git("rev-parse", "HEAD")

    faults = []

    def expect(what, ages):
        change = affected.change_since_full(root)
        if change.ages != ages:
            faults.append(f"{what}: {change}")

    git("init", "-q")
    full = commit("a.cc")
    far = affected.UNKNOWN_AGE
    expect("one commit, no record", {"a.cc": far})
    record = root / full_check.RECORD
    record.parent.mkdir()
    record.write_text(json.dumps({"commit": full, "date": "2026-01-01"}))
    commit("b.cc")
    commit("c.cc")
    expect("a record", {"b.cc": 2, "c.cc": 1})
    (root / "a.cc").write_text("edited\n")
    (root / "new.cc").write_text("")
    expect("not committed", {"a.cc": 0, "new.cc": 0, "b.cc": 2, "c.cc": 1})
    git("add", "new.cc")
    git("rm", "-q", "b.cc")
    expect("removed", {"a.cc": 0, "new.cc": 0, "b.cc": 0, "c.cc": 1})
    for text in ('{"commit": "' + "0" * 40 + '"}', '{"commit": "--all"}', "[]", "{"):
        record.write_text(text)
        change = affected.change_since_full(root)
        if change.ages.get("c.cc") != 1 or change.ages.get("a.cc") != 0 or "all files, as " not in change.since:
            faults.append(f"a record of {text}: {change}")
    return faults


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for part in ("tree", "repository"):
            (root / part).mkdir()
        plant(root / "tree")
        faults = faults_of_selection(root / "tree") + faults_of_base(root / "repository")
    for fault in faults:
        print(f"affected: self-test failed: {fault}", file=sys.stderr)
    if not faults:
        print(f"affected: self-test: what {len(PLANTED)} planted changes touch was chosen, and nothing else")
    return 1 if faults else 0
