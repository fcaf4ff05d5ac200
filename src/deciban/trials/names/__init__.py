"""Names of trials as integers: codes and fingerprints."""
