from engines import engine  # noqa: F401 (a fixture for all tests of search)
