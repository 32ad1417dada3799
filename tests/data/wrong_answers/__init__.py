"""Wrong answers that no misconception lists: EXERCISE__what_is_wrong; messages.txt has what each gets."""
