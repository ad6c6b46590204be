"""The two engines that make the models of a run, a room each."""
