"""Wrong answers that no misconception lists: EXERCISE__what_is_wrong; CHAPTER.txt has the message of each."""
