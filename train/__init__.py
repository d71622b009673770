"""Training: one algorithm a file, and the folder that a run leaves behind."""

if not __name__.startswith("pigenv."):
    # The folder stands at the top of the project but is part of the package; imported twice it would be two modules.
    raise ImportError("import pigenv.train instead of train: the folder train is installed under pigenv")
