"""Pure kernels on checked arrays: numpy and scipy only, no state, no files, no logging."""
