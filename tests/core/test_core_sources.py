"""Origins of several records, told together: every device, driver, day and command once."""

from course_pkg.bench import origins, records
from course_pkg.core.sources import Note, Source, together

H100, H200 = "NVIDIA H100 80GB HBM3", "NVIDIA H200"


def source(device, command="course bench cg", driver="580.1", tool=""):
    return Source(device, driver, "2026-11-22", tool, command)


def test_one_record_has_its_own_sentence():
    one = source(H200, tool="Nsight Compute 2025.3")
    assert (
        origins([one])
        == one
        == f"Recorded on {H200}, driver 580.1, 2026-11-22, with Nsight Compute 2025.3 by `course bench cg`."
    )


def test_records_of_two_devices_and_two_commands_share_a_sentence():
    four = [
        source(gpu, command) for command in ("course bench cg", "course bench qp") for gpu in (H100, H200)
    ]
    assert origins(four) == (
        f"Recorded on {H100} and {H200}, driver 580.1, 2026-11-22, by `course bench cg` and `course bench qp`."
    )
    assert origins(four + four) == origins(four)


def test_what_differs_is_told_apart():
    by = "by `course bench cg`."
    assert origins([source(H100, driver="570.0"), source(H200)]) == (
        f"Recorded on {H100}, driver 570.0, 2026-11-22 and {H200}, driver 580.1, 2026-11-22, {by}"
    )
    assert origins([source(H100, tool="A"), source(H200, tool="B")]) == (
        f"Recorded on {H100}, driver 580.1, 2026-11-22, with A {by} "
        f"Recorded on {H200}, driver 580.1, 2026-11-22, with B {by}"
    )
    told = origins([source(H100, "a"), source(H200, "a"), source(H200, "b")])
    assert told == f"{origins([source(H100, 'a'), source(H200, 'a')])} {source(H200, 'b')}"
    assert origins([]) == ""


def test_records_of_the_course_name_every_device_once():
    found = records("stencil")
    told = origins(record.origin for record in found)
    assert len(found) > 1 and all(told.count(record.device.name) == 1 for record in found)


def test_a_note_of_several_devices_says_each_part_once():
    notes = [Note("512³.", Note("Copy:", gpu), source(gpu), "Both.") for gpu in (H100, H200)]
    assert notes[0] == f"512³. Copy: {H100} {source(H100)} Both."
    assert together(notes) == f"512³. Copy: {H100} {origins(map(source, (H100, H200)))} Both. {H200}"
    assert together([source(H100), "", source(H100)]) == source(H100)
    assert together(["as it is. As it is.", "as it is."]) == "as it is. As it is. as it is.", (
        "parts are not read"
    )
