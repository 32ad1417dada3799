"""Right answers to the exercises, each written in another way than the solution: EXERCISE__how."""
