"""How late the rows of a topic come: read once, measured, drawn, and turned into a watermark."""
