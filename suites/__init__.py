"""The suites: requirements and the checks that claim them."""
