"""What headrace costs: events per second against Spark's own operators, time per epoch, latency."""
