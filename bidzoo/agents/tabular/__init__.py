"""Solvers of compiled small games; every one of them ends in a table that plays."""
