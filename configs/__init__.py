"""Settings as YAML, by group."""

if not __name__.startswith("pigenv."):
    # The folder stands at the top of the project but is part of the package; imported twice it would be two modules.
    raise ImportError("import pigenv.configs instead of configs: the folder configs is installed under pigenv")
