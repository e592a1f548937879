"""The memories of a launch, and the hazards in them."""
