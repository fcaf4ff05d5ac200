"""Files of matrices: HDF5 and NumPy. Nothing is believed that was not checked."""
