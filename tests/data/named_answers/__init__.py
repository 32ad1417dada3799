"""Misconceptions in other spellings: EXERCISE__how, whose docstring is the name that the check must say."""
