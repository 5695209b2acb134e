"""From a delivery to a kept memory: record, observe, keep."""
