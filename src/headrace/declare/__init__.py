"""What the user says: frozen values and the graph they form; pyspark is never imported here."""
