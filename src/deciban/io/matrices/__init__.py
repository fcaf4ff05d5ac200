"""Files of matrices: HDF5 and NumPy, with checks against damaged and hostile files."""
