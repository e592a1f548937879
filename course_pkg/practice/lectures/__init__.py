"""What learners write in the laboratory of each lecture: one module for each, named as the lecture is."""
