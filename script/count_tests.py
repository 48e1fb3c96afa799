"""Sums the results of one ctest run: `PASSED FAILED`.

The folder holds ctest.xml and a JSON file of each GoogleTest program that ended. A program that ctest calls failed
although its cases passed (a crash, a leak, a time-out) counts as one failure.
"""
import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

folder = Path(sys.argv[1])
passed = failed = 0
for test in ElementTree.parse(folder / "ctest.xml").getroot().iter("testcase"):
    program_failed = test.get("status") not in ("run", "disabled", "notrun")
    report = folder / (test.get("name") + ".json")
    cases_failed = 0
    if report.is_file():
        for suite in json.loads(report.read_text()).get("testsuites", []):
            for case in suite["testsuite"]:
                if case.get("failures"):
                    cases_failed += 1
                elif case.get("result") == "COMPLETED":
                    passed += 1
    elif test.get("status") == "run":
        passed += 1
    if test.get("status") == "notrun":
        program_failed = True
    failed += max(cases_failed, 1 if program_failed else 0)
print(passed, failed)
