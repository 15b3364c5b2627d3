"""Double-dummy results: the solver, in processes, cached, in files that grow."""
