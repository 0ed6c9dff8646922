"""Tells what the reports of Surefire say of tests that failed, or were skipped.

usage: python3 test_reports.py failed           prints each test that failed with the first lines of its trace
       python3 test_reports.py note STEP FILE   adds what was run and what was skipped in a step
       python3 test_reports.py skipped FILE     lists the skipped tests, and fails if no step has run one of them
"""
import json
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def tests():
    """The text report of a class with nested ones tells of the last of them only."""
    for report in sorted(pathlib.Path().glob('**/target/surefire-reports/TEST-*.xml')):
        yield from ElementTree.parse(report).getroot().iter('testcase')


def failed():
    for test in tests():
        for failure in test.findall('failure') + test.findall('error'):
            print(test.get('classname'), test.get('name'))
            print('\n'.join((failure.text or '').splitlines()[:12]))


def note(step, file):
    lines = ''
    for test in tests():
        skipped = test.find('skipped')
        reason = None if skipped is None else skipped.get('message') or 'no reason'
        # A class that is skipped as a whole has no method
        method = test.get('name')
        type_name = test.get('classname')
        lines += json.dumps([step, type_name, '' if method == type_name else method, reason]) + '\n'
    # At once, as a step beside this one may do the same
    with open(file, 'ab', buffering=0) as notes:
        notes.write(lines.encode())


def skipped(file):
    skipped, run = {}, set()
    for step, type_name, method, reason in map(json.loads, open(file)):
        if reason is None:
            run |= {(type_name, method), (type_name, '')}
        else:
            skipped.setdefault((type_name, method, reason.strip()), []).append(step)
    nowhere = False
    for (type_name, method, reason), steps in sorted(skipped.items()):
        ran = (type_name, method) in run
        nowhere |= not ran
        print('%s %s %s: %s (%s)' % ('skipped' if ran else 'RUN BY NO STEP', type_name, method, reason, ', '.join(steps)))
    return nowhere


if __name__ == '__main__':
    if sys.argv[1] == 'failed':
        failed()
    elif sys.argv[1] == 'note':
        note(sys.argv[2], sys.argv[3])
    else:
        sys.exit(skipped(sys.argv[2]))
