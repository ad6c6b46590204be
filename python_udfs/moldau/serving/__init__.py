"""Pages that show what moldau knows, on the reader's own machine: they only read."""
