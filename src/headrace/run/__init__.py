"""The plan set going: settings, session, checkpoint, query, and what a restart may change."""
