"""Finding, loading and calling plugins.

`index` knows which are installed without importing any, `policy` which of them may
load, `loading` imports one safely, `calls` calls one hook implementation safely, and
`registry` puts these together.
"""
