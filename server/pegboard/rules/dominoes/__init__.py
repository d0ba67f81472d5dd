"""The rules of Draw dominoes."""
