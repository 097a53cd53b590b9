"""Tables of categories and gaps as numbers."""
