"""What headrace promises, shown on many events: the stream's results are those of a batch, to the row."""
