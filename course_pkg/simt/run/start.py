"""Start a launch. Importing this module makes launches callable; ``import course_pkg.simt`` does so."""

from course_pkg.simt.run.kernel import Launch


def start_launch(launch, arguments, **options):
    """Run a launch by :func:`~course_pkg.simt.run.launch.run_launch`, and return the data that its waves share."""
    from course_pkg.simt.run.launch import run_launch  # this imports Numba's types, which takes a second

    return run_launch(launch, arguments, **options)


Launch.run = start_launch
