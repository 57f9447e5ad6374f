"""Incidents, a file each; putting one here is all that it takes to add it (`bugzoo.incidents.model.Declared`)."""
