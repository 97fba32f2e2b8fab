"""The verbs of LanceDataset, in one class for each kind."""
