"""Tells which tests of a run were skipped, and why.

usage: python3 skipped_tests.py note STEP FILE   adds what the reports of Surefire say of a step
       python3 skipped_tests.py tell FILE        lists the skipped tests, and fails if no step has run one of them
"""
import json
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def note(step, file):
    with open(file, 'a') as notes:
        for report in sorted(pathlib.Path().glob('*/target/surefire-reports/TEST-*.xml')):
            for test in ElementTree.parse(report).getroot().iter('testcase'):
                skipped = test.find('skipped')
                reason = None if skipped is None else skipped.get('message') or 'no reason'
                # A class that is skipped as a whole has no method
                method = test.get('name')
                type_name = test.get('classname')
                notes.write(json.dumps([step, type_name, '' if method == type_name else method, reason]) + '\n')


def tell(file):
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
    if sys.argv[1] == 'note':
        note(sys.argv[2], sys.argv[3])
    else:
        sys.exit(tell(sys.argv[2]))
