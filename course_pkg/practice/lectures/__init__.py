"""What learners write in the laboratory of each lecture: one module or folder for each, named as the lecture is."""
