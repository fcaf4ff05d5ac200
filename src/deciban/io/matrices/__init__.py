"""Files of matrices, HDF5 and MATLAB: nothing is believed that was not checked."""
