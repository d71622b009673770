"""Each library's tests and recipe in a virtual environment of its own: `python -m tests.interop`."""
