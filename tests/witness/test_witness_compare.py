"""Counts of interpreter and hardware: equal to the last unit, or listed with a reason."""

from types import SimpleNamespace

import pytest

from course_pkg.bench import folder
from course_pkg.core import CourseError
from course_pkg.paths import recorded_dir
from course_pkg.simt import FlopCounts, Flops
from course_pkg.witness import compare, ncu, record
from course_pkg.witness.cases import all_cases

pytestmark = pytest.mark.slow(35)

DEVICES = folder.devices(recorded_dir(), record.COUNTERS)
CASES = all_cases()
INEXACT = compare.exceptions()
UNEXPLAINED = (
    19  # differences whose machine code nobody has read to the end: may only fall, but for new kernels
)


@pytest.fixture(scope="module")
def recorded():
    """The recorded counters of every GPU, by its folder."""
    assert {"nvidia-h100-80gb-hbm3", "nvidia-h200"} <= set(DEVICES)
    return {device: record.recorded(device=device) for device in DEVICES}


@pytest.mark.family
@pytest.mark.parametrize("name", CASES)
def test_the_interpreter_counts_what_the_hardware_counted(name, recorded):
    counted = {device: one.counters[name] for device, one in recorded.items() if name in one.counters}
    profile = compare.profile(CASES[name])
    for device, counters in counted.items():
        rows = compare.compare(CASES[name], counters, profile)
        assert not [row.quantity for row in rows if row.measured is None], device
        assert compare.verdict(rows, INEXACT.get(name)) == [], device
        listed = INEXACT.get(name)
        for row in (row for row in rows if not row.equal and listed.explained):
            word = "at most" if row.measured < row.counted else "at least"
            assert word_of(profile, row.quantity) in (word, "about"), row
    if missing := set(recorded) - set(counted):  # after the others were compared
        pytest.skip(f"not recorded yet on {', '.join(missing)}: `{record.how_to_record(name)}` on a GPU")


def test_the_differences_that_nobody_has_explained_become_fewer():
    unexplained = [name for name, listed in INEXACT.items() if not listed.explained]
    assert len(unexplained) <= UNEXPLAINED, unexplained


def word_of(profile, quantity):
    """Return what the profile says by itself of a quantity."""
    return profile.certainty(next(q.counter for q in compare.QUANTITIES if q.name == quantity))


@pytest.mark.parametrize("name", ["tree_sum", "vector_dot", "laplacian_naive_64", "same_loads_by_parity"])
def test_what_is_known_to_be_exact_is_called_exact(name):
    assert compare.profile(CASES[name]).doubtful == {}


@pytest.mark.parametrize(
    ("brought", "share"),
    [(False, 0.95), (True, 0.85)],
    ids=["of the course", "that learners bring"],
)
def test_most_kernels_with_equal_trip_counts_are_exact_in_every_counter(brought, share):
    same = [c for c in CASES.values() if not c.data_dependent and c.name.startswith("brought_") == brought]
    found = compare.summary(same, INEXACT)
    assert found.exact_kernels >= share * found.kernels


def test_the_memory_counters_of_at_least_95_percent_of_the_launches_that_learners_bring_are_exact(recorded):
    brought = [name for name in recorded["nvidia-h200"].counters if name.startswith("brought_")]
    memory, listed = ("global", "shared", "local", "atomic"), INEXACT
    inexact = [n for n in brought if n in listed and any(q.startswith(memory) for q in listed[n].quantities)]
    assert len(brought) >= 62
    assert len(inexact) <= 0.05 * len(brought), inexact


def test_only_cases_are_listed_and_recorded(recorded):
    assert set(INEXACT) <= set(CASES)
    gone = {name for one in recorded.values() for name in one.counters} - set(CASES)
    assert not gone, "a case was renamed or taken away: take its line out of counters.json, too"


def test_every_quantity_is_among_the_metrics_that_are_asked_for():
    wanted = {metric for q in compare.QUANTITIES for alternative in q.metrics for metric in alternative}
    assert wanted <= set(ncu.METRICS)
    assert len({q.name for q in compare.QUANTITIES}) == len(compare.QUANTITIES) == 22


COUNTS = {"requests": 3, "sectors": 24, "wavefronts": 6, "bank_conflicts": 2}


def profiled(**changes):
    """Return a profile in which each memory counts the same, and fp64 has 96 fma."""
    spaces = [f"{space}_{way}" for space in ("global", "local", "shared") for way in ("load", "store")]
    fields = {name: SimpleNamespace(**COUNTS) for name in (*spaces, "atomics")}
    flops = Flops({"float64": FlopCounts(mul=32, fma=96)})
    return SimpleNamespace(**{**fields, "flops": flops, **changes})


CASE = SimpleNamespace(name="a_case")
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"


def rows_of(counters, profile=None):
    return {row.quantity: row for row in compare.compare(CASE, counters, profile or profiled())}


@pytest.mark.parametrize(("measured", "equal"), [(1, False), (2, True), (3, True)])
def test_the_counter_of_bank_conflicts_takes_in_other_waits_and_may_be_larger(measured, equal):
    assert rows_of({CONFLICTS: measured})["shared load bank_conflicts"].equal is equal
    wavefronts = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
    assert rows_of({wavefronts: measured + 4})["shared load wavefronts"].equal is (measured + 4 == 6)


def test_quantities_take_their_metric_and_add_up_the_kinds_of_atomics():
    rows = rows_of(
        {
            "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 3,
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 25,
            "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum": 1,
            "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum": 0,
            "smsp__inst_executed_op_shared_atom.sum": 2,
            "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum": 96,
            "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum": 0,
        }
    )
    assert rows["global load requests"].equal
    assert (rows["global load sectors"].counted, rows["global load sectors"].measured) == (24, 25)
    assert not rows["global load sectors"].equal
    assert rows["atomic requests"].measured == 3
    assert rows["float64 fma"].equal and rows["float64 fma"].measured == 96
    assert rows["float32 add"].counted == rows["float32 add"].measured == 0
    assert rows["local load requests"].measured is None and rows["local load requests"].equal


def test_shared_requests_leave_out_atomics_and_conflicts_are_those_of_the_banks():
    rows = rows_of(
        {
            "smsp__inst_executed_op_shared_st.sum": 5,
            "smsp__sass_inst_executed_op_shared_st.sum": 3,
            "smsp__inst_executed_op_shared_atom_dot_alu.sum": 2,
            "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": 2,
        }
    )
    assert rows["shared store requests"].measured == 3
    assert rows["shared store bank_conflicts"].equal and rows["shared store bank_conflicts"].measured == 2
    assert rows["atomic requests"].measured is None


def test_divisions_are_compared_by_the_instructions_that_they_are_made_of():
    rows = rows_of(
        {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum": 0},
        profiled(flops=Flops({"float64": FlopCounts(div=1)})),
    )
    assert rows["float64 fma"].counted > 1


def test_wavefronts_by_instruction_are_preferred():
    by_instruction = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
    by_pipe = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
    assert rows_of({by_instruction: 6, by_pipe: 9})["shared load wavefronts"].measured == 6
    assert rows_of({by_pipe: 9})["shared load wavefronts"].measured == 9


def test_an_unlisted_difference_and_a_stale_entry_are_both_wrong():
    rows = list(rows_of({"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 1025}).values())
    listed = compare.Inexact(("global load sectors",), "hoisted")
    assert compare.verdict(rows, None) == [
        "a_case: global load sectors 24 by the interpreter, 1,025 by the hardware."
    ]
    assert compare.verdict(rows, listed) == []
    both = compare.Inexact(("global load sectors", "float64 fma"), "hoisted")
    assert compare.verdict(rows, both) == [
        "a_case: float64 fma is exact now: remove it from exceptions.toml."
    ]
    exact = list(rows_of({"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 24}).values())
    assert "is exact now: remove it" in compare.verdict(exact, listed)[0]


ENTRY = '[[inexact]]\ncase = "a"\nquantities = ["float64 fma"]\nreason = "unrolled"\n'


def test_exceptions_are_read(tmp_path):
    path = tmp_path / "exceptions.toml"
    path.write_text(ENTRY, encoding="utf-8")
    assert compare.exceptions(path) == {"a": compare.Inexact(("float64 fma",), "unrolled")}
    path.write_text("", encoding="utf-8")
    assert compare.exceptions(path) == {}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (ENTRY.replace('reason = "unrolled"', ""), "needs case, quantities and reason"),
        (ENTRY.replace("float64 fma", "float64 cos"), "a lists float64 cos; choose from"),
        (ENTRY + ENTRY, "lists a twice"),
        ("[[inexact]\n", "is not valid TOML"),
    ],
)
def test_a_bad_list_of_exceptions_is_one_sentence(tmp_path, text, sentence):
    path = tmp_path / "exceptions.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CourseError, match=sentence):
        compare.exceptions(path)


def test_a_kernel_is_exact_when_all_its_launches_are():
    cases = [SimpleNamespace(name=n, identity=("m", n[0])) for n in ("a1", "a2", "b1", "c1")]
    found = compare.summary(cases, {"a2": compare.Inexact(("float64 fma",), "why")})
    assert found == compare.Summary(kernels=3, exact_kernels=2, launches=4, exact_launches=3)
