"""Why things are decided as they are: the stored rows, gathered and put into words."""
