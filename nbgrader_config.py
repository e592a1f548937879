"""nbgrader's folders and our judge: run its commands in this folder, the root of the course."""

c = get_config()

c.CourseDirectory.course_id = "speed-of-memory"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.submitted_directory = "grading/submitted"
c.CourseDirectory.autograded_directory = "grading/autograded"
c.CourseDirectory.feedback_directory = "grading/feedback"
c.CourseDirectory.db_url = "sqlite:///grading/gradebook.db"
# the .py beside a source notebook holds the answers: it must never be copied into a release
c.CourseDirectory.ignore = ["*.py", "*.pyc", "__pycache__", ".ipynb_checkpoints", "*.orig"]
c.ExecutePreprocessor.timeout = 120
# validate starts a kernel, which would otherwise warn about TCP
c.ExecutePreprocessor.extra_arguments = ["--IPKernelApp.log_level=ERROR"]
c.Validator.width = 400  # it cuts longer lines, and a sentence of a test is one line

# autograde: the judge reads and marks, nothing of a submission runs in this process
c.Autograde.pre_convert_hook = "course_pkg.grading.preprocessor.set_links_aside"
c.Autograde.exporter_class = "course_pkg.grading.preprocessor.Submission"
c.Autograde.autograde_preprocessors = [
    "course_pkg.grading.preprocessor.Judge",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# feedback: pages that need no network; hidden tests keep the line that says what they test
c.GenerateFeedback.exporter_class = "course_pkg.grading.feedback_page.FeedbackPage"
c.GenerateFeedback.preprocessors = [
    "nbgrader.preprocessors.GetGrades",
    "nbgrader.preprocessors.ClearHiddenTests",
]
