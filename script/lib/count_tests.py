"""Sums the results of one ctest run: `PASSED FAILED`; with --failed, names the programs that failed.

The folder holds ctest.xml, ctest-again.xml where some programs ran a second time, whose results replace the first, and a
JSON file of each GoogleTest program that ended. A program that ctest calls failed although its cases passed (a crash, a
leak, a time-out) counts as one failure.
"""
import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

folder = Path(sys.argv[-1])
status = {}
for file in (folder / "ctest.xml", folder / "ctest-again.xml"):
    if file.is_file() or file.name == "ctest.xml":
        for test in ElementTree.parse(file).getroot().iter("testcase"):
            status[test.get("name")] = test.get("status")

passed = 0
failed = {}
for name, outcome in status.items():
    program_failed = outcome not in ("run", "disabled")
    report = folder / (name + ".json")
    cases_failed = 0
    if report.is_file():
        for suite in json.loads(report.read_text()).get("testsuites", []):
            for case in suite["testsuite"]:
                if case.get("failures"):
                    cases_failed += 1
                elif case.get("result") == "COMPLETED":
                    passed += 1
    elif outcome == "run":
        passed += 1
    if cases_failed or program_failed:
        failed[name] = max(cases_failed, 1)

if "--failed" in sys.argv:
    print("\n".join(failed))
else:
    print(passed, sum(failed.values()))
