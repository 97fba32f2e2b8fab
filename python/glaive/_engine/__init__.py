"""Arguments, options and values on their way between pylance's names and the engine."""
