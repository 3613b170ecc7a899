// Owner of the unit tests' precompiled header; no test is in here.
