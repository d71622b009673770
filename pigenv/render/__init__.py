"""Pictures of a scene."""
