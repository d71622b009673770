"""Evaluation: matches on duplicate deals, intervals, reports."""

if not __name__.startswith("pigenv."):
    # The folder stands at the top of the project but is part of the package; imported twice it would be two modules.
    raise ImportError("import pigenv.evaluate instead of evaluate: the folder evaluate is installed under pigenv")
