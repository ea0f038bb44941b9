"""The declaration made Spark's: cut into layers, checked, explained, turned into frames."""
