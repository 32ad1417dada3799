"""The interactive figures' mathematics: run in Node, compared with the package."""
