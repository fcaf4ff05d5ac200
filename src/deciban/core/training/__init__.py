"""Training objectives, their optimizers, and checks that an optimum exists."""
