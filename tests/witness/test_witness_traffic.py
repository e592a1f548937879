"""`course verify traffic`: bytes, time and clocks of launches that no cache holds, from a record and from a GPU."""

import pytest
from verify_cases import arguments

from course_pkg import bench
from course_pkg.bench import Device
from course_pkg.commands import limits, verify
from course_pkg.core import CourseError
from course_pkg.paths import repo_root
from course_pkg.witness import compare, ncu, record
from course_pkg.witness.cases import all_cases, large_cases, racy_cases
from course_pkg.witness.clocks import clocks

DEVICE = Device("gpu", "NVIDIA H200", 132, 1, 1, driver="580.1")


def moved(case, read=1.0, written=1.0):
    """Return counters of a case that moves so many times what must move."""
    names = ("dram__bytes_read.sum", "dram__bytes_write.sum")
    return dict(zip(names, (read * case.cost.bytes_read, written * case.cost.bytes_written), strict=True))


@pytest.fixture
def traffic(monkeypatch, tmp_path):
    """A record of what memory moved for all large cases; returns the way to change it."""
    monkeypatch.setattr(record, "recorded_dir", lambda: tmp_path)

    def keep(without=(), **factors):
        counters = {n: moved(c, **factors) for n, c in large_cases().items() if n not in without}
        collected = ncu.Collected(counters, (), "2025.3")
        return record.record(collected, DEVICE, tmp_path, origin="x", kind=record.TRAFFIC)

    return keep


def test_traffic_stands_beside_what_must_move(traffic, capsys):
    assert traffic(read=1.5).name == "traffic.json"
    assert verify.run(arguments("traffic", "--device", "recorded", "--case", "laplacian_flat_512")) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if "laplacian_flat_512" in line)
    assert row.split() == ["1073.7", "1610.6", "1.500", "1073.7", "1073.7", "1.000", "laplacian_flat_512"]
    assert verify.run(arguments("traffic", "--device", "recorded")) == 0


TIMED = {
    "gpu__time_duration.sum": 1e6,
    "lts__t_sectors.avg.pct_of_peak_sustained_elapsed": 90.0,
    "l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed": 20.0,
    "smsp__issue_active.avg.pct_of_peak_sustained_elapsed": 30.0,
}


def of_recorded(case, counters, tmp_path):
    """Record counters of one case beside the streams of the H200."""
    collected = ncu.Collected({case.name: counters}, (), "2025.3")
    record.record(collected, DEVICE, tmp_path, origin="x", kind=record.TRAFFIC)


def row_of(name, printed):
    return next(line for line in printed.splitlines() if line.endswith(f" {name}")).split()


def test_the_clocks_stand_beside_the_bytes_and_the_one_that_binds_is_named(monkeypatch, tmp_path, capsys):
    case = large_cases()["laplacian_flat_512"]
    monkeypatch.setattr(record, "recorded_dir", lambda: tmp_path)
    of_recorded(case, {**moved(case), **TIMED}, tmp_path)
    assert verify.run(arguments("traffic", "--case", "laplacian_flat_512", "--device", "recorded")) == 0
    printed = capsys.readouterr().out
    copy = bench.recorded("stencil").one("copy", size=512, dtype="float64")
    share = case.cost.bytes / copy.throughput_gb_s / 1e9 / 1e-3
    assert row_of(case.name, printed)[6:-1] == ["1.00", "ms", f"{share:.0%}", "90%", "20%", "30%", "L2"]
    assert f"bytes moved over {copy.throughput_gb_s:,.0f} GB/s, copy, CuPy (512³) on NVIDIA H200" in printed
    assert "85% or more binds" in printed
    of_recorded(case, {**moved(case), **TIMED, "gpu__time_duration.sum": 0.9e9 * share * 1e-3}, tmp_path)
    verify.run(arguments("traffic", "--case", "laplacian_flat_512", "--device", "recorded"))
    assert row_of(case.name, capsys.readouterr().out)[-2] == "memory"


@pytest.mark.parametrize("device", ["nvidia-h200", "h100"])
def test_the_recorded_clocks_are_printed_without_a_gpu(device, capsys):
    assert verify.run(arguments("traffic", "--device", device)) == 0
    printed = capsys.readouterr().out
    full = bench.folder.path_of(repo_root() / "figures" / "data", device, "traffic").parent.name
    counted = record.recorded(record.TRAFFIC, full).counters
    for name, topic in (("laplacian_marching_512", "stencil"), ("cg_search_1000", "cg")):
        found = clocks(counted[name], limits.recorded(topic, full).stream.throughput_gb_s)
        shares = [f"{found.shares[clock]:.0%}" for clock in ("memory", "L2", "L1", "issue")]
        assert row_of(name, printed)[-6:-1] == [*shares, found.binds]


def test_on_a_gpu_without_a_record_the_yardstick_is_measured(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(ncu, "collect", lambda cases, wanted: ncu.Collected(
        {case.name: {**moved(case), **TIMED} for case in cases}, (), "2025.3"))  # fmt: skip
    monkeypatch.setattr(verify.bench, "gpu", lambda: Device("gpu", "NVIDIA X1", 132, 1, 1))
    asked = []
    here = limits.recorded("vector", "nvidia-h200")
    monkeypatch.setattr(verify.limits, "here", lambda device: asked.append(device) or here)
    assert verify.run(arguments("traffic", "--case", "laplacian_flat_512")) == 0
    assert asked == ["gpu"]
    assert row_of("laplacian_flat_512", capsys.readouterr().out)[-2] == "L2"


def test_a_device_without_a_copy_has_bytes_and_no_clocks(monkeypatch, capsys):
    monkeypatch.setattr(verify.limits, "recorded", lambda topic, device: None)
    assert verify.run(arguments("traffic", "--case", "laplacian_flat_512", "--device", "recorded")) == 0
    printed = capsys.readouterr().out
    assert row_of("laplacian_flat_512", printed)[-2].endswith("s"), "the time, in µs"
    assert "no shares for stencil: record the copy with `course bench vector --record`" in printed


def test_cases_are_listed_and_a_name_stands_for_those_that_begin_with_it(capsys):
    for what, there in (("traffic", large_cases()), ("counters", all_cases()), ("races", racy_cases())):
        assert verify.run(arguments(what, "--list")) == 0
        assert set(there) <= set(capsys.readouterr().out.split())
    assert verify.run(arguments("traffic", "--device", "h100", "--case", "laplacian_tiled")) == 0
    printed = capsys.readouterr().out
    assert "laplacian_tiled_512" in printed and "laplacian_tiled_1024" in printed and "flat" not in printed


def test_a_record_is_chosen_by_any_part_of_its_name_and_a_wrong_one_is_answered(capsys):
    for words in (("--against", "h100"), ("--device", "h100"), ("--device", "recorded", "--against", "H100")):
        assert verify.run(arguments("traffic", "--case", "laplacian_flat_512", *words)) == 0
        assert "Recorded on NVIDIA H100 80GB HBM3" in capsys.readouterr().out
    for words in (("--against", "a100"), ("--device", "a100")):
        with pytest.raises(
            CourseError, match=r"there is no device 'a100': .*nvidia-h100-80gb-hbm3, nvidia-h200\."
        ):
            verify.run(arguments("traffic", *words))
    with pytest.raises(
        CourseError, match=r"name one of the devices with such a record, nvidia-h100-80gb-hbm3, nvidia"
    ):
        verify.run(arguments("traffic", "--device", "xeon"))
    with pytest.raises(SystemExit):
        arguments("--help")
    assert "nvidia-h100-80gb-hbm3, nvidia-h200" in " ".join(capsys.readouterr().out.split())


def test_less_than_must_be_read_or_written_is_a_wrong_count(traffic, capsys):
    traffic(read=0.9)
    assert verify.run(arguments("traffic", "--device", "recorded", "--case", "cg_search_250")) == 1
    assert "cg_search_250: 225,000,000.0 bytes were read, but 250,000,000 must be" in capsys.readouterr().out
    traffic(written=0.8)
    assert verify.run(arguments("traffic", "--device", "recorded", "--case", "cg_search_250")) == 0, (
        "in the L2"
    )
    assert verify.run(arguments("traffic", "--device", "recorded", "--case", "laplacian_flat_1024")) == 1
    assert "bytes were written, but 8,589,934,592" in capsys.readouterr().out


def test_each_witness_takes_its_own_cases():
    with pytest.raises(CourseError, match="strided_by_2 fits in a cache"):
        verify.run(arguments("traffic", "--device", "recorded", "--case", "strided_by_2"))
    with pytest.raises(
        CourseError, match="cg_search_250 is too large for the interpreter: use `course verify traffic`"
    ):
        verify.run(arguments("counters", "--device", "recorded", "--case", "cg_search_250"))


def test_a_large_case_without_a_record_is_named(traffic, capsys):
    traffic(without=("cg_search_250",))
    said = "cg_search_250: not recorded yet; to record it, run `course verify traffic --device gpu --record"
    assert verify.run(arguments("traffic", "--device", "recorded")) == 0
    assert said in capsys.readouterr().out
    assert verify.run(arguments("traffic", "--device", "recorded", "--case", "cg_search_250")) == 1
    assert said in capsys.readouterr().out


def test_the_gpus_traffic_is_kept_in_a_file_of_its_own(monkeypatch, tmp_path, capsys):
    asked = []

    def collect(cases, wanted):
        asked.extend((case.name, wanted) for case in cases)
        return ncu.Collected({case.name: moved(case) for case in cases}, (), "2025.3")

    monkeypatch.setattr(ncu, "collect", collect)
    monkeypatch.setattr(verify.bench, "gpu", lambda: DEVICE)
    assert verify.run(arguments("traffic", "--device", "gpu", "--record", "--out", str(tmp_path))) == 0
    assert asked == [(name, ncu.TRAFFIC) for name in large_cases()]
    assert list(record.load(tmp_path / "nvidia-h200" / "traffic.json", record.TRAFFIC).counters) == list(
        large_cases()
    )


# what is read here and there in a Q of 2.1 GB, and launches that are a small part of what is timed
LESS = {
    "qp_update_compacted_16384": 20e6,
    "qp_update_skip_16384": 20e6,
    "qp_update_packed_16384": 20e6,
    "qp_pack_16384": 20e6,
    "spmv_splitting_entries_high_tetrahedral": 25e6,
    "spmv_copy_both_2097152": 16e6,
    "spmv_copy_rounded_2097152": 16e6,
}


def test_what_large_cases_must_move_fits_no_cache():
    for name, case in large_cases().items():
        assert case.cost.bytes_read >= LESS.get(name, 125e6), name
        assert max(case.grid[1:]) <= 65_535, name


@pytest.mark.parametrize("name", large_cases())
def test_a_large_case_of_the_package_is_recorded(name):
    counted = record.load(repo_root() / "figures/data/nvidia-h200/traffic.json", record.TRAFFIC).counters
    if name not in counted:
        pytest.skip(f"not recorded yet: `{record.how_to_record(name, record.TRAFFIC)}` on a GPU")
    assert compare.too_little(large_cases()[name], counted[name]) == []


def test_only_large_cases_have_their_traffic_recorded():
    counted = record.load(repo_root() / "figures/data/nvidia-h200/traffic.json", record.TRAFFIC).counters
    gone = set(counted) - set(large_cases())
    assert not gone, "a case was renamed or taken away: take its line out of traffic.json, too"


# ---- only what the record lacks, part by part

GATHERS = ("permute_", "unpermute_")


@pytest.fixture
def gpu(monkeypatch, tmp_path):
    """A GPU that counts what it is asked for; returns the names of the cases, part by part."""
    asked = []

    def collect(cases, wanted):
        asked.append([case.name for case in cases])
        if asked[-1][0].startswith(GATHERS):
            raise CourseError("Nsight Compute stopped with status 9: try again.")
        return ncu.Collected({case.name: moved(case) for case in cases}, (), "2025.3")

    monkeypatch.setattr(ncu, "collect", collect)
    monkeypatch.setattr(verify.bench, "gpu", lambda: DEVICE)
    monkeypatch.setattr(verify, "recorded_dir", lambda: tmp_path)
    return asked


def test_missing_counts_what_the_record_lacks(traffic, gpu, capsys):
    path = traffic(without=("vector_copy_large", "cg_search_250", "cg_search_1000"))
    there = record.load(path, record.TRAFFIC).counters
    words = "traffic", "--device", "gpu", "--record", "--missing"
    assert verify.run(arguments(*words, "--case", "cg_search_250", "--case", "vector")) == 0
    assert gpu == [["cg_search_250"], ["vector_copy_large"]]
    assert set(record.load(path, record.TRAFFIC).counters) == {*there, "vector_copy_large", "cg_search_250"}
    capsys.readouterr()
    assert verify.run(arguments(*words)) == 0
    assert gpu[2:] == [["cg_search_1000"]]
    capsys.readouterr()
    assert verify.run(arguments(*words)) == 0 and len(gpu) == 3
    assert capsys.readouterr().out == "The record lacks no case.\n"


def test_a_part_that_fails_leaves_the_others_in_the_record(gpu, tmp_path, capsys):
    assert verify.run(arguments("traffic", "--device", "gpu", "--record", "--missing")) == 1
    kept = record.load(tmp_path / "nvidia-h200" / "traffic.json", record.TRAFFIC).counters
    assert set(kept) == {name for name in large_cases() if not name.startswith(GATHERS)}
    printed = capsys.readouterr().out
    assert "permute_vector_identity_large to unpermute_vector_random_large, 8 cases: Nsight" in printed
    assert printed.count("Recorded ") == len(gpu) - 1


def test_missing_needs_a_gpu(traffic):
    traffic()
    with pytest.raises(CourseError, match="--missing chooses what a GPU has to count"):
        verify.run(arguments("traffic", "--device", "recorded", "--missing"))
