"""The `pegboard` command. `main` says what there is; every other module is one command."""
