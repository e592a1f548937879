"""The steps of lecture 6: vectors and a matrix in a new order, products by rows and slices, two precisions."""

from course_pkg.practice.lectures.permutations import orders, precisions, products

STEPS = (*orders.VECTORS, *products.ROWS, *orders.MATRICES, *products.LAYOUTS, *precisions.STEPS)
