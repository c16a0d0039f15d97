//! What a writer counts and bounds: statistics of pages and chunks, histograms, indexes, bloom filters.
