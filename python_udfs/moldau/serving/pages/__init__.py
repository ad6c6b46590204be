"""The pages: each says what it asks, and in which order it shows the answers."""
