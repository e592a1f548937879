"""Scripts as learners write them, after the kinds of public code: right results, and a true verdict for each kernel.

Each script in ``learners/`` asserts its results against NumPy while ``course check`` runs it.
"""

from pathlib import Path

import pytest

from course_pkg.check import check_file

SCRIPTS = {path.stem: path for path in sorted(Path(__file__).with_name("learners").glob("*.py"))}
KERNELS = {"chances": 11, "images": 6, "linear": 9, "physics": 7, "sorting": 12}
WRONG = {
    ("sorting", "scan_hillis"): "race",
    ("sorting", "floyd_at_once"): "race",
    ("sorting", "best_of"): "race",
    ("chances", "move_centres"): "race",
    ("chances", "rule30"): "out_of_bounds",
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_of_a_learner_runs_with_right_results_and_true_verdicts(script):
    report = check_file(SCRIPTS[script])
    assert not [note for note in report.notes if "Error" in note], report.notes
    assert len(report.kernels) == KERNELS[script]
    for kernel in report.kernels:
        found = {hazard.kind for hazard, _ in kernel.hazards}
        expected = WRONG.get((script, kernel.name))
        assert found == ({expected} if expected else set()), kernel.name
        assert kernel.verdict == ("hazards" if expected else "clean"), kernel.errors
