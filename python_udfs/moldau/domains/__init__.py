"""The domains of moldau: each module here that has a `DOMAIN` is one, declared there alone."""
