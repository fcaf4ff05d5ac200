"""The only place that coerces and checks what users pass: arrays, priors, weights, classes."""
