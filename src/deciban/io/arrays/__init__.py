"""NumPy files, single and in archives: checked before anything is allocated, pickles never loaded."""
