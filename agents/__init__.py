"""Players: uniform, hand-written, trained; the catalog finds them by name."""

if not __name__.startswith("pigenv."):
    # The folder stands at the top of the project but is part of the package; imported twice it would be two modules.
    raise ImportError("import pigenv.agents instead of agents: the folder agents is installed under pigenv")
