"""Count what the hardware would count. A model of the compiler decides which of the source's operations remain."""
